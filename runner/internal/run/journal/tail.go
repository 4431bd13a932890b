package journal

import (
	"bytes"
	"errors"
	"fmt"
	"io"

	"mara/runner/internal/run/event"
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
	var pending []byte
	part := make([]byte, tailPart)
	for at := t.offset; ; {
		n, err := f.ReadAt(part, at)
		at += int64(n)
		pending = append(pending, part[:n]...)
		if problem := t.take(&pending, do); problem != nil {
			return problem
		}
		if len(pending) > mostLine {
			return fmt.Errorf("reading run %s: an event has more than %d MiB", t.run.ID, mostLine>>20)
		}
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return fmt.Errorf("reading run %s: %w", t.run.ID, err)
		}
	}
}

// take passes on the events of all complete lines, and removes them.
func (t *Tail) take(pending *[]byte, do func(event.Event) error) error {
	for {
		end := bytes.IndexByte(*pending, '\n') + 1
		if end == 0 {
			return nil
		}
		for e, err := range event.Decode(bytes.NewReader((*pending)[:end])) {
			if err != nil {
				return fmt.Errorf("reading run %s: %w", t.run.ID, err)
			}
			if err := do(e); err != nil {
				t.offset += int64(end)
				return err
			}
		}
		t.offset += int64(end)
		*pending = (*pending)[end:]
	}
}
