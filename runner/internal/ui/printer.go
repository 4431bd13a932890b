package ui

import "io"

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
