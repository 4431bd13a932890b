package ui

import (
	"time"

	"mara/runner/internal/run/event"
)

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
