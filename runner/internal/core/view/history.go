package view

import (
	"cmp"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"

	"mara/config/lists"
	"mara/runner/internal/core/event"
	"mara/runner/internal/core/journal"
	"mara/runner/internal/core/report"
)

// Past is what a list shows of a run.
type Past struct {
	PastRun
	Fleet    bool          // its steps are environments
	Rollout  string        // the operation on many environments that it was a part of
	Resumes  string        // the run that it resumed
	Progress [2]int        // projects that have ended, of all
	Changes  event.Changes // of resources
	Causes   []Cause       // why projects failed
	Findings Findings      // of guards
	Costs    *Costs        // nil if it did not estimate any
	Waiting  []string      // environments of a rollout that are still to come
	Doing    []string      // projects, or environments, that are worked on
	Projects []string      // of a run that has not succeeded: those of its plan
}

// Cause is an error, with the projects that it made fail.
type Cause struct {
	Text     string
	Projects []string
}

// Findings counts the findings of guards.
type Findings struct {
	Denied   int `json:"denied"`
	Warnings int `json:"warnings"`
}

// Costs are the least that an environment costs, as a run has estimated them.
type Costs struct {
	Monthly  float64   `json:"monthly"`
	Currency string    `json:"currency"`
	Partial  bool      `json:"partial"` // something in it has no price
	At       time.Time `json:"at"`
	Run      string    `json:"run"`
}

// Ended reports whether nothing more comes from the run.
func (p *Past) Ended() bool { return p.Result != ResultRunning }

// Detailed is a run with its details, as far as its events have been read.
type Detailed struct {
	Run     journal.Run
	Summary event.Summary
	Details report.Details
	Version int64 // grows with the events
}

// open is an unfinished run with its tail.
type open struct {
	tail      *journal.Tail
	summary   event.Summary
	collector *report.Collector
	size      int64 // of the file of events when it was read
}

// History has the runs of a directory. It reads a finished run once, and of unfinished runs only what is new. It is
// safe for concurrent use.
type History struct {
	dir        string
	hidePeople bool // set before the first Refresh

	mu    sync.Mutex // holds what follows
	runs  []*Past    // the newest first
	known map[string]*Past
	open  map[string]*open
}

// NewHistory returns the history of a directory of runs. It is empty until Refresh.
func NewHistory(dir string) *History {
	return &History{dir: dir, known: map[string]*Past{}, open: map[string]*open{}}
}

