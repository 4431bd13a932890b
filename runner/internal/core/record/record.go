// Package record keeps what ran in an environment, and compares it with the files of today.
package record

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"time"

	"mara/projects/model/operation"
	"mara/runner/internal/core/event"
	"mara/runner/internal/core/fingerprint"
	"mara/runner/internal/core/gitsource"
	"mara/runner/internal/core/inputs"
)

// format is the version of the record. A record of another version counts as none.
const format = 2

// Record is the record of what ran in an environment: for each project the program, the values and the commit, and
// how the run ended. It never says what is on the disk Today. It is stored below .runner, and in the backend if
// that is shared.
type Record struct {
	Format int    `json:"format"`
	Run    string `json:"run,omitempty"` // the last run that has ended
	// Begun is the run that has begun to change the environment and has not ended; "" for none.
	Begun string `json:"begun,omitempty"`
	// Touches are the projects that this run may change.
	Touches   []string           `json:"touches,omitempty"`
	Destroyed bool               `json:"destroyed,omitempty"` // nothing of it is left
	Runs      map[string]Run     `json:"runs,omitempty"`      // that projects name, by id
	Projects  map[string]Project `json:"projects,omitempty"`
	Accounts  Accounts           `json:"accounts,omitempty"`
}

// Accounts are the IDs of the accounts that projects were first deployed to, by project and cloud.
type Accounts map[string]map[string]string

// Run is what the projects of a run have in common.
type Run struct {
	Operation operation.Operation `json:"operation"`
	Finished  time.Time           `json:"finished,omitzero"`
	Commit    string              `json:"commit,omitempty"`
	Runner    string              `json:"runner,omitempty"` // version
	Host      string              `json:"host,omitempty"`
	Root      string              `json:"root,omitempty"`
	// Repository is where the root is, for all clones; "" if it is in no repository with a remote.
	Repository string                  `json:"repository,omitempty"`
	Values     fingerprint.Fingerprint `json:"values,omitempty"` // of the configuration, by key
}

// Project is what last ran of a project.
type Project struct {
	Run     string                  `json:"run"`
	Result  event.Result            `json:"result"`
	Program fingerprint.Fingerprint `json:"program,omitempty"` // empty if it cannot be compared
	Limited bool                    `json:"limited,omitempty"` // only some of its resources were touched
}

// isKnown reports whether anything is recorded.
func (r Record) isKnown() bool {
	return r.Format == format && (r.Destroyed || r.Begun != "" || len(r.Projects) > 0)
}

// begin records that a run is about to change projects of the environment.
func (r *Record) begin(id string, run Run, touches []string) {
	if r.Format != format {
		*r = Record{Format: format}
	}
	if r.Runs == nil {
		r.Runs = map[string]Run{}
	}
	if r.Projects == nil {
		r.Projects = map[string]Project{}
	}
	r.interrupt()
	r.Begun, r.Runs[id], r.Touches = id, run, touches
}

// interrupt records that the run that has begun was killed: what became of the projects that it may have changed is
// not known.
func (r *Record) interrupt() {
	for _, name := range r.Touches {
		if _, known := r.Projects[name]; r.Begun != "" && (known || r.Runs[r.Begun].Operation.Deploys()) {
			r.Projects[name] = Project{Run: r.Begun, Result: event.Interrupted}
		}
	}
}

// Ending is how a run ended.
type Ending struct {
	Finished time.Time
	Steps    []event.Step
	// Done are the projects that the resumed run had done, and that are current.
	Done    []string
	Program func(project string) fingerprint.Fingerprint
	Whole   bool // the run was about all projects
	Limited bool // the run was about some resources of a project
}

