package operate

import (
	"context"
	"errors"
	"fmt"

	"mara/runner/internal/core/event"
	"mara/runner/internal/core/guard"
	"mara/runner/internal/core/refusal"
	"mara/runner/internal/core/updateplan"
	"mara/runner/internal/machine/typeset"
)

// LoadGuards makes the guards of a request, in the order of their makers. They read what they need for a preview that
// is certain.
func (r Request) LoadGuards(makers []guard.Maker) (Guards, error) {
	if r.Root == "" || !r.previews() {
		return r.Guards, nil
	}
	for _, maker := range makers {
		made, err := maker(guard.Request{Root: r.Root, Operation: r.Operation, Limits: r.Guards.Limits})
		if err != nil {
			return r.Guards, err
		}
		if made != nil {
			r.Guards.All = append(r.Guards.All, made)
		}
	}
	if r.Yes && !r.judges() && r.Operation.Deploys() {
		return r.Guards, nil
	}
	for _, g := range r.Guards.All {
		if err := g.Prepare(); err != nil {
			return r.Guards, err
		}
	}
	return r.Guards, nil
}

// openGuards has the guards watch the operation.
func (j *job) openGuards(ctx context.Context) error {
	if !j.previews() {
		return nil
	}
	watched := guard.Job{
		Session: j.s, Plan: j.w.plan, Resources: j.Execution.Resources, Warn: j.warn, Finding: judge{j}.emitFinding,
		InRepository: func(file string) string { return InRepository(j.Request.Request, file) },
	}
	for _, g := range j.Guards.All {
		watch, err := g.Open(ctx, watched)
		if err != nil {
			return err
		}
		if watch != nil {
			j.watches = append(j.watches, watch)
		}
	}
	return nil
}

// settleGuards has the guards change what an up that is approved needs changed before its first project.
func (j *job) settleGuards(ctx context.Context) error {
	if !j.Operation.Deploys() {
		return nil
	}
	for _, watch := range j.watches {
		if err := watch.Settle(ctx, j.before.Run != ""); err != nil {
			return err
		}
	}
	return nil
}

// holds says what is lost with the cluster of the environment.
func (j *job) holds() string {
	for _, watch := range j.watches {
		if text := watch.Holds(); text != "" {
			return text
		}
	}
	return "nothing that a project has made"
}

// assessment is what a preview has found.
type assessment struct {
	losses losses
	plan   savedPlan
}

// judge applies the guards to what a preview has found.
type judge struct{ *job }

// assess applies protection and guards at the end of a preview, and saves its plan.
func (g judge) assess(ctx context.Context, found *assessment, emit func(event.Event)) error {
	document := g.planDocument()
	for _, watch := range g.watches {
		watch.Begin(emit)
	}
	found.losses = g.lossesIn(document, emit)
	g.warnOfUnmarked(document, emit)
	for _, watch := range g.watches {
		if err := watch.Look(ctx, document, emit); err != nil {
			return unjudged(err)
		}
	}
	for _, watch := range g.watches {
		if err := watch.Decide(emit); err != nil {
			return unjudged(err)
		}
	}
	found.plan = planFile(g).save(ctx, emit)
	return nil
}

// warnOfUnmarked tells the author of a program which values look like secrets and are not marked as such: they are hidden
// here, and in plain text in states and saved plans.
func (g judge) warnOfUnmarked(document updateplan.Document, emit func(event.Event)) {
	for _, project := range document.Projects {
		for _, step := range project.Steps {
			paths := step.Unmarked()
			if len(paths) == 0 {
				continue
			}
			g.emitFinding(emit, event.Finding{
				Rule: event.RuleUnmarked, Level: event.LevelWarn, Project: project.Name, URN: step.URN, Property: paths[0],
				Resource: event.Resource{Type: step.Type, Name: step.Name},
				Message: fmt.Sprintf("%s of %s %s looks like a secret, and the program does not mark it as one: the state has it in "+
					"plain text", typeset.Few(paths, 3), step.Type, step.Name),
			}, "")
		}
	}
}

// unjudged makes a refusal of any error of a guard: one that cannot tell refuses.
func unjudged(err error) error {
	if _, ok := errors.AsType[*guard.Refused](err); ok {
		return err
	}
	refused := &guard.Refused{By: refusal.Of(err), What: "a guard that could not judge the preview: " + err.Error()}
	if advice, ok := errors.AsType[interface {
		error
		NextStep() string
	}](err); ok {
		refused.Next = advice.NextStep()
	}
	return refused
}

// forbidden returns the part of an error that no summary shows.
func forbidden(err error) error {
	if denied, ok := errors.AsType[*guard.Refused](err); ok {
		return denied
	}
	return nil
}
