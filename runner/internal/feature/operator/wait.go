package operator

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"mara/config/lists"
)

// StalledError says that Stacks do not go on by themselves.
type StalledError struct{ Stacks []State }

// Error names them, with their causes.
func (e *StalledError) Error() string {
	return strings.Join(lists.Map(e.Stacks, func(s State) string {
		return fmt.Sprintf("%s is stalled: %s", s.Name, s.Cause)
	}), "\n")
}

// ErrNoStacks says that an environment has no Stacks.
var ErrNoStacks = errors.New("the environment has no Stacks there")

// Watcher polls Stacks until they reach a state.
type Watcher struct {
	Cluster
	Every time.Duration
	Tell  func(State)                                      // receives each change of a phase and of its cause
	Sleep func(ctx context.Context, d time.Duration) error // returns the context's cause when it ends
	// Commit is the commit that Stacks with a source in git have to have tried; results of
	// other commits do not count. "" means any commit.
	Commit string
}

// Wait waits until all Stacks are ready, or one is stalled.
func (w Watcher) Wait(ctx context.Context) error {
	return w.until(ctx, map[string]State{}, func(states []State) ([]State, error) {
		if len(states) == 0 {
			return nil, ErrNoStacks
		}
		return slices.DeleteFunc(states, func(s State) bool { return s.Phase == Ready }), nil
	})
}

// until waits until left, which selects the Stacks to wait for, selects none, or one of them is stalled.
func (w Watcher) until(ctx context.Context, seen map[string]State, left func([]State) ([]State, error)) error {
	for {
		states, err := w.look(ctx, seen)
		if err == nil {
			states, err = left(states)
		}
		if err != nil || len(states) == 0 {
			return err
		}
		if stalled := stuck(states); len(stalled) > 0 {
			return &StalledError{stalled}
		}
		if err := w.Sleep(ctx, w.Every); err != nil {
			return err
		}
	}
}

// Delete deletes the Stacks level by level, dependents first, and waits until each level is
// gone. It ends at a stalled Stack, whose prerequisites stay.
func (w Watcher) Delete(ctx context.Context) error {
	states, err := w.list(ctx)
	if err != nil {
		return err
	}
	seen := map[string]State{}
	for _, level := range levels(states) {
		var names []string
		for _, s := range level {
			names = append(names, s.Name)
			err := w.persist(ctx, func() error { return w.Stacks.Delete(ctx, s.Name, metav1.DeleteOptions{}) })
			if err != nil && !apierrors.IsNotFound(err) {
				return fmt.Errorf("deleting %s: %w", s.Name, err)
			}
		}
		if err := w.gone(ctx, names, seen); err != nil {
			return err
		}
	}
	return nil
}

// Adopt has Stacks that only preview run updates, if all their previews found no changes.
func (w Watcher) Adopt(ctx context.Context) error {
	states, err := w.list(ctx)
	if err != nil {
		return err
	}
	for _, s := range states {
		if !s.Previews {
			return fmt.Errorf("%s runs updates, so its changes cannot be previewed first; apply an export with --preview",
				s.Name)
		}
	}
	if err := w.Wait(ctx); err != nil {
		return err
	}
	const start = `{"spec":{"preview":false,"updateTemplate":{"spec":{"expectNoChanges":null}}}}`
	if err := w.patch(ctx, states, start); err != nil {
		return err
	}
	return w.Wait(ctx)
}

// Release takes the Stacks away and leaves everything that they have made.
func (w Watcher) Release(ctx context.Context) error {
	states, err := w.list(ctx)
	if err != nil {
		return err
	}
	if len(states) == 0 {
		return ErrNoStacks
	}
	const keep = `{"spec":{"destroyOnFinalize":false}}`
	if err := w.patch(ctx, states, keep); err != nil {
		return err
	}
	return w.Delete(ctx)
}

func (w Watcher) patch(ctx context.Context, states []State, patch string) error {
	options := metav1.PatchOptions{FieldManager: manager}
	for _, s := range states {
		err := w.persist(ctx, func() error {
			_, err := w.Stacks.Patch(ctx, s.Name, types.MergePatchType, []byte(patch), options)
			return err
		})
		if err != nil {
			return fmt.Errorf("changing %s: %w", s.Name, err)
		}
	}
	return nil
}

// gone waits until Stacks are gone.
func (w Watcher) gone(ctx context.Context, names []string, seen map[string]State) error {
	return w.until(ctx, seen, func(states []State) ([]State, error) {
		left := slices.DeleteFunc(states, func(s State) bool { return !slices.Contains(names, s.Name) })
		for _, name := range names {
			s, known := seen[name]
			if known && s.Phase != "gone" && !slices.ContainsFunc(left, func(s State) bool { return s.Name == name }) {
				s.Phase, s.Cause = "gone", ""
				seen[name] = s
				w.Tell(s)
			}
		}
		return left, nil
	})
}

// maxTries is how often a request is made until an answer comes.
const maxTries = 10

// persist makes a request again where the API server does not answer, or answers that
// it cannot at the moment.
func (w Watcher) persist(ctx context.Context, request func() error) error {
	for try := 1; ; try++ {
		err := request()
		if err == nil || try == maxTries || isAnswer(err) || ctx.Err() != nil {
			return err
		}
		if err := w.Sleep(ctx, w.Every); err != nil {
			return err
		}
	}
}

// isAnswer reports whether the same request would fail again: a refusal is an answer.
func isAnswer(err error) bool {
	var status apierrors.APIStatus
	if !errors.As(err, &status) {
		return false
	}
	code := status.Status().Code
	return code >= 400 && code < 500 && code != http.StatusRequestTimeout && code != http.StatusTooManyRequests
}

// list reads the Stacks, even if one request fails.
func (w Watcher) list(ctx context.Context) (states []State, err error) {
	err = w.persist(ctx, func() error {
		states, err = w.List(ctx)
		return err
	})
	return states, err
}

// look reads the Stacks and tells what has changed.
func (w Watcher) look(ctx context.Context, seen map[string]State) ([]State, error) {
	states, err := w.list(ctx)
	if err != nil {
		return nil, err
	}
	for i, s := range states {
		if w.Commit != "" && s.Follows && s.isDone() && !isCommit(s.Tried, w.Commit) {
			s.Phase, s.Cause = Unseen, "the commit "+w.Commit+" has not been tried"
			states[i] = s
		}
		if before, known := seen[s.Name]; !known || before.Phase != s.Phase || before.Cause != s.Cause {
			w.Tell(s)
		}
		seen[s.Name] = s
	}
	return states, nil
}

// isDone reports whether a Stack waits for nothing but a change of it, or a new commit.
// Of one whose programs cannot be had, it is not known for which commit.
func (s State) isDone() bool {
	return s.Phase == Ready || s.Phase == Stalled && strings.HasPrefix(s.Cause, "UpdateFailed") ||
		strings.HasPrefix(s.Cause, "PreviewFailed")
}

// isCommit reports whether a revision is a commit: of git the commit itself, of Flux
// such as main@sha1:COMMIT.
func isCommit(revision, commit string) bool {
	_, ofFlux, _ := strings.Cut(revision, ":")
	return strings.HasPrefix(cmp.Or(ofFlux, revision), commit)
}

// stuck returns the Stacks that cannot continue by themselves. A preview that fails because
// it finds changes fails again.
func stuck(states []State) []State {
	return slices.DeleteFunc(slices.Clone(states), func(s State) bool {
		return s.Phase != Stalled && !strings.HasPrefix(s.Cause, "PreviewFailed")
	})
}
