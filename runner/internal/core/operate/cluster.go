package operate

import (
	"context"
	"fmt"
	"slices"

	"mara/projects/model/operation"
	"mara/runner/internal/core/event"
	"mara/runner/internal/core/stacks"
	"mara/runner/internal/core/updateplan"
	"mara/runner/internal/feature/clusterlife"
	"mara/runner/internal/machine/failure"
)

// clusterGuard looks after the cluster of an environment during a preview or an up. What projects have in it is lost
// with it, and Pulumi alone notices neither: it shows their objects as unchanged, and later fails to delete them in a
// cluster that is gone. Nil guards nothing.
type clusterGuard struct {
	clusterlife.Cluster
	judge
	contents clusterlife.Contents
	made     bool   // its state has a cluster
	lost     string // why the cluster counts as gone; "" if it does not
}

// lookAtCluster finds out what is in the cluster of a job, and whether the cluster is still there.
func (j *job) lookAtCluster(ctx context.Context) (err error) {
	c, ok := clusterlife.Of(j.s, j.Execution.Resources)
	if !j.previews() || j.s.Unchanged != nil || !ok || !slices.Contains(j.w.plan.Names(), c.Step.Project.Name) {
		return nil
	}
	g := &clusterGuard{Cluster: c, judge: judge{j}}
	if g.contents, err = c.Contents(ctx); err != nil {
		return err
	}
	made, known, err := c.IsMade(ctx)
	if err != nil || !known {
		return err // a cluster that the runner does not know is left to the engine
	}
	g.made, j.cluster = made, g
	if !made {
		return g.judgeMissing(ctx)
	}
	unreachable := c.Answers(ctx)
	if unreachable == nil || ctx.Err() != nil {
		return ctx.Err()
	}
	reason := j.s.Masker.Mask(unreachable.Error())
	gone, err := c.IsGone(ctx)
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case err != nil:
		j.warn("the cluster does not answer (%s), and its provider cannot be asked whether it is still there: %v",
			reason, err)
	case gone:
		g.lost = fmt.Sprintf("its provider does not have it any more, and its API server does not answer (%s)", reason)
	}
	return nil
}

// judgeMissing decides what it means that the state has no cluster: nothing, where nothing was in it; that it is gone,
// where what was in it cannot be reached either; else it refuses.
func (g *clusterGuard) judgeMissing(ctx context.Context) error {
	project := g.Step.Project.Name
	if len(g.contents) == 0 {
		return nil
	}
	if g.HasContents(ctx, g.contents) {
		text := fmt.Sprintf("the state of %s has no cluster, but the cluster that %s is in still answers", project,
			g.contents)
		next := fmt.Sprintf("import the cluster with `%s -- import`, or destroy first what is in it",
			g.s.Command("pulumi "+project))
		return &failure.Environment{Text: text, Next: next}
	}
	if ctx.Err() != nil {
		return ctx.Err()
	}
	g.lost = fmt.Sprintf("the state of %s has none, and what was in it cannot be reached", project)
	return nil
}

// held lists what projects have in the cluster.
func (g *clusterGuard) held() string {
	if g == nil {
		return clusterlife.Contents(nil).String()
	}
	return g.contents.String()
}

// isLost reports whether a project makes the cluster, and the cluster is gone.
func (g *clusterGuard) isLost(project string) bool {
	return g != nil && g.lost != "" && g.Step.Project.Name == project
}

// lostText says that the cluster is gone, and what an up does about it.
func (g *clusterGuard) lostText() string {
	return fmt.Sprintf("the cluster is gone: %s; up drops what was in it from the states, and makes cluster and contents "+
		"anew: %s", g.lost, g.contents)
}

// reportLostCluster emits that the cluster is gone.
func (g judge) reportLostCluster(emit func(event.Event)) {
	if g.cluster != nil && g.cluster.lost != "" {
		g.emitFinding(emit, event.Finding{
			Rule: event.RuleCluster, Level: event.LevelWarn, Project: g.cluster.Step.Project.Name,
			Message: g.cluster.lostText(),
		}, "")
	}
}

// settleLostCluster records in the states that the cluster is gone, with everything in it. The run then makes all of it
// again.
func (j *job) settleLostCluster(ctx context.Context) error {
	g := j.cluster
	if g == nil || g.lost == "" || !j.Operation.Deploys() {
		return nil
	}
	if j.before.Run == "" { // no preview has shown it
		j.warn("%s", g.lostText())
	}
	changed := append([]string{g.Step.Project.Name}, g.contents.Projects()...)
	changed = slices.DeleteFunc(changed, func(name string) bool { return !j.s.Stacks.IsDeployed(name) })
	if err := j.s.Leftovers().BackUp(ctx, changed, j.s.Held.Backups()); err != nil {
		return err
	}
	fmt.Fprintf(j.d.Stderr, "the previous states are in %s\n", j.s.Held.Backups())
	return g.Forget(ctx, g.contents)
}

// isDue reports whether a task is about to change the project that makes the cluster, without a preview before.
func (g *clusterGuard) isDue(task stacks.Task) bool {
	if g == nil || !g.made || g.lost != "" || !task.Operation.Deploys() || task.Step.Project.Name != g.Step.Project.Name {
		return false
	}
	_, previewed := g.s.Stacks.Previewed(task.Step.Project.Name)
	return !previewed
}

// check refuses to lose the cluster, unless --allow names it.
func (g *clusterGuard) check(now updateplan.Project, emit func(event.Event)) error {
	lost := g.lossesIn(updateplan.Document{Projects: []updateplan.Project{now}}, emit)
	if !lost.any() {
		return nil
	}
	refused := lost.forbidLater(g.job, nil)
	_ = g.refuse(event.RuleCluster, now.Name, emit, refused)
	return firstLookError{refused}
}

// clear empties the cluster, if the task is about to replace or delete it.
func (g *clusterGuard) clear(ctx context.Context, task stacks.Task, emit func(event.Event)) error {
	if g == nil || task.Operation != operation.Up || task.Step.Project.Name != g.Step.Project.Name {
		return nil
	}
	previewed, ok := g.s.Stacks.Previewed(task.Step.Project.Name)
	if !ok || !slices.ContainsFunc(previewed.Steps, updateplan.Step.LosesCluster) {
		return nil
	}
	return g.Clear(ctx, g.contents, emit)
}