// Refresh reads what is new. It returns the runs that have begun, progressed or ended since, and the error of listing
// them; a run that cannot be read is passed over.
func (h *History) Refresh() (changed []*Past, err error) {
	all, err := journal.List(h.dir)
	if err != nil {
		return nil, err
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	here := make(map[string]bool, len(all))
	var runs []*Past
	for _, run := range all {
		here[run.ID] = true
		past, isNew := h.read(run)
		if past == nil {
			continue
		}
		runs = append(runs, past)
		if isNew {
			changed = append(changed, past)
		}
	}
	isGone := func(id string) bool { return !here[id] }
	maps.DeleteFunc(h.known, func(id string, _ *Past) bool { return isGone(id) })
	maps.DeleteFunc(h.open, func(id string, _ *open) bool { return isGone(id) })
	h.runs = runs
	return changed, nil
}

// read returns a run, and whether it is not as before. A run that has ended, or was cut off, is read only once.
func (h *History) read(run journal.Run) (past *Past, isNew bool) {
	before := h.known[run.ID]
	if before != nil && before.Ended() && (!before.CutOff || h.isSilent(run)) {
		return before, false
	}
	if run.IsOver() {
		if summary, err := run.Summary(); err == nil {
			past = h.newPast(run, summary)
			h.known[run.ID] = past
			delete(h.open, run.ID)
			return past, true
		}
	}
	o := h.open[run.ID]
	if o == nil {
		o = &open{tail: run.Tail(0), collector: report.NewCollector()}
		h.open[run.ID] = o
	}
	offset := o.tail.Offset()
	if info, err := os.Lstat(filepath.Join(run.Dir, "events.ndjson")); err == nil {
		o.size = info.Size()
	}
	// What cannot be read is shown as far as it can be.
	_ = o.tail.Next(func(e event.Event) error {
		o.summary.Apply(e)
		o.collector.Emit(e)
		return nil
	})
	if o.summary.Started.IsZero() { // no event yet, or none that can be read
		return nil, false
	}
	past = h.newPast(run, &o.summary)
	if before != nil && offset == o.tail.Offset() && before.Result == past.Result && before.CutOff == past.CutOff {
		return before, false
	}
	h.known[run.ID] = past
	return past, true
}

// isSilent reports whether a run without an end has written nothing since it was read.
func (h *History) isSilent(run journal.Run) bool {
	o := h.open[run.ID]
	info, err := os.Lstat(filepath.Join(run.Dir, "events.ndjson"))
	return o != nil && err == nil && info.Size() == o.size && !run.IsOver()
}

// Runs returns the runs, the newest first.
func (h *History) Runs() []*Past {
	h.mu.Lock()
	defer h.mu.Unlock()
	return slices.Clone(h.runs)
}

// Find returns a run by its whole ID, or nil.
func (h *History) Find(id string) *Past {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.known[id]
}

// Read returns a run with its details: of an unfinished one what is known so far.
func (h *History) Read(id string) (*Detailed, error) {
	d, err := h.detailed(id)
	if err == nil && h.hidePeople {
		d.Summary.Warnings = withoutOwners(d.Summary.Warnings)
	}
	return d, err
}

// owner is how a warning names the process that holds a lock.
var owner = regexp.MustCompile(`[^\s,]+@[^\s,]+ \(process [0-9]+\)`)

// withoutOwners removes from warnings of the runner itself who had a lock.
func withoutOwners(warnings []event.Alert) []event.Alert {
	warnings = slices.Clone(warnings)
	for i := range warnings {
		warnings[i].Message = owner.ReplaceAllString(warnings[i].Message, "another user")
	}
	return warnings
}

func (h *History) detailed(id string) (*Detailed, error) {
	run := h.Run(id)
	h.mu.Lock()
	if o := h.open[id]; o != nil {
		defer h.mu.Unlock()
		return &Detailed{Run: run, Summary: cloneSummary(o.summary), Details: o.collector.Details().Clone(),
			Version: o.tail.Offset()}, nil
	}
	h.mu.Unlock()
	summary, details, err := report.Collect(run.Events())
	if err != nil && summary.Started.IsZero() {
		return nil, err
	}
	return &Detailed{Run: run, Summary: *summary, Details: details}, nil
}

// cloneSummary copies what Apply changes in place.
func cloneSummary(s event.Summary) event.Summary {
	s.Steps = slices.Clone(s.Steps)
	for i := range s.Steps {
		s.Steps[i].Hooks = slices.Clone(s.Steps[i].Hooks)
		s.Steps[i].Diagnostics = slices.Clone(s.Steps[i].Diagnostics)
	}
	return s
}

// newPast returns the list form of a run.
func (h *History) newPast(run journal.Run, s *event.Summary) *Past {
	p := &Past{PastRun: NewPastRun(run, s), Fleet: s.Fleet, Changes: s.Changes, Doing: s.Running()}
	if h.hidePeople {
		p.By, s.By = "", ""
	}
	if meta, err := run.Meta(); err == nil {
		p.Rollout, p.Resumes = meta.Rollout, meta.Resumes
	}
	p.Progress[0], p.Progress[1] = s.Progress()
	if p.Standing != "" {
		p.Projects = lists.Map(s.Steps, func(step event.Step) string { return step.Name })
	}
	for _, f := range s.Failures() {
		cause := Cause{Text: "failed"}
		for _, d := range f.Errors {
			if d.Severity == event.Error {
				cause.Text, _, _ = strings.Cut(d.Message, "\n")
				break
			}
		}
		cause.Projects = lists.Map(f.Steps, func(step event.Step) string { return step.Name })
		p.Causes = append(p.Causes, cause)
	}
	for _, f := range s.Findings() {
		if f.Denies() {
			p.Findings.Denied++
		} else if f.Exception == "" {
			p.Findings.Warnings++
		}
	}
	if c := s.Costs; c != nil && len(c.Items) > 0 {
		p.Costs = &Costs{Monthly: c.Monthly, Currency: c.Currency, At: cmp.Or(s.Finished, s.Started), Run: run.ID,
			Partial: len(c.Unpriced)+len(c.Gaps)+len(c.Unknown)+len(c.Elsewhere)+len(c.Outside) > 0}
	}
	if s.Fleet && !p.CutOff && p.Result == ResultRunning {
		for _, step := range s.Steps {
			if step.Started.IsZero() && step.Result == "" && !event.EndsWave(step.Name) {
				p.Waiting = append(p.Waiting, step.Name)
			}
		}
	}
	return p
}

// Writes reports whether the run may have changed the environment.
func (p *Past) Writes() bool { return p.Operation.Writes() }

// Summary returns what a run adds up to.
func (h *History) Summary(id string) (*event.Summary, error) {
	h.mu.Lock()
	if o := h.open[id]; o != nil {
		defer h.mu.Unlock()
		summary := cloneSummary(o.summary)
		return &summary, nil
	}
	h.mu.Unlock()
	return h.Run(id).Summary()
}

// Run returns a run on the disk, which may be gone.
func (h *History) Run(id string) journal.Run {
	return journal.Run{ID: id, Dir: filepath.Join(h.dir, id)}
}
