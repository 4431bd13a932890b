// Package pkotest is a model of the Pulumi Kubernetes Operator, 2.9, for tests: what its
// Stack controller does with Stacks, as its code has it, without any program being run.
// It knows generations, reconcile requests, commits, prerequisites, retries, and
// deletion; workspaces are always ready.
package pkotest

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"

	"mara/runner/internal/feature/operator"
)

// Operator is the model. Its clock stands still but for Pass.
type Operator struct {
	mu     sync.Mutex // protects the rest
	now    time.Time
	took   time.Duration // by each update
	commit string        // of every source that has commits
	stacks map[string]*stack
	fail   map[string]int // how many more updates of a Stack fail
	refuse map[string]bool
	made   int // updates
	log    []string
}

// stack is a Stack with its status.
type stack struct {
	name        string
	labels      map[string]string
	spec        map[string]any     // as the API has it
	read        operator.StackSpec // and as the controller reads it
	generation  int
	request     string // the annotation that asks for a run
	seenRequest string
	deleted     bool
	observed    int
	finalizer   bool // of the operator
	refused     int  // the generation whose spec was refused
	last        *update
	current     *update
	condition   [3]string // type, reason, message
}

// update is one run of Pulumi.
type update struct {
	name, kind          string
	generation          int
	request             string
	commit, lastSuccess string
	succeeded           bool
	failures            int
	at                  time.Time // when it ends, or has ended
}

// New returns an operator without Stacks, whose updates take a while.
func New(took time.Duration) *Operator {
	return &Operator{
		now: time.Date(2026, 11, 22, 12, 0, 0, 0, time.UTC), took: took, commit: "one", stacks: map[string]*stack{},
		fail: map[string]int{}, refuse: map[string]bool{},
	}
}

// Apply applies Stacks as `kubectl apply` does.
func (o *Operator) Apply(stacks ...operator.Stack) {
	o.mu.Lock()
	defer o.mu.Unlock()
	for _, given := range stacks {
		spec := as[map[string]any](given.Spec)
		s, there := o.stacks[given.Metadata.Name]
		if !there {
			s = &stack{name: given.Metadata.Name, labels: given.Metadata.Labels}
			o.stacks[s.name] = s
		}
		if fmt.Sprint(s.spec) != fmt.Sprint(spec) {
			s.spec, s.read, s.generation = spec, given.Spec, s.generation+1
		}
	}
}

// as converts a value through JSON.
func as[T any](value any) (into T) {
	content, err := json.Marshal(value)
	if err == nil {
		err = json.Unmarshal(content, &into)
	}
	if err != nil {
		panic(err)
	}
	return into
}

// Commit has the sources change.
func (o *Operator) Commit(commit string) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.commit = commit
}

// Fail has the next updates of a Stack fail.
func (o *Operator) Fail(name string, times int) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.fail[name] = times
}

// Refuse has the specs of a Stack be refused, or taken.
func (o *Operator) Refuse(name string, on bool) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.refuse[name] = on
}

// Request annotates a Stack with a request for a run.
func (o *Operator) Request(name, request string) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.stacks[name].request = request
}

// Delete deletes Stacks as `kubectl delete --wait=false` does.
func (o *Operator) Delete(names ...string) {
	o.mu.Lock()
	defer o.mu.Unlock()
	for _, name := range names {
		if s, there := o.stacks[name]; there && !s.deleted {
			s.deleted, s.generation = true, s.generation+1
		}
	}
}

// Log returns and clears the log.
func (o *Operator) Log() []string {
	o.mu.Lock()
	defer o.mu.Unlock()
	log := o.log
	o.log = nil
	return log
}

// Pass lets time pass, in steps short enough to miss nothing.
func (o *Operator) Pass(d time.Duration) {
	o.mu.Lock()
	defer o.mu.Unlock()
	const step = 5 * time.Second // the operator's shortest wait is twice that
	for end := o.now.Add(d); ; o.now = o.now.Add(step) {
		for again := true; again; { // one Stack's change wakes others
			again = false
			for _, name := range slices.Sorted(maps.Keys(o.stacks)) {
				again = o.reconcile(o.stacks[name]) || again
			}
		}
		if !o.now.Before(end) {
			return
		}
	}
}

func (o *Operator) tell(s *stack, what string) { o.log = append(o.log, s.name+" "+what) }

// maxFailures is the operator's maxUpdateFailures.
const maxFailures = 3

