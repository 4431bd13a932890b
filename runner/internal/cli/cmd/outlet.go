package cmd

import (
	"errors"
	"io"
	"sync/atomic"
	"syscall"
)

// Outlet is an output stream that discards what is written after its reader has closed:
// head exits early, and terminals are closed. Work on an environment must not stop
// halfway because of that.
type Outlet struct {
	w        io.Writer
	terminal bool
	gone     atomic.Bool
}

// NewOutlet returns an Outlet that writes to w.
func NewOutlet(w io.Writer, terminal bool) *Outlet { return &Outlet{w: w, terminal: terminal} }

// Write implements io.Writer.
func (o *Outlet) Write(text []byte) (int, error) {
	if o.gone.Load() {
		return len(text), nil
	}
	n, err := o.w.Write(text)
	if readerIsGone(err) || o.terminal && errors.Is(err, syscall.EIO) {
		o.gone.Store(true)
		return len(text), nil
	}
	return n, err
}

// HasReader reports whether the stream may still have a reader. Commands that print
// without an end check it.
func HasReader(w io.Writer) bool {
	o, ok := w.(*Outlet)
	return !ok || !o.gone.Load()
}

// Direct returns the stream below an Outlet, to pass to other programs.
func Direct(w io.Writer) io.Writer {
	if o, ok := w.(*Outlet); ok {
		return o.w
	}
	return w
}
