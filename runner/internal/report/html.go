package report

import (
	_ "embed"
	"fmt"
	"html/template"
	"io"
	"time"

	"mara/runner/internal/event"
)

//go:embed report.html
var page string

// pageData is what the template sees.
type pageData struct {
	*event.Summary
	Title    string
	Duration string
	Words    string
	Rows     []pageRow
	Ticks    []tick
	Failures []event.Step
}

// pageRow is a project in the table and on the timeline.
type pageRow struct {
	event.Step
	Result  event.Result
	Changes string
	Time    string
	Bar     *bar
	Hooks   []bar
}

// bar is a piece of the timeline, in percent of the run.
type bar struct {
	Left, Width template.CSS
	Label       string
}

// tick is a mark on the time axis.
type tick struct {
	Left  template.CSS
	Label string
}

// writeHTML writes one self-contained page without scripts: it loads nothing
// and works from a disk, an artefact store or a mail.
func writeHTML(w io.Writer, s *event.Summary) error {
	t, err := template.New("report").Parse(page)
	if err != nil {
		return fmt.Errorf("parsing the report's template: %w", err)
	}
	return t.Execute(w, newPage(s))
}

func newPage(s *event.Summary) pageData {
	scale := newTimeline(s)
	data := pageData{
		Summary: s, Title: title(s), Duration: event.FormatDuration(s.Duration()),
		Words: s.Changes.Words(s.Operation), Ticks: scale.ticks(), Failures: failed(s),
	}
	for _, step := range s.Steps {
		data.Rows = append(data.Rows, scale.row(step))
	}
	return data
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
func (t timeline) row(step event.Step) pageRow {
	row := pageRow{Step: step, Result: result(step), Changes: changes(step), Time: took(step)}
	if !step.Ran() {
		return row
	}
	duration := step.Duration()
	if step.Finished.IsZero() {
		duration = t.whole - step.Started.Sub(t.began)
	}
	row.Bar = t.bar(step.Started, duration, fmt.Sprintf("%s %s after %s", step.Title, row.Result, row.Time))
	for _, h := range step.Hooks {
		row.Hooks = append(row.Hooks, *t.bar(h.Started, h.Duration(), fmt.Sprintf("hook %s %s", h.Name, h.Result)))
	}
	return row
}

func (t timeline) bar(start time.Time, duration time.Duration, label string) *bar {
	return &bar{Left: t.percent(start.Sub(t.began)), Width: t.percent(duration), Label: label}
}

func (t timeline) percent(d time.Duration) template.CSS {
	share := min(max(float64(d)/float64(t.whole), 0), 1)
	return template.CSS(fmt.Sprintf("%.2f%%", 100*share))
}

// ticks marks at most five full steps of a round length.
func (t timeline) ticks() []tick {
	const most = 5
	step := time.Second
	for _, factor := range []time.Duration{1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 21600, 86400} {
		if step = factor * time.Second; t.whole/step <= most {
			break
		}
	}
	var out []tick
	for at := time.Duration(0); at <= t.whole && len(out) <= most; at += step {
		out = append(out, tick{Left: t.percent(at), Label: axisLabel(at)})
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
