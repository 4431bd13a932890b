package ui

import (
	"fmt"
	"strings"

	"mara/runner/internal/core/event"
	"mara/runner/internal/machine/typeset"
)

// progress draws the line about the run as a whole: its time, a bar, behind it
// what the bar is a part of, and the projects that have ended.
func (f frame) progress() string {
	const longest = 40
	share, whole := f.share()
	words := []string{whole}
	if projects := f.projects(); projects != whole {
		words = append(words, projects)
	}
	if n := f.summary.Results.Failed; n > 0 {
		words = append(words, fmt.Sprintf("%d failed", n))
	}
	text := strings.Join(words, "  ")
	l := f.line()
	l.add(fmt.Sprintf("%-*s ", timeWidth, seconds(f.now.Sub(f.summary.Started))), unpainted)
	f.bar(l, min(longest, l.left-typeset.Cells(text)-1), share)
	l.add(text, unpainted)
	return l.String()
}

// share returns how much of the run is done, and of what: of its time if the durations of
// all projects are known, else of the resources if their number is known, else of the
// projects.
func (f frame) share() (share float64, whole string) {
	if c, known := newForecast(f.summary, f.durations, f.now); known {
		return c.share, c.words()
	}
	if done, of, known := f.counted(); known {
		return float64(done) / float64(of), f.roomy(fmt.Sprintf("%d/%d", done, of), "resources")
	}
	ended, all := f.summary.Progress()
	return float64(ended) / float64(max(1, all)), f.projects()
}

// counted adds up the resources of all projects.
func (f frame) counted() (done, of int, known bool) {
	for _, s := range f.summary.Steps {
		if s.Result != "" {
			done, of = done+s.Changes.Total(), of+s.Changes.Total()
			continue
		}
		expected, known := f.resources[s.Name]
		if !known {
			return 0, 0, false
		}
		now := f.doing[s.Name].total()
		if f.doing[s.Name].hasEnded() {
			expected = now
		}
		done, of = done+now, of+max(now, expected)
	}
	return done, of, of > 0
}

func (f frame) projects() string {
	ended, all := f.summary.Progress()
	return f.roomy(fmt.Sprintf("%d/%d", ended, all), f.summary.Noun()+"s")
}

// roomy drops the noun of a count if there is little room.
func (f frame) roomy(number, what string) string {
	if f.width < narrow {
		return number
	}
	return number + " " + what
}

// hint says what Ctrl-C does, and what is awaited once the run is stopping.
func (f frame) hint() string {
	l := f.line()
	if f.summary.Simulated {
		l.add(mark, f.paint.yellow)
		l.space(2)
	}
	doing, next := f.stopping()
	if f.width < narrow && next != "" {
		doing = ""
	}
	l.add(doing, f.paint.yellow)
	if doing != "" {
		l.space(2)
	}
	l.add(next, f.paint.dim)
	return l.String()
}

// stopping says what a stopping run awaits, and what the next Ctrl-C does.
func (f frame) stopping() (doing, next string) {
	s := f.summary
	waiting := s.Running()
	who := names(waiting)
	if len(waiting) > 3 || typeset.Cells(who) > f.width/3 {
		who = typeset.Counted(len(waiting), f.summary.Noun())
	}
	switch {
	case s.Stopping == "" && f.width < narrow:
		return "", "Ctrl-C: finish, then stop"
	case s.Stopping == "":
		return "", "Ctrl-C: finish what runs, then stop"
	case len(waiting) == 0:
		return "stopping: " + s.Stopping, ""
	case s.Stopping == event.ReasonInterrupted:
		return "stopping, waiting for " + who, "Ctrl-C again: cancel"
	case s.Stopping == event.ReasonCancelled:
		return "cancelling " + who, "Ctrl-C again: kill"
	default:
		return "stopping: " + s.Stopping + ", waiting for " + who, ""
	}
}
