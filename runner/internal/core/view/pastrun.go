package view

import (
	"fmt"
	"os"
	"path/filepath"
	"time"

	"mara/projects/model/operation"
	"mara/runner/internal/core/event"
	"mara/runner/internal/core/journal"
	"mara/runner/internal/core/lock"
	"mara/runner/internal/machine/layout"
	"mara/runner/internal/machine/typeset"
)

// PastRun is the JSON form of a run in lists.
type PastRun struct {
	ID         string              `json:"id"`
	Operation  operation.Operation `json:"operation"`
	Provider   string              `json:"provider"`
	Stack      string              `json:"stack"`
	Simulated  bool                `json:"simulated"`
	Result     event.Result        `json:"result"`
	Started    time.Time           `json:"started"`
	DurationMS int64               `json:"duration_ms"`
	// CutOff means that it did not come to its end, and its process is gone.
	CutOff bool `json:"cut_off,omitempty"`
	// Standing says what it has done, has cut off and has not begun, unless it has succeeded or goes on.
	Standing string `json:"standing,omitempty"`
	event.Origin
}

// NewPastRun returns the list form of a run. Its result is running while the process that holds the environment's
// lock is at it, here or on another machine.
func NewPastRun(r journal.Run, summary *event.Summary) PastRun {
	past := PastRun{
		ID: r.ID, Operation: summary.Operation, Provider: summary.Provider, Stack: summary.Stack,
		Simulated: summary.Simulated, Result: summary.Outcome(), Started: summary.Started,
		DurationMS: summary.Duration().Milliseconds(),
	}
	meta, err := r.Meta()
	if summary.Result == "" && isRunning(r, summary, meta) {
		past.Result = ResultRunning
	}
	past.CutOff = summary.Result == "" && past.Result != ResultRunning
	if past.CutOff && past.DurationMS == 0 { // it ended when it last wrote something
		if info, err := os.Stat(filepath.Join(r.Dir, "events.ndjson")); err == nil {
			past.DurationMS = max(0, info.ModTime().Sub(summary.Started).Milliseconds())
		}
	}
	if past.Result != ResultRunning && past.Result != event.Succeeded && len(summary.Steps) > 0 {
		past.Standing = summary.Standing().String()
	}
	if err == nil {
		past.Origin = meta.Origin()
	}
	return past
}

// ResultRunning is the result of a run that has not ended yet.
const ResultRunning event.Result = "running"

// isRunning reports whether a run without an end is still at work. A run on an environment holds its lock; an
// operation on many holds none of its own, and its process counts.
func isRunning(r journal.Run, summary *event.Summary, meta journal.Meta) bool {
	if summary.Fleet {
		host, _ := os.Hostname()
		return meta.PID != 0 && meta.Host == host && lock.IsAliveSince(meta.PID, r.Began())
	}
	dir := layout.Runner(filepath.Dir(filepath.Dir(r.Dir)))
	state, owner, err := lock.Inspect(dir.Lock(summary.Provider, summary.Stack))
	return err == nil && owner.Run == r.ID && (state == lock.Held || state == lock.Foreign)
}

// Words describes the run in the cell of a table.
func (r *PastRun) Words(now time.Time) string {
	if r == nil {
		return "-"
	}
	return fmt.Sprintf("%s %s, %s", r.Operation, r.Word(), typeset.Ago(now.Sub(r.Started)))
}

// Word returns the result of the run in a word or two.
func (r *PastRun) Word() string {
	if r.CutOff {
		return "cut off"
	}
	return string(r.Result)
}

// Duration returns how long the run has taken.
func (r *PastRun) Duration() time.Duration { return time.Duration(r.DurationMS) * time.Millisecond }

// NewestRuns returns the last run of each environment of a directory, by stack. It skips
// unreadable runs.
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
