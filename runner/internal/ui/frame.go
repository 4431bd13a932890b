package ui

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"mara/runner/internal/event"
	"mara/runner/internal/typeset"
)

// frame draws the live view at one moment: a line for every project and a
// footer. It is a function of its fields alone.
type frame struct {
	summary   *event.Summary
	doing     activities
	durations map[string]time.Duration
	resources map[string]int
	paint     palette
	glyphs    glyphs
	now       time.Time
	width     int // in cells
	height    int // in lines
}

const (
	// timeWidth fits 12m05s.
	timeWidth = 6
	// footerLines are those below the projects.
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
func (f frame) line() *line { return newLine(f.width-1, f.glyphs) }

// nameWidth is the width of the column of names: what the longest needs, but
// not more than leaves room for the rest.
func (f frame) nameWidth() int {
	widest := 0
	for _, s := range f.summary.Steps {
		widest = max(widest, typeset.Cells(s.Name))
	}
	return min(widest, max(12, f.width*2/5))
}

// step draws the line of a project.
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

// state is what a step's line shows: a sign, a time and the rest.
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
		return f.glyphs.waiting, f.paint.dim, "", func(l *line) { l.add(f.waiting(s), f.paint.dim) }
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

// running says how far a step is and what it is doing.
func (f frame) running(s event.Step) func(*line) {
	doing := f.doing[s.Name]
	done := doing.total()
	count := ""
	if of := f.resources[s.Name]; of > 0 {
		count = fmt.Sprintf("%d/%d", done, max(done, of))
	} else if done > 0 {
		count = fmt.Sprintf("%d done", done)
	}
	return func(l *line) {
		if share, known := f.share(s, done); known {
			f.bar(l, f.barWidth(), share)
		}
		if count != "" {
			l.add(count+"  ", unpainted)
		}
		l.add(doing.text(f.width >= narrow), f.paint.dim)
	}
}

// share is how much of a step is done: counted in resources if their number is
// known, and else in time, which never says that all is done.
func (f frame) share(s event.Step, done int) (share float64, known bool) {
	const most = 0.95
	if of := f.resources[s.Name]; of > 0 {
		return float64(done) / float64(of), true
	}
	usual, known := f.durations[s.Name]
	if !known || usual <= 0 {
		return 0, false
	}
	return min(most, float64(f.now.Sub(s.Started))/float64(usual)), true
}

// barWidth is the length of a project's bar: none where text needs the room.
func (f frame) barWidth() int {
	switch {
	case f.width < narrow:
		return 0
	case f.width < 120:
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

// waiting says what a step that has not started waits for.
func (f frame) waiting(s event.Step) string {
	if f.summary.Stopping != "" {
		return "will not start"
	}
	var missing []string
	for _, name := range needs(s) {
		need, _ := f.summary.Step(name)
		if need != nil && need.Result == "" && !slices.Contains(missing, name) {
			missing = append(missing, name)
		}
	}
	if len(missing) == 0 {
		return "waits for its turn"
	}
	return "waits for " + strings.Join(missing, ", ")
}

// progress draws the line about the run as a whole.
func (f frame) progress() string {
	s := f.summary
	forecast := newForecast(s, f.durations, f.now)
	parts := []string{fmt.Sprintf("%d/%d", finished(s), len(s.Steps))}
	if s.Results.Failed > 0 {
		parts = append(parts, fmt.Sprintf("%d failed", s.Results.Failed))
	}
	parts = append(parts, seconds(f.now.Sub(s.Started)))
	if words := forecast.words(); words != "" {
		parts = append(parts, words)
	}
	if s.Simulated {
		parts = append(parts, mark)
	}
	text := strings.Join(parts, "  ")
	l := f.line()
	f.bar(l, min(40, l.left-typeset.Cells(text)-1), forecast.share)
	l.add(text, unpainted)
	return l.String()
}

// hint says what Ctrl-C does, and what is awaited once the run is stopping.
func (f frame) hint() string {
	s := f.summary
	waiting := s.Running()
	who := names(waiting)
	if len(waiting) > 3 || typeset.Cells(who) > f.width/3 {
		who = plural(len(waiting), "project", "projects")
	}
	l := f.line()
	switch {
	case s.Stopping == "":
		l.add("Ctrl-C: finish what runs, then stop", f.paint.dim)
	case len(waiting) == 0:
		l.add("stopping: "+s.Stopping, f.paint.yellow)
	case s.Stopping == event.ReasonInterrupted:
		l.add("stopping, waiting for "+who, f.paint.yellow)
		l.add("  Ctrl-C again: cancel", f.paint.dim)
	case s.Stopping == event.ReasonCancelled:
		l.add("cancelling "+who, f.paint.yellow)
		l.add("  Ctrl-C again: kill", f.paint.dim)
	default:
		l.add("stopping: "+s.Stopping+", waiting for "+who, f.paint.yellow)
	}
	return l.String()
}

// seconds renders a time that grows on the screen: whole seconds, so that it
// does not flicker.
func seconds(d time.Duration) string {
	d = max(0, d.Truncate(time.Second))
	if d < time.Minute {
		return fmt.Sprintf("%ds", int(d.Seconds()))
	}
	return event.FormatDuration(d)
}

// minutes renders whole minutes.
func minutes(d time.Duration) string {
	if d < time.Hour {
		return fmt.Sprintf("%dm", int(d.Minutes()))
	}
	return event.FormatDuration(d)
}
