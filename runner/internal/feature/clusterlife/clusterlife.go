// Package clusterlife knows what the projects of an environment have in its Kubernetes cluster, and whether the cluster
// is still there. It empties a cluster before it is replaced, and drops from the states what was in one that is gone.
package clusterlife

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"

	"mara/config/lists"
	"mara/projects/model/cloud"
	"mara/projects/model/operation"
	"mara/runner/internal/core/event"
	"mara/runner/internal/core/hooks"
	"mara/runner/internal/core/plan"
	"mara/runner/internal/core/session"
	"mara/runner/internal/core/stacks"
	"mara/runner/internal/core/updateplan"
	"mara/runner/internal/machine/typeset"
)

// Cluster is the Kubernetes cluster of an environment.
type Cluster struct {
	Step  plan.Step   // of the project that makes it
	users []plan.Step // of the projects that read its outputs, or those of such a project, in the order of the plan

	stacks    *stacks.Set
	hooks     hooks.Hooks
	simulated func() (cloud.Located, error) // lists what the simulated clouds have; nil for real ones
	parallel  int                           // resources at once
}

// Of returns the cluster of an open environment; ok is false if no project makes one, as where it was there before.
func Of(s *session.Reading, parallelResources int) (c Cluster, ok bool) {
	name := s.Provider.ClusterProject
	if s.Provider.Existing != nil {
		return c, false
	}
	reads := map[string]bool{name: true}
	c = Cluster{stacks: s.Stacks, hooks: s.Hooks(), parallel: parallelResources}
	if directory := s.Directory.Clouds(s.Settings.Stack.Text); s.Options.Simulation.On && s.Deps.Simulated != nil {
		c.simulated = func() (cloud.Located, error) { return s.Deps.Simulated(directory) }
	}
	for _, step := range s.Plan.Steps {
		switch {
		case step.Project.Name == name:
			c.Step, ok = step, true
		case slices.ContainsFunc(step.Reads, func(read string) bool { return reads[read] }):
			reads[step.Project.Name] = true
			c.users = append(c.users, step)
		}
	}
	return c, ok && name != ""
}

// Contents is what projects have in a cluster, in the order of the plan.
type Contents []Held

// Held is what a project has in a cluster.
type Held struct {
	stacks.Holding
	Step plan.Step
}

// Contents returns what the projects have in the cluster, by their states.
func (c Cluster) Contents(ctx context.Context) (Contents, error) {
	var found Contents
	for _, step := range c.users {
		if !c.stacks.IsDeployed(step.Project.Name) {
			continue
		}
		holding, err := stacks.InCluster{Set: c.stacks}.Holding(ctx, step.Project.Name)
		if err != nil {
			return nil, err
		}
		if holding.Objects > 0 {
			found = append(found, Held{holding, step})
		}
	}
	return found, nil
}

// String lists the projects and what they have in the cluster.
func (c Contents) String() string {
	if len(c) == 0 {
		return "nothing that a project has made"
	}
	var texts []string
	for _, held := range c {
		parts := []string{typeset.Counted(held.Objects, "object")}
		if held.Releases > 0 {
			parts = append(parts, "with "+typeset.Counted(held.Releases, "Helm release"))
		}
		if held.Volumes > 0 {
			parts = append(parts, fmt.Sprintf("%d of them with data", held.Volumes))
		}
		texts = append(texts, fmt.Sprintf("%s (%s)", held.Step.Project.Name, strings.Join(parts, ", ")))
	}
	return strings.Join(texts, ", ")
}

// Projects returns the names of the projects.
func (c Contents) Projects() []string {
	return lists.Map(c, func(held Held) string { return held.Step.Project.Name })
}

// IsMade reports whether the state of its project has a cluster. known is false if the project makes its cluster of
// resources that the runner does not know.
func (c Cluster) IsMade(ctx context.Context) (made, known bool, err error) {
	resources, err := c.stacks.Resources(ctx, c.Step.Project.Name)
	if err != nil {
		return false, false, err
	}
	made = slices.ContainsFunc(resources, func(r stacks.Resource) bool { return updateplan.IsCluster(r.Type) })
	return made, made || c.Step.Project.Own == nil, nil
}

