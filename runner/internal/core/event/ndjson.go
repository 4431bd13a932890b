package event

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
)

// Marshal returns the event as one line of JSON, with its line end.
func Marshal(e Event) ([]byte, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(e); err != nil {
		return nil, fmt.Errorf("encoding event %s: %w", e.Type, err)
	}
	return b.Bytes(), nil
}

// ErrTruncated is reported for a last line that was cut off, as it is after a
// crash or a full disk. Every event before it is good.
var ErrTruncated = errors.New("last event is cut off")

// Decode yields the events of a stream, one per line; empty lines are passed
// over. It ends at the first error, which it yields with the number of the
// line.
func Decode(r io.Reader) iter.Seq2[Event, error] {
	return func(yield func(Event, error) bool) {
		br := bufio.NewReader(r)
		for n := 1; ; n++ {
			line, end := br.ReadBytes('\n')
			if end != nil && end != io.EOF {
				yield(Event{}, fmt.Errorf("line %d: %w", n, end))
				return
			}
			if len(bytes.TrimSpace(line)) > 0 {
				e, err := decode(line, end == io.EOF)
				if err != nil {
					yield(Event{}, fmt.Errorf("line %d: %w", n, err))
					return
				}
				if !yield(e, nil) {
					return
				}
			}
			if end == io.EOF {
				return
			}
		}
	}
}

// decode reads one line. The last one may lack its line end; if it is not
// complete JSON either, it was cut off.
func decode(line []byte, last bool) (Event, error) {
	var e Event
	if err := json.Unmarshal(line, &e); err != nil {
		if last {
			return e, ErrTruncated
		}
		return e, fmt.Errorf("not an event: %w", err)
	}
	if e.Type == "" {
		return e, errors.New(`not an event: no "type"`)
	}
	if e.Format > Format {
		return e, fmt.Errorf("event format %d is newer than %d, which this runner reads; use a newer runner", e.Format,
			Format)
	}
	return e, nil
}
