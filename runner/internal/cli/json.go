package cli

import (
	"encoding/json"
	"io"
)

// writeJSON prints a document for machines, indented as for people.
func writeJSON(w io.Writer, document any) error {
	encoder := json.NewEncoder(w)
	encoder.SetIndent("", "  ")
	encoder.SetEscapeHTML(false)
	return encoder.Encode(document)
}
