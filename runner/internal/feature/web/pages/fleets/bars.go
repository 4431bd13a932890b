package fleets

import (
	"fmt"

	"mara/runner/internal/core/event"
	"mara/runner/internal/core/view"
	"mara/runner/internal/feature/web/page"
)

// mostBars is how many of the last runs of an environment are drawn.
const mostBars = 20

// bar is a run among the last ones of an environment: its height is the time that it took.
type bar struct {
	X, Y, Height int
	Class, Title string
}

// addBars draws the last runs of each environment that is shown.
func (d *fleetPage) addBars(runs []*view.Past) {
	of := map[string][]*view.Past{}
	for _, run := range runs {
		if len(of[run.Stack]) < mostBars {
			of[run.Stack] = append(of[run.Stack], run)
		}
	}
	for _, g := range d.Groups {
		for i := range g.Rows {
			g.Rows[i].Bars = barsOf(of[g.Rows[i].Name])
		}
	}
}

// barsOf draws runs, of which the newest comes first, from left to right.
func barsOf(runs []*view.Past) (bars []bar) {
	const step, least, most = 5, 4, 18
	longest := int64(1)
	for _, run := range runs {
		longest = max(longest, run.DurationMS)
	}
	for i := len(runs) - 1; i >= 0; i-- {
		run := runs[i]
		height := least + int(int64(most-least)*run.DurationMS/longest)
		bars = append(bars, bar{X: len(bars) * step, Y: most - height, Height: height, Class: page.Class(run.Word()),
			Title: fmt.Sprintf("%s %s, %s, %s", run.Operation, run.Word(), event.FormatDuration(run.Duration()), run.Started.UTC().Format("2006-01-02 15:04 UTC"))})
	}
	return bars
}
