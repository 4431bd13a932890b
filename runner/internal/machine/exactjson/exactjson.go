// Package exactjson decodes JSON that is written again, or computed with, and must keep its numbers.
package exactjson

import (
	"bytes"
	"encoding/json"
)

// Decode decodes the first JSON value of a text, and keeps numbers as they are written: float64 does not hold all large
// integers, and gojq does not accept all of Go's.
func Decode(content []byte, into any) error {
	decoder := json.NewDecoder(bytes.NewReader(content))
	decoder.UseNumber()
	return decoder.Decode(into)
}
