package cmd

import (
	"fmt"
	"time"

	"mara/providers/operation"
	"mara/runner/internal/event"
	"mara/runner/internal/journal"
)

// PastRun is one line of the history.
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

// NewPastRun reads what is told of a run.
func NewPastRun(r journal.Run, summary *event.Summary) PastRun {
	past := PastRun{
		ID: r.ID, Operation: summary.Operation, Provider: summary.Provider, Stack: summary.Stack,
		Simulated: summary.Simulated, Result: summary.Outcome(), Started: summary.Started,
		DurationMS: summary.Duration().Milliseconds(),
	}
	if meta, err := r.Meta(); err == nil {
		past.By = meta.User + "@" + meta.Host
	}
	return past
}

// Words say in short how the last run went; a dash stands for none.
func (r *PastRun) Words(now time.Time) string {
	if r == nil {
		return "-"
	}
	return fmt.Sprintf("%s %s, %s", r.Operation, r.Result, Ago(now.Sub(r.Started)))
}

// NewestRuns are the last runs from here, by stack.
func NewestRuns(folder string) (map[string]PastRun, error) {
	runs, err := journal.Summaries(folder)
	newest := map[string]PastRun{}
	for run, summary := range runs {
		if _, known := newest[summary.Stack]; !known {
			newest[summary.Stack] = NewPastRun(run, summary)
		}
	}
	return newest, err
}
