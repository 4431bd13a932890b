package clusterlife

import (
	"context"
	"fmt"
	"slices"

	"mara/projects/model/operation"
	"mara/runner/internal/core/event"
	"mara/runner/internal/core/guard"
	"mara/runner/internal/core/refusal"
	"mara/runner/internal/core/session"
	"mara/runner/internal/core/stacks"
	"mara/runner/internal/core/updateplan"
	"mara/runner/internal/machine/failure"
)

// Guard makes the guard that looks after the cluster of an environment during a preview or an up. What projects have
// in it is lost with it, and Pulumi alone notices neither: it shows their objects as unchanged, and later fails to
// delete them in a cluster that is gone.
func Guard(guard.Request) (guard.Guard, error) { return clusterGuard{}, nil }

type clusterGuard struct{ guard.Silent }

// MayRest implements guard.Guard: a simulated cluster may be lost although no project has changed.
func (clusterGuard) MayRest(ctx context.Context, s *session.Reading) bool {
	return !IsSimulatedLost(ctx, s)
}

// Open implements guard.Guard. It finds out what is in the cluster, and whether the cluster is still there.
func (clusterGuard) Open(ctx context.Context, j guard.Job) (guard.Watch, error) {
	s := j.Session
	c, ok := Of(s.Reading, j.Resources)
	if s.Unchanged != nil || !ok || !slices.Contains(j.Plan.Names(), c.Step.Project.Name) {
		return nil, nil
	}
	g := &watch{Cluster: c, Job: j}
	var err error
	if g.contents, err = c.Contents(ctx); err != nil {
		return nil, err
	}
	made, known, err := c.IsMade(ctx)
	if err != nil || !known {
		return nil, err // a cluster that the runner does not know is left to the engine
	}
	g.made = made
	if !made {
		return g, g.judgeMissing(ctx)
	}
	unreachable := c.Answers(ctx)
	if unreachable == nil || ctx.Err() != nil {
		return g, ctx.Err()
	}
	reason := s.Masker.Mask(unreachable.Error())
	gone, err := c.IsGone(ctx)
	switch {
	case ctx.Err() != nil:
		return nil, ctx.Err()
	case err != nil:
		j.Warn("the cluster does not answer (%s), and its provider cannot be asked whether it is still there: %v",
			reason, err)
	case gone:
		g.lost = fmt.Sprintf("the provider no longer lists it, and its API server does not answer (%s)", reason)
	}
	return g, nil
}

// watch looks after the cluster during an operation.
type watch struct {
	guard.Nothing
	guard.Job
	Cluster
	contents Contents
	made     bool   // its state has a cluster
	lost     string // why the cluster counts as gone; "" if it does not
}

// judgeMissing decides what it means that the state has no cluster: nothing, where nothing was in it; that it is gone,
// where what was in it cannot be reached either; else it refuses.
func (g *watch) judgeMissing(ctx context.Context) error {
	project := g.Step.Project.Name
	if len(g.contents) == 0 {
		return nil
	}
	if g.HasContents(ctx, g.contents) {
		text := fmt.Sprintf("the state of %s has no cluster, but the cluster that %s is in still answers", project,
			g.contents)
		next := fmt.Sprintf("import the cluster with `%s -- import`, or destroy first what is in it",
			g.Session.Command("pulumi "+project))
		return &failure.Environment{Text: text, Next: next}
	}
	if ctx.Err() != nil {
		return ctx.Err()
	}
	g.lost = fmt.Sprintf("the state of %s has none, and what was in it cannot be reached", project)
	return nil
}

// Holds implements guard.Watch.
func (g *watch) Holds() string { return g.contents.String() }

// Fresh implements guard.Watch: a preview shows what makes a cluster anew that is gone.
func (g *watch) Fresh(project string) bool { return g.lost != "" && g.Step.Project.Name == project }

// lostText says that the cluster is gone, and what an up does about it.
func (g *watch) lostText() string {
	return fmt.Sprintf("the cluster is gone: %s; up drops what was in it from the states, and makes cluster and contents "+
		"anew: %s", g.lost, g.contents)
}

// Begin implements guard.Watch.
func (g *watch) Begin(emit func(event.Event)) {
	if g.lost != "" {
		g.Finding(emit, event.Finding{
			Rule: string(refusal.Cluster), Level: event.LevelWarn, Project: g.Step.Project.Name, Message: g.lostText(),
		}, "")
	}
}

// Settle implements guard.Watch. It records in the states that the cluster is gone, with everything in it. The run then
// makes all of it again.
func (g *watch) Settle(ctx context.Context, isShown bool) error {
	if g.lost == "" {
		return nil
	}
	if !isShown {
		g.Warn("%s", g.lostText())
	}
	s := g.Session
	changed := append([]string{g.Step.Project.Name}, g.contents.Projects()...)
	changed = slices.DeleteFunc(changed, func(name string) bool { return !s.Stacks.IsDeployed(name) })
	if err := s.Leftovers().BackUp(ctx, changed, s.Held.Backups()); err != nil {
		return err
	}
	fmt.Fprintf(s.Deps.Stderr, "the previous states are in %s\n", s.Held.Backups())
	return g.Forget(ctx, g.contents)
}

// IsDue implements guard.Watch: the project that makes the cluster may lose it, and no preview has shown that.
func (g *watch) IsDue(task stacks.Task) bool {
	if !g.made || g.lost != "" || !task.Operation.Deploys() || task.Step.Project.Name != g.Step.Project.Name {
		return false
	}
	_, previewed := g.Session.Stacks.Previewed(task.Step.Project.Name)
	return !previewed
}

// Before implements guard.Watch: it empties the cluster if the task is about to replace or delete it.
func (g *watch) Before(ctx context.Context, task stacks.Task, emit func(event.Event)) error {
	if task.Operation != operation.Up || task.Step.Project.Name != g.Step.Project.Name {
		return nil
	}
	previewed, ok := g.Session.Stacks.Previewed(task.Step.Project.Name)
	if !ok || !slices.ContainsFunc(previewed.Steps, updateplan.Step.LosesCluster) {
		return nil
	}
	return g.Clear(ctx, g.contents, emit)
}
