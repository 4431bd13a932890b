package journal

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"math"

	"mara/runner/internal/core/event"
)

const (
	// tailPart is how many bytes a tail reads at once.
	tailPart = 64 << 10
	// mostLine is how long the line of an event may be for a tail.
	mostLine = 4 << 20
)

// Tail reads the events of a run while the run writes them, from an offset on. It keeps no file open.
type Tail struct {
	run    Run
	offset int64 // of the first line that has not been read
}

// Tail returns a tail that begins at an offset, which an earlier tail has returned; 0 begins with the first event.
func (r Run) Tail(offset int64) *Tail { return &Tail{run: r, offset: offset} }

// Offset returns where the next line begins.
func (t *Tail) Offset() int64 { return t.offset }

// Next calls a function for each new event that is written completely. It keeps a line without its end for the next
// call. An error of the function ends it, and the next call begins after that event.
func (t *Tail) Next(do func(event.Event) error) error {
	f, err := t.run.open()
	if err != nil {
		return err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return err
	}
	if info.Size() < t.offset {
		return fmt.Errorf("reading run %s: %s is shorter than before", t.run.ID, eventsFile)
	}
	lines := bufio.NewScanner(io.NewSectionReader(f, t.offset, math.MaxInt64))
	lines.Buffer(make([]byte, tailPart), mostLine)
	lines.Split(completeLine)
	for lines.Scan() {
		for e, err := range event.Decode(bytes.NewReader(lines.Bytes())) {
			if err != nil {
				return fmt.Errorf("reading run %s: %w", t.run.ID, err)
			}
			if err := do(e); err != nil {
				t.offset += int64(len(lines.Bytes()))
				return err
			}
		}
		t.offset += int64(len(lines.Bytes()))
	}
	switch err := lines.Err(); {
	case errors.Is(err, bufio.ErrTooLong):
		return fmt.Errorf("reading run %s: an event has more than %d MiB", t.run.ID, mostLine>>20)
	case err != nil:
		return fmt.Errorf("reading run %s: %w", t.run.ID, err)
	}
	return nil
}

// completeLine splits off a line with its end. A last line without one is not a token.
func completeLine(data []byte, _ bool) (advance int, line []byte, err error) {
	if end := bytes.IndexByte(data, '\n') + 1; end > 0 {
		return end, data[:end], nil
	}
	return 0, nil, nil
}
