package page

import (
	"strings"
	"time"

	"mara/runner/internal/core/event"
	"mara/runner/internal/core/view"
)

// FilterRuns returns the runs that the query asks for.
func FilterRuns(r *Visit, all []*view.Past) (chosen []*view.Past) {
	since, _ := time.ParseDuration(r.Query.Get("since")) // the page says what is wrong with it
	for _, run := range all {
		is := func(name, value string) bool { return r.Query.Get(name) == "" || r.Query.Get(name) == value }
		if is("e", run.Stack) && is("op", string(run.Operation)) && is("result", string(run.Result)) &&
			strings.Contains(run.By, r.Query.Get("by")) && (since <= 0 || r.Now.Sub(run.Started) <= since) {
			chosen = append(chosen, run)
		}
	}
	return chosen
}

// ResultOf returns how a step of a run ended, or how far it is.
func ResultOf(step event.Step, run *view.Past) string {
	switch {
	case step.Result != "":
		return string(step.Result)
	case !run.Ended() && step.Started.IsZero():
		return "waiting"
	case !run.Ended():
		return "running"
	case step.Started.IsZero():
		return "never ran"
	}
	return "cut off"
}
