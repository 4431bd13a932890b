package report

import (
	"fmt"
	"html/template"
	"time"

	"mara/runner/internal/core/event"
)

// Bar is a piece of the timeline, in percent of the run.
type Bar struct {
	Left, Width template.CSS
	Label       string
	// Note is where what is written about the bar begins; or where it ends, if Place says that it
	// stands before or inside the bar.
	Note  template.CSS
	Place string
}

// Tick is a mark on the time axis.
type Tick struct {
	Left  template.CSS
	Label string
}

// timeline maps times to positions.
type timeline struct {
	began time.Time
	whole time.Duration
}

func newTimeline(s *event.Summary) timeline {
	end := s.Finished
	for _, step := range s.Steps { // of a run whose end is not recorded
		if step.Finished.After(end) {
			end = step.Finished
		}
	}
	return timeline{began: s.Started, whole: max(end.Sub(s.Started), time.Millisecond)}
}

// row prepares a step. A step whose end is not recorded reaches to the end.
func (t timeline) row(step event.Step) Row {
	row := Row{Step: step, Result: result(step), Changes: changes(step), Time: took(step)}
	if !step.Ran() {
		return row
	}
	duration := step.Duration()
	if step.Finished.IsZero() {
		duration = t.whole - step.Started.Sub(t.began)
		row.Time = event.FormatDuration(duration)
	}
	row.Bar = t.bar(step.Started, duration, fmt.Sprintf("%s %s after %s", step.Title, row.Result, row.Time))
	for _, h := range step.Hooks {
		row.Hooks = append(row.Hooks, *t.bar(h.Started, h.Duration(), fmt.Sprintf("hook %s %s", h.Name, h.Result)))
	}
	return row
}

func (t timeline) bar(start time.Time, duration time.Duration, label string) *Bar {
	const room, least = 0.25, 0.004 // for a note; of a bar, which is to be seen
	from, to := t.share(start.Sub(t.began)), t.share(start.Sub(t.began)+duration)
	b := &Bar{Left: percentage(from), Width: percentage(max(to-from, least)), Label: label, Note: percentage(to)}
	switch {
	case 1-to >= room:
	case from >= room:
		b.Place, b.Note = "before", percentage(from)
	default:
		b.Place = "inside"
	}
	return b
}

// share returns a duration as a fraction of the run.
func (t timeline) share(d time.Duration) float64 {
	return min(max(float64(d)/float64(t.whole), 0), 1)
}

func percentage(share float64) template.CSS {
	return template.CSS(fmt.Sprintf("%.2f%%", 100*share))
}

// ticks marks at most five full steps of a round length.
func (t timeline) ticks() []Tick {
	const most = 5
	step := time.Second
	for _, factor := range []time.Duration{1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 21600,
		86400} {
		if step = factor * time.Second; t.whole/step <= most {
			break
		}
	}
	var out []Tick
	for at := time.Duration(0); at <= t.whole && len(out) <= most; at += step {
		out = append(out, Tick{Left: percentage(t.share(at)), Label: axisLabel(at)})
	}
	return out
}

// axisLabel renders a full second, minute or hour.
func axisLabel(d time.Duration) string {
	switch {
	case d < time.Minute:
		return fmt.Sprintf("%ds", int(d.Seconds()))
	case d < time.Hour && d%time.Minute == 0:
		return fmt.Sprintf("%dm", int(d.Minutes()))
	default:
		return event.FormatDuration(d)
	}
}
