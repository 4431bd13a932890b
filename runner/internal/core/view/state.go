package view

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"mara/runner/internal/core/event"
	"mara/runner/internal/core/record"
	"mara/runner/internal/machine/typeset"
)

// State is the state of an environment in one word.
type State string

// The states. What is not known is never UpToDate.
const (
	Failed         State = record.HasFailed      // a project did not succeed
	Unfinished     State = record.IsUnfinished   // its last run was cut off
	Locked         State = "locked"              // by a process that is gone
	Unknown        State = record.IsUnknown      // it cannot be known, and the reason says why
	Running        State = record.IsRunning      // a run is changing it now
	Waiting        State = "waiting"             // for its turn in a current rollout
	Drifted        State = "drifted"             // the last comparison found differences
	Changed        State = record.HasChanged     // values or programs differ from what ran
	Partly         State = record.IsPartly       // some projects never ran
	NeverRolledOut State = record.NeverRolledOut // nothing ever ran
	Destroyed      State = record.IsDestroyed
	UpToDate       State = record.IsUpToDate
)

// States lists the states, the worst first.
func States() []State {
	return []State{Failed, Unfinished, Locked, Unknown, Running, Waiting, Drifted, Changed, Partly, NeverRolledOut,
		Destroyed, UpToDate}
}

// Rank returns the place of the state among all, 0 for the worst.
func (s State) Rank() int { return slices.Index(States(), s) }

// IsTrouble reports whether the state needs a person.
func (s State) IsTrouble() bool { return s.Rank() <= Unknown.Rank() }

// Mark returns a sign for the state, for those who see no colours.
func (s State) Mark() string {
	marks := map[State]string{Failed: "✗", Unfinished: "✂", Locked: "!", Unknown: "?", Running: "▶", Waiting: "…",
		Drifted: "≠", Changed: "±", Partly: "◐", NeverRolledOut: "○", Destroyed: "⌀", UpToDate: "✓"}
	return marks[s]
}

// add notes that a state holds, with the reason. The worst state is the environment's, and its reasons come first.
func (e *Environment) add(s State, reason string) {
	if e.State == "" || s.Rank() < e.State.Rank() {
		e.State = s
	}
	if reason == "" {
		return
	}
	at := 0 // after those of states that are as bad or worse
	for at < len(e.ranks) && e.ranks[at] <= s.Rank() {
		at++
	}
	e.ranks, e.Reasons = slices.Insert(e.ranks, at, s.Rank()), slices.Insert(e.Reasons, at, reason)
}

// judge finds the state of an environment: all states that hold, of which the worst wins.
func (e *Environment) judge(now time.Time) {
	e.State, e.Reasons, e.ranks = "", nil, nil
	isLive := e.Lately.Live != nil && e.Lately.Live.Writes()
	v := e.Verdict
	switch {
	case e.Error != "":
		e.add(Unknown, e.Error)
	case isLive || e.Lock.isElsewhere():
		// what the record says of this run will be known when it ends
	case v.State == record.NeverRolledOut, v.State == record.IsDestroyed, v.State == record.IsUpToDate:
		e.add(State(v.State), "")
	default:
		e.judgeRecord(now)
	}
	e.judgeLock(now, isLive)
	if r := e.Lately.Rollout; r != nil && !isLive && slices.Contains(r.Waiting, e.Name) {
		e.add(Waiting, fmt.Sprintf("for its turn in %s of the fleet, %s", r.Operation, r.ID))
	}
	if d := e.Drift; d.Counts() && v.State != record.IsDestroyed && v.State != record.NeverRolledOut {
		e.add(Drifted, fmt.Sprintf("%s, compared %s", strings.Join(d.Words(), ", "), typeset.Ago(now.Sub(d.At))))
	}
	if e.State == "" {
		e.add(Unknown, "nothing is known of it")
	}
}

// judgeRecord adds what differs from the record of what ran.
func (e *Environment) judgeRecord(now time.Time) {
	v := e.Verdict
	if e.judgeLastRun(now) {
		isSaid := func(project string) bool {
			name, _, _ := strings.Cut(project, " ")
			return slices.Contains(e.Lately.Write.Projects, name)
		}
		v.Begun = ""
		v.Failed, v.Stopped, v.Missing = without(v.Failed, isSaid), without(v.Stopped, isSaid), without(v.Missing, isSaid)
		v.Changes = without(v.Changes, func(change string) bool { // what the run has done is newer than the record
			name, isProgram := strings.CutPrefix(change, "program of ")
			return isProgram && isSaid(name)
		})
	}
	if v.Begun != "" {
		e.add(Unfinished, v.Begun+" has not ended")
	}
	if len(v.Failed) > 0 {
		e.add(Failed, "did not succeed: "+strings.Join(v.Failed, ", "))
	}
	if len(v.Stopped) > 0 {
		e.add(Unfinished, "did not come to their end: "+strings.Join(v.Stopped, ", "))
	}
	if len(v.Missing) > 0 {
		e.add(Partly, "never rolled out: "+strings.Join(v.Missing, ", "))
	}
	if len(v.Changes) > 0 {
		e.add(Changed, strings.Join(v.Changes, "; "))
	}
}

// judgeLastRun adds how the last run stands that has changed the environment, if it has not succeeded: its events, which are in
// this directory, tell more than the record.
func (e *Environment) judgeLastRun(now time.Time) bool {
	w, v := e.Lately.Write, e.Verdict
	if w == nil || w.Standing == "" || w.ID != v.Run && !strings.Contains(v.Begun, w.ID) {
		return false
	}
	state, word := Unfinished, "was "+w.Word()
	if w.Result == event.Failed {
		state, word = Failed, "failed"
	}
	e.add(state, fmt.Sprintf("%s %s %s: %s", w.Operation, word, typeset.Ago(now.Sub(w.Started.Add(w.Duration()))), w.Standing))
	return true
}

func without(projects []string, isSaid func(string) bool) []string {
	return slices.DeleteFunc(slices.Clone(projects), isSaid)
}

// judgeLock adds what the locks say.
func (e *Environment) judgeLock(now time.Time, isLive bool) {
	const sign = time.Minute
	l := e.Lock
	switch {
	case isLive:
		e.add(Running, string(e.Lately.Live.Operation))
	case l == nil:
	case l.Dead:
		e.add(Locked, fmt.Sprintf("by %s, run %s, whose process is gone; the next run takes over", l.Owner, l.Run))
	case l.Elsewhere && now.Sub(l.Since) > sign:
		e.add(Unknown, fmt.Sprintf("locked by %s for %s, %s; whether it still runs cannot be seen from here", l.Owner,
			l.Operation, typeset.Ago(now.Sub(l.Since))))
	case l.Elsewhere:
		e.add(Running, fmt.Sprintf("%s by %s, on another machine", l.Operation, l.Owner))
	}
}
