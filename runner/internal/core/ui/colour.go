package ui

import (
	"time"

	"mara/runner/internal/core/event"
)

// palette colours text, if colours are on, by the terminal's own theme.
type palette struct{ on bool }

func (p palette) paint(code, text string) string {
	if !p.on || text == "" {
		return text
	}
	return "\x1b[" + code + "m" + text + "\x1b[0m"
}

func (p palette) bold(text string) string   { return p.paint("1", text) }
func (p palette) dim(text string) string    { return p.paint("2", text) }
func (p palette) red(text string) string    { return p.paint("31", text) }
func (p palette) yellow(text string) string { return p.paint("33", text) }
func (p palette) cyan(text string) string   { return p.paint("36", text) }

// result paints the word for a result, or a text that stands for it.
func (p palette) result(r event.Result, text string) string {
	switch r {
	case event.Succeeded:
		return p.paint("32", text)
	case event.Failed:
		return p.red(text)
	case event.Skipped, event.Cancelled, event.Interrupted:
		return p.yellow(text)
	default:
		return text
	}
}

// severity paints what names a diagnostic.
func (p palette) severity(s event.Severity, text string) string {
	switch s {
	case event.Error:
		return p.red(text)
	case event.Warning:
		return p.yellow(text)
	default:
		return p.dim(text)
	}
}

// glyphs are the characters that the live view draws with.
type glyphs struct {
	spinner                             []string
	succeeded, failed, skipped, waiting string
	full, rest                          string // of a bar
	more                                string // for what is cut
}

func newGlyphs(ascii bool) glyphs {
	if ascii {
		return glyphs{
			spinner: []string{"|", "/", "-", `\`}, succeeded: "+", failed: "x", skipped: "-", waiting: ".",
			full: "#", rest: "-", more: "~",
		}
	}
	return glyphs{
		spinner: []string{"⠋", "⠙", "⠹", "⠸", "⠼", "⠴", "⠦", "⠧", "⠇", "⠏"}, succeeded: "✓", failed: "✗", skipped: "-",
		waiting: "·",
		full:    "━", rest: "─", more: "…",
	}
}

func (g glyphs) result(r event.Result) string {
	switch r {
	case event.Succeeded:
		return g.succeeded
	case event.Failed:
		return g.failed
	default:
		return g.skipped
	}
}

func (g glyphs) turning(now time.Time) string {
	return g.spinner[int(now.UnixMilli()/100)%len(g.spinner)]
}
