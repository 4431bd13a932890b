package ui

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"mara/runner/internal/core/event"
	"mara/runner/internal/machine/typeset"
)

// frame draws the live view at one moment: a line for every project and a
// footer (footer.go). It is a function of its fields alone.
type frame struct {
	summary   *event.Summary
	doing     activities
	durations map[string]time.Duration
	resources map[string]int
	ready     func(project string) bool // nil for none
	paint     palette
	glyphs    glyphs
	now       time.Time
	width     int // in cells
	height    int // in lines
	digits    int // of the numbers of resources
}

const (
	// timeWidth fits 12m05s.
	timeWidth = 6
	// widest is the maximal width of a frame. Its lines are easy to read, and do not wrap
	// when a wide terminal is split: a narrower terminal wraps longer lines, and lines that
	// scroll into its history cannot be repainted.
	widest = 100
	// footerLines is the number of lines below the projects (footer.go).
	footerLines = 2
)

// render returns the lines, none of them wider than the terminal and together
// lower than it, so that the cursor can always go back to the first.
func (f frame) render() []string {
	shown, hidden := pick(f.summary, f.height-footerLines-1)
	lines := make([]string, 0, len(shown)+footerLines+1)
	nameWidth := f.nameWidth()
	for _, i := range shown {
		lines = append(lines, f.step(f.summary.Steps[i], nameWidth))
	}
	if text := hidden.String(); text != "" {
		l := f.line()
		l.add(f.glyphs.more+" "+text, f.paint.dim)
		lines = append(lines, l.String())
	}
	return append(lines, f.progress(), f.hint())
}

// line begins a line. The last column stays free: a terminal may wrap after it.
func (f frame) line() *line { return &line{left: f.width - 1, more: f.glyphs.more} }

// nameWidth returns the width of the column of names: of the longest name, limited so that
// there is room for the rest.
func (f frame) nameWidth() int {
	widest := 0
	for _, s := range f.summary.Steps {
		widest = max(widest, typeset.Cells(s.Name))
	}
	return min(widest, max(12, f.width*2/5))
}

func (f frame) step(s event.Step, nameWidth int) string {
	sign, paint, took, detail := f.state(s)
	l := f.line()
	l.add(sign+" ", paint)
	name := typeset.CutMiddle(s.Name, nameWidth, f.glyphs.more)
	l.add(name, f.namePaint(s))
	l.space(nameWidth - typeset.Cells(name) + 1)
	if took != "" || f.width >= narrow {
		l.add(fmt.Sprintf("%*s  ", timeWidth, took), f.paint.dim)
	}
	detail(l)
	return l.String()
}

func (f frame) namePaint(s event.Step) func(string) string {
	switch {
	case s.Result == event.Failed:
		return f.paint.red
	case s.Result == "" && !s.Started.IsZero():
		return f.paint.bold
	case s.Result == "":
		return f.paint.dim
	default:
		return unpainted
	}
}

// state returns the parts of a step's line: a sign, a time and the rest.
func (f frame) state(s event.Step) (sign string, paint func(string) string, took string, detail func(*line)) {
	switch {
	case s.Result != "":
		paint = func(text string) string { return f.paint.result(s.Result, text) }
		if s.Ran() {
			took = event.FormatDuration(s.Duration())
		}
		return f.glyphs.result(s.Result), paint, took, f.ended(s)
	case !s.Started.IsZero():
		return f.glyphs.turning(f.now), f.paint.cyan, seconds(f.now.Sub(s.Started)), f.running(s)
	default:
		return f.glyphs.waiting, f.paint.dim, "", func(l *line) { l.add(f.waiting(s, l.left), f.paint.dim) }
	}
}

// ended says how a step ended; in words, because not everybody sees colours.
func (f frame) ended(s event.Step) func(*line) {
	text, paint := s.Changes.String(), f.paint.dim
	switch s.Result {
	case event.Succeeded:
		if s.Changes.Any() {
			paint = unpainted
		}
	case event.Failed:
		text, paint = "failed", f.paint.red
		if errs := s.Errors(); len(errs) > 0 {
			text += ": " + oneLine(event.Diagnostic{Message: errs[0].Message})
		}
	default:
		text = string(s.Result)
		if s.Reason != "" {
			text += ", " + s.Reason
		}
	}
	return func(l *line) { l.add(text, paint) }
}

