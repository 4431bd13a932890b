package stacks

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"strings"

	"mara/runner/internal/event"
)

// UnreachableError says that a cluster cannot be reached, or is gone.
type UnreachableError struct{ Err error }

// Error says what failed.
func (e *UnreachableError) Error() string { return e.Err.Error() }

// NextStep says how to go on without the cluster.
func (e *UnreachableError) NextStep() string {
	return "if the cluster is gone for good, `runner destroy --force-forget` drops what was in it from the state"
}

// Unwrap returns what failed.
func (e *UnreachableError) Unwrap() error { return e.Err }

// unreachable recognises the Kubernetes provider's words for it.
var unreachable = regexp.MustCompile(`(?i)configured Kubernetes cluster is unreachable|unable to load Kubernetes client configuration`)

// forgive makes the best of a destroy that failed because the cluster cannot be
// reached: it explains it or, if it is told to, forgets what was in the
// cluster.
func (e *Environment) forgive(ctx context.Context, task Task, failure error, emit func(event.Event)) error {
	if !task.Operation.Destroys() || !unreachable.MatchString(failure.Error()) {
		return failure
	}
	if !task.Forgiven {
		return &UnreachableError{Err: failure}
	}
	project := task.Step.Project.Name
	state, err := e.state(ctx, project)
	if err != nil {
		return errors.Join(failure, err)
	}
	if elsewhere := state.outsideCluster(); len(elsewhere) > 0 {
		return fmt.Errorf("%w; nothing is forgotten, because %s is not in the cluster", failure, strings.Join(elsewhere, ", "))
	}
	if err := e.forget(ctx, project); err != nil {
		return errors.Join(failure, err)
	}
	emit(warning("the cluster cannot be reached: %d resources that were in it are dropped from the state, not destroyed", state.inCluster()))
	return nil
}

// forget drops all resources of a project from its state.
func (e *Environment) forget(ctx context.Context, project string) error {
	dir, err := e.workingCopy(project)
	if err != nil {
		return err
	}
	if _, err := e.run(ctx, dir, "state", "delete", "--all", "--force", "--yes", "--stack", e.qualified(project)); err != nil {
		return fmt.Errorf("forgetting the resources of %s: %w", project, err)
	}
	return nil
}

// finishDestroy removes the stack of a destroyed project, if that is wanted.
func (e *Environment) finishDestroy(ctx context.Context, task Task) error {
	project := task.Step.Project.Name
	if !task.Operation.Destroys() || !task.Remove || !e.Summary(project).Exists {
		return nil
	}
	dir, err := e.workingCopy(project)
	if err != nil {
		return err
	}
	if _, err := e.run(ctx, dir, "stack", "rm", "--yes", "--preserve-config", "--stack", e.qualified(project)); err != nil {
		return fmt.Errorf("removing the stack: %w", err)
	}
	e.remember(project, func(s *Summary) { *s = Summary{} })
	return nil
}
