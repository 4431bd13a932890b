package cmd

import (
	"fmt"
	"path/filepath"
	"time"

	"mara/projects/model/operation"
	"mara/runner/internal/machine/layout"
	"mara/runner/internal/run/event"
	"mara/runner/internal/run/journal"
	"mara/runner/internal/state/lock"
)

// PastRun is one entry of the history.
type PastRun struct {
	ID         string              `json:"id"`
	Operation  operation.Operation `json:"operation"`
	Provider   string              `json:"provider"`
	Stack      string              `json:"stack"`
	Simulated  bool                `json:"simulated"`
	Result     event.Result        `json:"result"`
	Started    time.Time           `json:"started"`
	DurationMS int64               `json:"duration_ms"`
	By         string              `json:"by,omitempty"`
}

// NewPastRun makes the history's entry of a run.
func NewPastRun(r journal.Run, summary *event.Summary) PastRun {
	past := PastRun{
		ID: r.ID, Operation: summary.Operation, Provider: summary.Provider, Stack: summary.Stack,
		Simulated: summary.Simulated, Result: summary.Outcome(), Started: summary.Started,
		DurationMS: summary.Duration().Milliseconds(),
	}
	if summary.Result == "" && isRunning(r, summary) {
		past.Result = Running
	}
	if meta, err := r.Meta(); err == nil {
		past.By = meta.User + "@" + meta.Host
	}
	return past
}

// Running is the result of a run that has not ended, and holds the lock of its environment.
const Running event.Result = "running"

// isRunning reports whether the run still holds the lock of its environment. Processes of
// other machines cannot be checked: their locks count as held.
func isRunning(r journal.Run, summary *event.Summary) bool {
	dir := layout.Runner(filepath.Dir(filepath.Dir(r.Dir)))
	state, owner, err := lock.Inspect(dir.Lock(summary.Provider, summary.Stack))
	return err == nil && owner.Run == r.ID && (state == lock.Held || state == lock.Foreign)
}

// Words summarizes a run: "up succeeded, 3m ago", or "-" for no run.
func (r *PastRun) Words(now time.Time) string {
	if r == nil {
		return "-"
	}
	return fmt.Sprintf("%s %s, %s", r.Operation, r.Result, Ago(now.Sub(r.Started)))
}

// NewestRuns reads the journal and returns the last run of each stack.
func NewestRuns(dir string) (map[string]PastRun, error) {
	runs, err := journal.Summaries(dir)
	newest := map[string]PastRun{}
	for run, summary := range runs {
		if _, known := newest[summary.Stack]; !known {
			newest[summary.Stack] = NewPastRun(run, summary)
		}
	}
	return newest, err
}