// running shows the progress of a step and its current action. It has a bar only if the
// number of its resources is known.
func (f frame) running(s event.Step) func(*line) {
	doing := f.doing[s.Name]
	done, of := doing.total(), f.resources[s.Name]
	if doing.hasEnded() { // whatever it was the last time, now it is all of it
		of = min(done, of)
	}
	return func(l *line) {
		switch {
		case of > 0:
			of = max(done, of)
			f.bar(l, f.barWidth(), float64(done)/float64(of))
			l.add(fmt.Sprintf("%*d/%-*d  ", f.digits, done, f.digits, of), unpainted)
		case done > 0:
			l.add(fmt.Sprintf("%d done  ", done), unpainted)
		}
		l.add(doing.text(f.width >= narrow), f.paint.dim)
	}
}

// digits returns the number of digits of the largest number.
func digits(numbers map[string]int) int {
	return len(strconv.Itoa(slices.Max(append(slices.Collect(maps.Values(numbers)), 0))))
}

// barWidth returns the length of a project's bar, which is zero if text needs the room.
func (f frame) barWidth() int {
	switch {
	case f.width < narrow:
		return 0
	case f.width < widest:
		return 10
	default:
		return 20
	}
}

// bar draws a share as a bar, followed by a space.
func (f frame) bar(l *line, width int, share float64) {
	if width <= 0 {
		return
	}
	full := int(min(max(share, 0), 1) * float64(width))
	l.add(strings.Repeat(f.glyphs.full, full), f.paint.cyan)
	l.add(strings.Repeat(f.glyphs.rest, width-full), f.paint.dim)
	l.space(1)
}

// waiting says what a step that has not started waits for, in the room there is.
func (f frame) waiting(s event.Step, room int) string {
	if f.summary.Stopping != "" {
		return "will not start"
	}
	var missing []string
	for _, name := range s.All() {
		need, _ := f.summary.Step(name)
		if need != nil && need.Result == "" {
			missing = append(missing, name)
		}
	}
	if len(missing) == 0 {
		missing = []string{"its turn"}
	}
	text := "waits for "
	if f.ready != nil && f.ready(s.Name) {
		text = "ready, waits for "
	}
	return text + fitting(missing, room-len(text))
}

// fitting lists as many names as fit, at least the first, and counts the others.
func fitting(names []string, room int) string {
	for n := len(names); ; n-- {
		if text := typeset.Few(names, n); n == 1 || typeset.Cells(text) <= room {
			return text
		}
	}
}

// seconds renders a growing time in whole seconds, so that it does not flicker.
func seconds(d time.Duration) string {
	d = max(0, d.Truncate(time.Second))
	if d < time.Minute {
		return fmt.Sprintf("%ds", int(d.Seconds()))
	}
	return event.FormatDuration(d)
}

func minutes(d time.Duration) string {
	if d < time.Hour {
		return fmt.Sprintf("%dm", int(d.Minutes()))
	}
	return event.FormatDuration(d)
}

// line is one line of the live view. It never grows beyond its width in cells
// of the terminal, whatever is added: a line that wraps would put every line
// below it in the wrong place.
type line struct {
	text strings.Builder
	left int
	more string
}

// add appends a text, cut to what is left; paint may colour it.
func (l *line) add(text string, paint func(string) string) {
	if l.left <= 0 {
		return
	}
	n := typeset.Cells(text)
	if n > l.left {
		text, n = typeset.Cut(text, l.left, l.more), l.left // nothing comes after a cut
	}
	l.left -= n
	l.text.WriteString(paint(text))
}

func (l *line) space(n int) { l.add(strings.Repeat(" ", max(0, n)), unpainted) }

// String returns the line without trailing spaces.
func (l *line) String() string { return strings.TrimRight(l.text.String(), " ") }

func unpainted(text string) string { return text }
