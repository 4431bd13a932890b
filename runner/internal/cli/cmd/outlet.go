package cmd

import (
	"errors"
	"io"
	"sync/atomic"
	"syscall"
)

// Outlet is a stream of results whose reader may go away, as head does when it
// has enough, or a terminal when it is closed. From then on it swallows what is
// written: nobody misses it, and work on an environment must not stop in the
// middle because of it.
type Outlet struct {
	w        io.Writer
	terminal bool
	gone     atomic.Bool
}

// NewOutlet is an Outlet to a stream that may be a terminal.
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

// HasReader says that somebody may still be reading. It is for commands that
// would otherwise print for ever.
func HasReader(w io.Writer) bool {
	o, ok := w.(*Outlet)
	return !ok || !o.gone.Load()
}

// Direct is the stream itself, for other programs to write to.
func Direct(w io.Writer) io.Writer {
	if o, ok := w.(*Outlet); ok {
		return o.w
	}
	return w
}
