package event

import (
	"fmt"
	"strings"

	"mara/projects/model/operation"
	"mara/runner/internal/machine/typeset"
)

// Standing is how far a run has come: its projects, or environments, by what became of them.
type Standing struct {
	Noun                        string
	Done, Failed, CutOff, Never []string
	Touched                     Changes // resources of those that were cut off
}

// Standing returns how far the run has come. It takes the steps of the plan, not the projects that have ended: after a crash
// the journal has what a project had done until then.
func (s *Summary) Standing() Standing {
	t := Standing{Noun: s.Noun()}
	for _, step := range s.Steps {
		started := !step.Started.IsZero()
		switch {
		case EndsWave(step.Name):
		case step.Result == Failed:
			t.Failed = append(t.Failed, step.Name)
		case step.Result == Succeeded, step.Result == Skipped && (started || step.Unchanged != ""):
			t.Done = append(t.Done, step.Name)
		case !started:
			t.Never = append(t.Never, step.Name)
		default:
			t.CutOff = append(t.CutOff, step.Name)
			t.Touched = t.Touched.Plus(step.Changes)
		}
	}
	return t
}

// String says it in one sentence, which pages, commands and reports share.
func (t Standing) String() string {
	const most = 3
	all := len(t.Done) + len(t.Failed) + len(t.CutOff) + len(t.Never)
	parts := []string{typeset.CountedOf(len(t.Done), all, t.Noun) + " done"}
	if len(t.Failed) > 0 {
		parts = append(parts, fmt.Sprintf("%d failed (%s)", len(t.Failed), typeset.Few(t.Failed, most)))
	}
	if n := len(t.CutOff); n > 0 {
		touched := ""
		if t.Touched.Resources().Any() {
			touched = "; " + t.Touched.touched()
		}
		parts = append(parts, fmt.Sprintf("%d cut off in the middle (%s%s)", n, typeset.Few(t.CutOff, most), touched))
	}
	if n := len(t.Never); n > 0 {
		parts = append(parts, fmt.Sprintf("%d never began", n))
	}
	return strings.Join(parts, ", ")
}

// touched counts resources with the verb for what became of them.
func (c Changes) touched() string {
	n, verb := c.Create+c.Update+c.Replace+c.Delete, "changed"
	switch n {
	case c.Create:
		verb = "made"
	case c.Delete:
		verb = "deleted"
	}
	return typeset.Counted(n, "resource") + " " + verb
}

// countSoFar counts a resource that is done, in a step that has not ended. The end of the step has the numbers of the engine.
func (s *Step) countSoFar(op operation.Operation, e Event) {
	if op.Writes() && e.Status == ActionDone {
		s.Changes = s.Changes.Count(e.Action)
	}
}