// Answers returns an error if the API server of the deployed cluster cannot be reached. A simulated one answers while
// the simulated cloud has it.
func (c Cluster) Answers(ctx context.Context) error {
	if c.simulated == nil {
		return c.hooks.Probe(ctx, c.Step.Project.Name)
	}
	located, err := c.simulated()
	there := slices.ContainsFunc(located.Resources, func(r cloud.Resource) bool { return updateplan.IsCluster(r.Type) })
	if err == nil && !there {
		err = errors.New("SIMULATED: connection refused")
	}
	return err
}

// IsSimulatedLost reports whether an environment on simulated clouds has lost its cluster. On real ones the hook that
// merges the kubeconfig asks the cluster.
func IsSimulatedLost(ctx context.Context, s *session.Reading) bool {
	c, ok := Of(s, 0)
	if !ok || c.simulated == nil || !c.stacks.IsDeployed(c.Step.Project.Name) {
		return false
	}
	made, _, err := c.IsMade(ctx)
	return err != nil || made && c.Answers(ctx) != nil
}

// IsGone asks the cluster's provider whether the cluster is gone. It changes nothing.
func (c Cluster) IsGone(ctx context.Context) (bool, error) {
	var gone atomic.Bool
	err := c.operate(ctx, operation.Drift, c.Step, func(e event.Event) {
		if e.Type == event.StepProgress && e.Action == event.Delete && updateplan.IsCluster(e.Resource.Type) {
			gone.Store(true)
		}
	})
	return gone.Load(), err
}

// HasContents reports whether the cluster that projects have something in can still be asked for it.
func (c Cluster) HasContents(ctx context.Context, contents Contents) bool {
	return len(contents) > 0 && c.operate(ctx, operation.Drift, contents[0].Step, func(event.Event) {}) == nil
}

// operate runs an operation on a project.
func (c Cluster) operate(ctx context.Context, op operation.Operation, step plan.Step, emit func(event.Event)) error {
	_, err := c.stacks.Operate(ctx, stacks.Task{Operation: op, Step: step, ParallelResources: c.parallel}, emit)
	return err
}

// Forget records that the cluster is gone: it refreshes the state of its project, and drops what was in the cluster
// from the states of the others.
func (c Cluster) Forget(ctx context.Context, contents Contents) error {
	made, _, err := c.IsMade(ctx)
	if err != nil {
		return err
	}
	if made {
		if err := c.operate(ctx, operation.Refresh, c.Step, func(event.Event) {}); err != nil {
			return fmt.Errorf("reading from its provider that the cluster is gone: %w", err)
		}
		if made, _, err = c.IsMade(ctx); err != nil || made {
			return errors.Join(err, errors.New("the cluster is still in the state of "+c.Step.Project.Name))
		}
	}
	for _, name := range contents.Projects() {
		if err := (stacks.InCluster{Set: c.stacks}).Forget(ctx, name); err != nil {
			return err
		}
	}
	return nil
}

// Clear destroys what projects have in the cluster, because the cluster is about to be replaced or deleted. Afterwards
// nothing could delete it: Pulumi deletes an object with the kubeconfig that created it.
func (c Cluster) Clear(ctx context.Context, contents Contents, emit func(event.Event)) error {
	if len(contents) == 0 {
		return nil
	}
	if protected := contents.protected(); len(protected) > 0 {
		return fmt.Errorf("protected resources are in the cluster, so that it is not replaced: %s",
			strings.Join(protected, ", "))
	}
	if err := c.Answers(ctx); err != nil {
		return fmt.Errorf("the cluster does not answer, so that what is in it cannot be deleted before the cluster is "+
			"replaced: %w; make it reachable; if it is gone, `runner refresh` finds that out", err)
	}
	for _, held := range slices.Backward(contents) {
		name := held.Step.Project.Name
		objects := typeset.Counted(held.Objects, "object")
		event.Say(emit, event.Info, "deleting what %s has in the cluster: %s", name, objects)
		task := stacks.Task{
			Operation: operation.Destroy, Step: held.Step, InCluster: true, ParallelResources: c.parallel,
		}
		if _, err := c.stacks.Operate(ctx, task, event.WithoutResources(emit)); err != nil {
			return fmt.Errorf("deleting what %s has in the cluster, before the cluster is replaced: %w", name, err)
		}
	}
	return c.hooks.Empty(ctx, c.Step, emit)
}

// protected returns the resources that Pulumi refuses to delete, each with its project.
func (c Contents) protected() []string {
	var names []string
	for _, held := range c {
		for _, resource := range held.Protected {
			names = append(names, held.Step.Project.Name+": "+resource)
		}
	}
	return names
}
