package cli

import (
	"errors"
	"io"
	"sync/atomic"
	"syscall"
)

// outlet is a stream of results whose reader may go away, as head does when it
// has enough, or a terminal when it is closed. From then on it swallows what is
// written: nobody misses it, and work on an environment must not stop in the
// middle because of it.
type outlet struct {
	w        io.Writer
	terminal bool
	gone     atomic.Bool
}

func newOutlet(w io.Writer, terminal bool) *outlet { return &outlet{w: w, terminal: terminal} }

// Write implements io.Writer.
func (o *outlet) Write(text []byte) (int, error) {
	if o.gone.Load() {
		return len(text), nil
	}
	n, err := o.w.Write(text)
	if errors.Is(err, syscall.EPIPE) || o.terminal && errors.Is(err, syscall.EIO) {
		o.gone.Store(true)
		return len(text), nil
	}
	return n, err
}

// hasReader says that somebody may still be reading. It is for commands that
// would otherwise print for ever.
func hasReader(w io.Writer) bool {
	o, ok := w.(*outlet)
	return !ok || !o.gone.Load()
}

// direct is the stream itself, for other programs to write to.
func direct(w io.Writer) io.Writer {
	if o, ok := w.(*outlet); ok {
		return o.w
	}
	return w
}
