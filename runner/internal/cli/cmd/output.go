package cmd

import (
	"cmp"
	"encoding/json"
	"errors"
	"io"
	"strings"
	"sync/atomic"
	"syscall"

	"mara/runner/internal/machine/typeset"
)

// WriteJSON prints a document as indented JSON.
func WriteJSON(w io.Writer, document any) error { return writeJSON(w, document, "  ") }

// WriteJSONLine prints a document as JSON on one line.
func WriteJSONLine(w io.Writer, document any) error { return writeJSON(w, document, "") }

// writeJSON prints JSON in which characters that control a terminal are escapes.
func writeJSON(w io.Writer, document any, indent string) error {
	var text strings.Builder
	encoder := json.NewEncoder(&text)
	encoder.SetIndent("", indent)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(document); err != nil {
		return err
	}
	_, err := io.WriteString(w, typeset.Visible(text.String()))
	return err
}

// Show prints a result as JSON if --output asks for it, or else as text.
func (i Invocation) Show(d Deps, document any, text string) error {
	if i.Output == "json" {
		return WriteJSON(d.Stdout, document)
	}
	return d.Print(text)
}

// Print writes text to stdout.
func (d Deps) Print(text string) error {
	_, err := io.WriteString(d.Stdout, text)
	return err
}

// OrDash returns text, or "-" if it is empty.
func OrDash(text string) string { return cmp.Or(text, "-") }

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