// end records how the projects of the run that has begun ended. Projects that it did not touch keep their entries. A
// destroy of the whole environment also removes projects that the record does not know.
func (r *Record) end(e Ending) {
	id := r.Begun
	run := r.Runs[id]
	run.Finished = e.Finished
	r.Runs[id], r.Begun, r.Run, r.Touches = run, "", id, nil
	known := len(r.Projects) > 0
	for _, name := range e.Done {
		if run.Operation.Destroys() {
			r.drop(name)
		} else {
			r.Projects[name] = Project{Run: id, Result: event.Succeeded, Program: e.Program(name)}
		}
	}
	for _, step := range e.Steps {
		switch destroys := run.Operation.Destroys(); {
		case step.Started.IsZero():
		case destroys && (step.Result == event.Succeeded || step.Result == event.Skipped):
			r.drop(step.Name)
		case step.Result == event.Skipped && step.Unchanged == "":
		case step.Result == event.Skipped:
			r.Projects[step.Name] = Project{Run: id, Result: event.Succeeded, Program: e.Program(step.Name)}
		default:
			r.Projects[step.Name] = Project{Run: id, Result: step.Result, Program: e.Program(step.Name), Limited: e.Limited}
		}
	}
	r.Destroyed = len(r.Projects) == 0 && run.Operation.Destroys() && (e.Whole || known)
	r.prune()
}

// drop forgets a project that was destroyed.
func (r *Record) drop(name string) {
	delete(r.Projects, name)
	delete(r.Accounts, name)
}

// prune removes the runs that no project names.
func (r *Record) prune() {
	used := map[string]bool{r.Run: true, r.Begun: true}
	for _, project := range r.Projects {
		used[project.Run] = true
	}
	maps.DeleteFunc(r.Runs, func(id string, _ Run) bool { return !used[id] })
}

// present is an environment as the files of today describe it.
type present struct {
	projects   []string // of the plan
	values     fingerprint.Fingerprint
	programs   map[string]fingerprint.Fingerprint // by project; none for a program that cannot be compared
	mayRead    func(project, key string) bool
	outputs    func() []change // that have changed since projects read them, as far as this directory knows
	commit     func() string
	host, root string
	runner     string
}

// change is something that has changed, with the project that it is about; "" for none.
type change struct{ project, text string }

// The states of an environment.
const (
	NeverRolledOut = "never rolled out"
	IsDestroyed    = "destroyed"
	IsRunning      = "running"
	IsUnfinished   = "unfinished"
	HasFailed      = "failed"
	IsPartly       = "partly"
	HasChanged     = "changed"
	IsUpToDate     = "up to date"
	IsUnknown      = "unknown" // the record cannot be read, or the configuration is not valid
)

// Verdict is the result of comparing what ran in an environment with the files of today.
type Verdict struct {
	State   string
	Run     string    // the last run that has ended
	Commit  string    // of that run
	Ended   time.Time // when that run ended
	Begun   string    // the run that has not ended, with its operation
	Failed  []string  // projects that have failed, with run and operation
	Stopped []string  // projects that a run has left before their end, with run and operation
	Missing []string  // projects that never ran
	Changes []string  // values and programs that have changed since
	// Of has the changes of each project: the keys that it may read, and what of its program. What is about no project is
	// not in it.
	Of map[string][]string
}

// Reasons returns why the environment is not up to date; none if it is.
func (v Verdict) Reasons() []string {
	var reasons []string
	switch {
	case v.State == NeverRolledOut:
		return []string{"has never been rolled out"}
	case v.State == IsDestroyed:
		return []string{"has been destroyed"}
	case v.Begun != "":
		reasons = append(reasons, v.Begun+" has not ended")
	}
	if len(v.Failed) > 0 {
		reasons = append(reasons, "did not succeed: "+strings.Join(v.Failed, ", "))
	}
	if len(v.Stopped) > 0 {
		reasons = append(reasons, "did not come to their end: "+strings.Join(v.Stopped, ", "))
	}
	if len(v.Missing) > 0 {
		reasons = append(reasons, "never rolled out: "+strings.Join(v.Missing, ", "))
	}
	return append(reasons, v.Changes...)
}

