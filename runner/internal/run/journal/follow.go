package journal

import (
	"bytes"
	"fmt"
	"io"
	"iter"

	"mara/runner/internal/run/event"
)

// Follow reads the run's events as Events does, and then new events while the run
// continues: it looks for new ones whenever wait returns true, and ends when wait
// returns false or the run has finished.
func (r Run) Follow(wait func() bool) iter.Seq2[event.Event, error] {
	return func(yield func(event.Event, error) bool) {
		f, err := r.open()
		if err != nil {
			yield(event.Event{}, err)
			return
		}
		defer f.Close()
		var pending []byte // what has been read, from the first line that is not complete
		for more := true; more; {
			more = wait() // asked before reading: what was written until a refusal counts
			text, err := io.ReadAll(f)
			if err != nil {
				yield(event.Event{}, fmt.Errorf("reading run %s: %w", r.ID, err))
				return
			}
			pending = append(pending, text...)
			complete := bytes.LastIndexByte(pending, '\n') + 1
			for e, err := range event.Decode(bytes.NewReader(pending[:complete])) {
				if !yield(e, err) || err != nil || e.Type == event.RunFinished {
					return
				}
			}
			pending = pending[complete:]
		}
	}
}

// Lines renders events as the entries of their projects' logs.
type Lines struct{ summary event.Summary }

// Line returns the entry that an event makes in the log of its project; empty if
// it makes none.
func (l *Lines) Line(e event.Event) string {
	l.summary.Apply(e)
	return logged(&l.summary, e)
}
