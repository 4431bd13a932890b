package ui

import (
	"io"

	"mara/runner/internal/core/event"
)

// JSON writes every event as one line, as it comes, and nothing else.
type JSON struct {
	out printer
}

// NewJSON returns a renderer that writes to w.
func NewJSON(w io.Writer) *JSON { return &JSON{out: printer{w: w}} }

// Emit writes one event.
func (j *JSON) Emit(e event.Event) {
	line, err := event.Marshal(e)
	if err != nil {
		j.out.fail(err)
		return
	}
	j.out.write(line)
}

// Close returns the first error of writing; there is nothing to close.
func (j *JSON) Close() error { return j.out.err }

// printer writes until the first error. A reader that has gone away, as head
// does, must not stop a run; the caller asks for the error afterwards.
type printer struct {
	w   io.Writer
	err error
}

func (p *printer) write(text []byte) {
	if p.err == nil {
		_, err := p.w.Write(text)
		p.fail(err)
	}
}

func (p *printer) fail(err error) {
	if p.err == nil {
		p.err = err
	}
}
