// Package deprovision waits until a cluster that is about to be destroyed has
// removed the load balancers and volumes that it has made in its cloud. Pulumi
// does not know them. Once the cluster is gone, nobody removes them: they go on
// costing money, and a load balancer keeps its network from being destroyed.
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

	"mara/runner/internal/interrupt"

	"github.com/pulumi/pulumi/sdk/v3/go/common/slice"
)

// Options say which cluster to ask.
type Options struct {
	Kubeconfig []byte
	// Env is set, beside the process's own environment, for a command in the
	// kubeconfig that gets a token.
	Env map[string]string
	// Say reports progress.
	Say func(string)
}

const (
	interval = 5 * time.Second // between two questions
	// patience bounds the wait for resources that are being removed.
	patience = 10 * time.Minute
	// settling bounds the wait for resources that are not, and for an API server
	// that does not answer. Either may change within seconds.
	settling = 30 * time.Second
)

// Resource is a load balancer or a volume that the cluster has made in its cloud.
type Resource struct {
	Name     string // "volume pvc-1 of claim shop/data"
	Removing bool   // it is being removed
	Retained bool   // it is to stay when the cluster goes
}

// LeftError says that the cluster does not remove some resources.
type LeftError struct {
	What []string
}

func (e *LeftError) Error() string {
	return "the cluster would leave behind: " + strings.Join(e.What, "; ")
}

// UnknownError says that the cluster could not be asked: it does not answer, or refuses
// to, as with 401 and 403.
type UnknownError struct{ Cause error }

func (e *UnknownError) Error() string {
	return "what the cluster would leave behind is not known: " + e.Cause.Error()
}

// Unwrap returns why it could not be asked.
func (e *UnknownError) Unwrap() error { return e.Cause }

// Wait waits until the cluster has removed every resource that is not to stay. It
// fails as soon as that is not to be expected.
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

// watch is what a wait has seen and said so far.
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
			w.sayOnce("the cluster leaves behind, because it was told to: " + strings.Join(names(resources), "; "))
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

// sayOnce says what it has not just said.
func (w *watch) sayOnce(text string) {
	if text != w.said {
		w.say(text)
		w.said = text
	}
}

func names(resources []Resource) []string {
	return slice.Map(resources, func(r Resource) string { return r.Name })
}