// reconcile does for one Stack what the controller's Reconcile does, in its order. It
// reports whether something has changed.
func (o *Operator) reconcile(s *stack) bool {
	spec := s.read
	if s.refused == s.generation {
		return false // nothing wakes the controller
	}
	s.observed, s.seenRequest = s.generation, s.request
	if !s.finalizer { // the update that adds it answers with the status as it was
		s.finalizer, s.observed, s.seenRequest = true, 0, ""
	}
	if o.refuse[s.name] {
		s.refused = s.generation
		return s.mark("Stalled", "SpecInvalid", "invalid URL scheme")
	}
	if s.current != nil {
		if o.now.Before(s.current.at) {
			return s.mark("Reconciling", "StackProcessing", "update in progress")
		}
		o.finish(s)
		return true
	}
	if s.deleted && (!spec.DestroyOnFinalize || spec.Preview) {
		o.remove(s)
		return true
	}
	commit := ""
	if spec.ProjectRepo != "" || spec.FluxSource != nil {
		commit = o.commit
	}
	if s.synced(spec, commit, o.now) {
		changed := s.markResult()
		if s.deleted && s.last.succeeded {
			o.remove(s)
			return true
		}
		return changed
	}
	if !s.deleted {
		if unsatisfied := o.prerequisites(spec); unsatisfied != "" {
			return s.mark("Reconciling", "PrerequisiteNotSatisfied", unsatisfied)
		}
	}
	o.start(s, spec, commit)
	return true
}

func (o *Operator) remove(s *stack) {
	delete(o.stacks, s.name)
	o.tell(s, "gone")
}

// synced does what the controller's isSynced does.
func (s *stack) synced(spec operator.StackSpec, commit string, now time.Time) bool {
	last := s.last
	switch {
	case last == nil || last.generation != s.generation || last.request != s.request:
		return false
	case last.succeeded && s.deleted:
		return last.kind == "destroy"
	case last.succeeded:
		frequency := max(time.Minute, time.Duration(spec.ResyncFrequencySeconds)*time.Second)
		return last.lastSuccess == commit && (!spec.ContinueResyncOnCommitMatch || now.Sub(last.at) < frequency)
	case last.commit != commit:
		return false
	case last.failures >= maxFailures:
		return true
	}
	cooldown := 10 * time.Second
	for range last.failures {
		cooldown *= 3
	}
	return now.Sub(last.at) < cooldown
}

// markResult does what the controller's markStackResult does.
func (s *stack) markResult() bool {
	last := s.last
	switch {
	case last.succeeded:
		return s.mark("Ready", "ProcessingCompleted", "")
	case last.failures >= maxFailures:
		return s.mark("Stalled", "UpdateFailed", fmt.Sprintf("%s failed %d times; not retrying until the spec or source "+
			"changes", last.kind, last.failures))
	case last.kind == "preview":
		return s.mark("Reconciling", "PreviewFailed", fmt.Sprintf("preview failed (%d attempt(s))", last.failures))
	}
	return s.mark("Reconciling", "RetryingAfterFailure", fmt.Sprintf("%d update failure(s)", last.failures))
}

func (s *stack) mark(kind, reason, message string) bool {
	condition := [3]string{kind, reason, message}
	changed := s.condition != condition
	s.condition = condition
	return changed
}

// prerequisites returns a message about unsatisfied prerequisites, or "", and requests another
// run of prerequisites whose success is too old.
func (o *Operator) prerequisites(spec operator.StackSpec) string {
	unsatisfied := ""
	for _, need := range spec.Needs {
		other, there := o.stacks[need.Name]
		within, _ := time.ParseDuration(need.Requirement.SucceededWithinDuration) // without one, any
		switch {
		case !there:
			unsatisfied = "unable to fetch prerequisite " + need.Name
		case other.last == nil || other.last.generation != other.generation || other.last.request != other.request:
			unsatisfied = need.Name + " has not run"
		case !other.last.succeeded:
			unsatisfied = need.Name + " has failed"
		case within > 0 && o.now.Sub(other.last.at) > within:
			unsatisfied = need.Name + " is out of date"
			other.request = "after-" + other.last.name
		}
	}
	return unsatisfied
}

func (o *Operator) start(s *stack, spec operator.StackSpec, commit string) {
	kind := "up"
	if spec.Preview {
		kind = "preview"
	}
	if s.deleted {
		kind = "destroy"
	}
	o.made++
	s.current = &update{name: fmt.Sprintf("%s-%d", s.name, o.made), kind: kind, generation: s.generation,
		request: s.request, commit: commit, at: o.now.Add(o.took)}
	s.mark("Reconciling", "StackProcessing", "update in progress")
	o.tell(s, kind+" starts")
}

// finish takes over the result of an update that has ended.
func (o *Operator) finish(s *stack) {
	last, current := s.last, s.current
	s.last, s.current = current, nil
	if o.fail[s.name] == 0 {
		current.succeeded, current.lastSuccess = true, current.commit
		o.tell(s, current.kind+" succeeds")
		return
	}
	o.fail[s.name]--
	if last != nil {
		current.lastSuccess = last.lastSuccess
		if last.generation == current.generation && last.request == current.request {
			current.failures = last.failures + 1
		}
	}
	o.tell(s, current.kind+" fails")
}
