// Package deprovision waits until a cluster that is about to be destroyed has
// removed the load balancers and volumes that it has created in its cloud. They are
// not in Pulumi's state. If they outlive the cluster, they stay and cost money, and
// a load balancer keeps its network from being destroyed.
//
// Deleting the objects in the cluster is not enough. A Service keeps its
// finalizer until its load balancer is gone, but a claim may be gone a minute
// before its volume, which has to be detached first.
// https://github.com/eksctl-io/eksctl/issues/274
package deprovision

import (
	"context"
	"slices"
	"strings"
	"time"

	"mara/runner/internal/machine/interrupt"
)

// Options say which cluster to ask.
type Options struct {
	Kubeconfig []byte
	// Env is added to the process's environment for a command in the kubeconfig
	// that gets a token.
	Env map[string]string
	// Say reports progress.
	Say func(string)
}

const (
	interval = 5 * time.Second // between two requests
	// patience bounds the wait for resources that are being removed.
	patience = 10 * time.Minute
	// settling bounds the wait for resources that are not being removed, and for an
	// API server that does not answer. Both may change within seconds.
	settling = 30 * time.Second
)

// Resource is a load balancer or a volume that the cluster has created in its cloud.
type Resource struct {
	Name     string // "volume pvc-1 of claim shop/data"
	Removing bool   // it is being removed
	Retained bool   // its reclaim policy keeps it when the cluster is destroyed
}

// LeftError reports resources that the cluster does not remove.
type LeftError struct {
	What []string
}

func (e *LeftError) Error() string {
	return "the cluster would leave behind: " + strings.Join(e.What, "; ")
}

// UnknownError reports that the resources could not be listed: the API server does
// not answer, or refuses, as with 401 and 403.
type UnknownError struct{ Cause error }

func (e *UnknownError) Error() string {
	return "the load balancers and volumes of the cluster could not be listed: " + e.Cause.Error()
}

// Unwrap returns why the resources could not be listed.
func (e *UnknownError) Unwrap() error { return e.Cause }

// Wait waits until the cluster has removed every resource that is not retained. It
// returns an error as soon as a resource is not being removed for a while.
func Wait(ctx context.Context, o Options) error {
	api, err := connect(o.Kubeconfig, o.Env)
	if err != nil {
		return err
	}
	return wait(ctx, api.resources, o.Say)
}

// wait lists the resources until it can decide.
func wait(ctx context.Context, list func(context.Context) ([]Resource, error), say func(string)) error {
	w := newWatch(say)
	for {
		resources, err := list(ctx)
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		if done, err := w.decide(resources, err); done {
			return err
		}
		if err := interrupt.Sleep(ctx, interval); err != nil {
			return err
		}
	}
}

// watch is the state of a wait.
type watch struct {
	say      func(string)
	said     string
	began    time.Time
	progress time.Time // when a resource was last being removed
}

func newWatch(say func(string)) *watch {
	now := time.Now()
	return &watch{say: say, began: now, progress: now}
}

// decide reports whether the wait is over, and with which error.
func (w *watch) decide(resources []Resource, err error) (bool, error) {
	now := time.Now()
	if err != nil {
		return now.Sub(w.progress) >= settling, &UnknownError{Cause: err}
	}
	left := slices.DeleteFunc(slices.Clone(resources), func(r Resource) bool { return r.Retained })
	if len(left) == 0 {
		if len(resources) > 0 {
			w.sayOnce("the cluster keeps, by reclaim policy: " + strings.Join(names(resources), "; "))
		}
		return true, nil
	}
	if slices.ContainsFunc(left, func(r Resource) bool { return r.Removing }) {
		w.progress = now
	}
	w.sayOnce("waiting until the cluster has removed " + strings.Join(names(left), "; "))
	if now.Sub(w.progress) >= settling || now.Sub(w.began) >= patience {
		return true, &LeftError{What: names(left)}
	}
	return false, nil
}

// sayOnce reports a text that differs from the last one.
func (w *watch) sayOnce(text string) {
	if text != w.said {
		w.say(text)
		w.said = text
	}
}

func names(resources []Resource) []string {
	var names []string
	for _, r := range resources {
		names = append(names, r.Name)
	}
	return names
}
