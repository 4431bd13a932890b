// Package remains sees to it that a cluster leaves nothing behind: it waits
// until the load balancers and volumes that the cluster has made in its cloud
// are gone. Pulumi does not know them, and once the cluster is gone nobody is
// left who would remove them; they would go on costing money, and a load
// balancer would keep its network from being destroyed.
//
// Who destroys the objects does not wait for all of this. A Service keeps its
// finalizer until its load balancer is gone, but a claim may be gone a minute
// before its volume: that has to be detached first.
// https://github.com/eksctl-io/eksctl/issues/274
package remains

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"
)

// Options say where to look and how long to wait.
type Options struct {
	Kubeconfig []byte
	// Env is set, beside the process's own environment, for a command in the
	// kubeconfig that gets a token.
	Env map[string]string
	// Say is told what is waited for.
	Say func(string)
}

// The times of waiting.
const (
	interval = 5 * time.Second
	// patience is for what is on its way out.
	patience = 10 * time.Minute
	// settling is for what does not look like it, or for an API server that
	// does not answer: both may be a matter of seconds.
	settling = 30 * time.Second
)

// Thing is something in the cloud that a cluster has made.
type Thing struct {
	What  string // "volume pvc-1 of claim shop/data"
	Going bool   // it is being removed
	Kept  bool   // it is meant to outlive the cluster
}

// LeftError is the error of a wait that came to nothing.
type LeftError struct {
	What []string
}

func (e *LeftError) Error() string {
	return "the cluster would leave behind: " + strings.Join(e.What, "; ")
}

// UnreachableError is the error when the cluster does not answer.
type UnreachableError struct{ Cause error }

func (e *UnreachableError) Error() string {
	return "what the cluster would leave behind is not known, for it does not answer: " + e.Cause.Error()
}

// Unwrap returns why it does not answer.
func (e *UnreachableError) Unwrap() error { return e.Cause }

// Wait returns when the cluster has nothing left that would outlive it, or an
// error when that is not to be expected.
func Wait(ctx context.Context, o Options) error {
	api, err := connect(o.Kubeconfig, o.Env)
	if err != nil {
		return err
	}
	return wait(ctx, api.things, o.Say)
}

// wait looks again and again.
func wait(ctx context.Context, look func(context.Context) ([]Thing, error), say func(string)) error {
	began := time.Now()
	ticker := time.NewTicker(interval)
	defer ticker.Stop()
	w := watch{say: say, moved: began}
	for {
		things, err := look(ctx)
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		if done, err := w.judge(things, err, began); done {
			return err
		}
		select {
		case <-ticker.C:
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}

// watch remembers what was there before.
type watch struct {
	say   func(string)
	said  string
	moved time.Time // when something was last seen on its way out
}

// judge decides whether it is time to stop, and with what.
func (w *watch) judge(things []Thing, err error, began time.Time) (bool, error) {
	now := time.Now()
	if err != nil {
		return now.Sub(w.moved) >= settling, &UnreachableError{Cause: err}
	}
	left := slices.DeleteFunc(slices.Clone(things), func(t Thing) bool { return t.Kept })
	if len(left) == 0 {
		w.tellKept(things)
		return true, nil
	}
	if slices.ContainsFunc(left, func(t Thing) bool { return t.Going }) {
		w.moved = now
	}
	w.tell("waiting until the cluster has removed " + strings.Join(names(left), "; "))
	if now.Sub(w.moved) >= settling || now.Sub(began) >= patience {
		return true, &LeftError{What: names(left)}
	}
	return false, nil
}

// tellKept says what stays because the user has wanted it to.
func (w *watch) tellKept(things []Thing) {
	if len(things) > 0 {
		w.tell(fmt.Sprintf("the cluster leaves behind, because it was told to: %s", strings.Join(names(things), "; ")))
	}
}

// tell says a thing once.
func (w *watch) tell(text string) {
	if text != w.said {
		w.say(text)
		w.said = text
	}
}

func names(things []Thing) []string {
	names := make([]string, len(things))
	for i, thing := range things {
		names[i] = thing.What
	}
	return names
}