// compare compares what ran with the files of today.
func (r Record) compare(now present) Verdict {
	v := Verdict{State: IsUpToDate, Run: r.Run, Commit: r.Runs[r.Run].Commit, Ended: r.Runs[r.Run].Finished}
	switch {
	case !r.isKnown():
		return Verdict{State: NeverRolledOut}
	case r.Destroyed && r.Begun == "":
		v.State = IsDestroyed
		return v
	}
	isHere := true
	for _, name := range now.projects {
		project, ok := r.Projects[name]
		run := r.Runs[project.Run]
		switch {
		case !ok:
			v.Missing = append(v.Missing, name)
			continue
		case project.Result == event.Cancelled, project.Result == event.Interrupted:
			v.Stopped = append(v.Stopped, fmt.Sprintf("%s (%s, %s)", name, run.Operation, project.Run))
			continue
		case project.Result != event.Succeeded:
			v.Failed = append(v.Failed, fmt.Sprintf("%s (%s, %s)", name, run.Operation, project.Run))
			continue
		}
		if project.Limited {
			v.add(change{name, "the resources of " + name + " that --target left out"})
		}
		isHere = isHere && run.Host == now.host && run.Root == now.root
		for _, key := range run.Values.Changes(now.values) {
			if now.mayRead(name, key) {
				v.add(change{name, key})
			}
		}
	}
	slices.Sort(v.Changes)
	v.Changes = slices.Compact(v.Changes)
	v.add(r.changedPrograms(now)...)
	if isHere && now.outputs != nil {
		v.add(now.outputs()...)
	}
	v.State = v.state()
	if r.Begun != "" {
		v.State, v.Begun = IsUnfinished, fmt.Sprintf("%s in run %s", r.Runs[r.Begun].Operation, r.Begun)
		if host := r.Runs[r.Begun].Host; host != now.host {
			v.Begun += " on " + host
		}
	}
	return v
}

// add adds changes to the list of all, and to those of their projects.
func (v *Verdict) add(changes ...change) {
	for _, c := range changes {
		v.Changes = append(v.Changes, c.text)
		if c.project == "" {
			continue
		}
		if v.Of == nil {
			v.Of = map[string][]string{}
		}
		v.Of[c.project] = append(v.Of[c.project], c.text)
	}
}

func (v Verdict) state() string {
	switch {
	case len(v.Failed) > 0:
		return HasFailed
	case len(v.Stopped) > 0:
		return IsUnfinished
	case len(v.Missing) > 0:
		return IsPartly
	case len(v.Changes) > 0:
		return HasChanged
	}
	return IsUpToDate
}

// changedPrograms lists the changed programs of projects that have succeeded.
func (r Record) changedPrograms(now present) (changes []change) {
	runnerChanged := false
	for _, name := range now.projects {
		project, ok := r.Projects[name]
		if !ok || project.Result != event.Succeeded {
			continue
		}
		run, is := r.Runs[project.Run], now.programs[name]
		sameCommit := func() bool { return isClean(run.Commit) && run.Commit == now.commit() }
		if project.Program == nil || is == nil {
			if !sameCommit() || !IsSameRunner(run.Runner, now.runner) {
				changes = append(changes, change{name, "program of " + name + ", which cannot be compared"})
			}
			continue
		}
		runnerChanged = runnerChanged || project.Program[inputs.RunnerPart] != is[inputs.RunnerPart] &&
			!IsSameRunner(run.Runner, now.runner)
		isElsewhere := run.Host != now.host || run.Root != now.root
		for _, part := range []string{inputs.ProgramPart, inputs.FilesPart} {
			if project.Program[part] != is[part] && (!isElsewhere || !sameCommit()) {
				changes = append(changes, change{name, part + " of " + name})
			}
		}
	}
	if runnerChanged {
		changes = append(changes, change{text: "the runner and its programs"})
	}
	return changes
}

// isClean reports whether a commit identifies the programs of a root.
func isClean(commit string) bool {
	return commit != "" && !strings.HasSuffix(commit, gitsource.Changes)
}

// exactVersion matches versions that two different builds do not share.
var exactVersion = regexp.MustCompile(`^v?[0-9]+\.[0-9]+\.[0-9]+[-.0-9A-Za-z]*$`)

// IsSameRunner reports whether two versions are certainly the same build.
func IsSameRunner(was, is string) bool { return was == is && exactVersion.MatchString(is) }
