package cmd

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"io"
	"regexp"
	"strings"
	"sync/atomic"
	"syscall"
	"unicode/utf8"

	"mara/projects/model"
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

// Host names the provider of an environment in a table: "-" if it is not known, and nothing for projects of the user's own.
func Host(provider string) string {
	if provider == model.OwnProvider {
		return ""
	}
	return OrDash(provider)
}

// Outlet is an output stream that discards what is written after its reader has closed:
// head exits early, and terminals are closed. Work on an environment must not stop
// halfway because of that.
type Outlet struct {
	w        io.Writer
	terminal bool
	show     func(text string) string // nil for text as it is
	rest     []byte                   // of a character that is not complete; nil without show
	gone     atomic.Bool
}

// NewOutlet returns an Outlet that writes to w.
func NewOutlet(w io.Writer, terminal bool) *Outlet { return &Outlet{w: w, terminal: terminal} }

// Tame lets the text control no terminal, whoever has written it: what a repository says may have escape sequences. On
// a terminal the runner's own colours and links to files remain.
func (o *Outlet) Tame() {
	o.show = typeset.Visible
	if o.terminal {
		o.show = visibleButColours
	}
}

// Flush writes the bytes of an incomplete character, which are no text.
func (o *Outlet) Flush() {
	if len(o.rest) > 0 && !o.gone.Load() {
		_, _ = o.w.Write(o.rest)
	}
	o.rest = nil
}

// ours matches the sequences that the runner itself writes: colours, and links to files.
var ours = regexp.MustCompile(`\x1b\[(?:[0-2]|3[1-7]|9[0-7])m|\x1b\]8;;(?:file://[!-~]*)?\x1b\\`)

func visibleButColours(text string) string {
	var shown strings.Builder
	for {
		at := ours.FindStringIndex(text)
		if at == nil {
			shown.WriteString(typeset.Visible(text))
			return shown.String()
		}
		shown.WriteString(typeset.Visible(text[:at[0]]) + text[at[0]:at[1]])
		text = text[at[1]:]
	}
}

// Write implements io.Writer.
func (o *Outlet) Write(text []byte) (int, error) {
	if o.gone.Load() {
		return len(text), nil
	}
	written := text
	if o.show != nil {
		written = append(o.rest, text...)
		cut := beforeIncomplete(written)
		o.rest = bytes.Clone(written[cut:])
		written = []byte(o.show(string(written[:cut])))
	}
	_, err := o.w.Write(written)
	switch {
	case err == nil:
		return len(text), nil
	case readerIsGone(err) || o.terminal && errors.Is(err, syscall.EIO):
		o.gone.Store(true)
		return len(text), nil
	}
	return 0, err
}

// beforeIncomplete returns where the character begins that a text ends within; the length of the text if it is whole.
func beforeIncomplete(text []byte) int {
	for at := len(text) - 1; at >= 0 && at > len(text)-utf8.UTFMax; at-- {
		if utf8.RuneStart(text[at]) {
			if !utf8.FullRune(text[at:]) {
				return at
			}
			break
		}
	}
	return len(text)
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
		return o.Unwrap()
	}
	return w
}

// Unwrap returns the stream below the Outlet.
func (o *Outlet) Unwrap() io.Writer { return o.w }
