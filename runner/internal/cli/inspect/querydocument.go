package inspect

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"mara/runner/internal/cli/cmd"
	"mara/runner/internal/environment/inventory"
	"mara/runner/internal/environment/session"
	"mara/runner/internal/guard/query"
	"mara/runner/internal/kube/live"
	"mara/runner/internal/machine/failure"
)

// collected is the input of a query.
type collected struct {
	query.Document
	unread []string // environments that could not be read completely
}

// incomplete returns an error if an environment could not be read completely: "no results"
// and "no findings" would be unproven.
func (c collected) incomplete() error {
	if len(c.unread) == 0 {
		return nil
	}
	return &failure.Environment{
		Text: "the result is incomplete: " + strings.Join(c.unread, ", ") + " could not be read; see the warnings",
		Next: "choose one environment with -s NAME",
	}
}

// collect reads the input of a query.
func collect(ctx context.Context, d cmd.Deps, o queryOptions, q query.Named) (document collected, err error) {
	err = session.Use(d.Deps, o.Options, (*session.Session).ResolveRoot, func(s *session.Session) error {
		return collectIn(ctx, d, o, s, q, &document)
	})
	return document, err
}

func collectIn(ctx context.Context, d cmd.Deps, o queryOptions, s *session.Session, q query.Named,
	document *collected) error {
	own := s.Scope()
	states, err := inventory.States(ctx, s, func(environment string, projects []string) []string {
		if o.Stack.IsSet() && environment != o.Stack.Text {
			return nil
		}
		return own.In(environment).Choose(environment, projects)
	})
	var incomplete *inventory.IncompleteError
	if errors.As(err, &incomplete) && (!o.Stack.IsSet() || states[o.Stack.Text] == nil) {
		fmt.Fprintf(d.Stderr, "warning: %v\n", incomplete)
		document.unread = append(document.unread, "some environments")
	} else if err != nil && incomplete == nil {
		return err
	}
	if o.Stack.IsSet() && states[o.Stack.Text] == nil {
		return &failure.Environment{Text: fmt.Sprintf("the stack %s is not deployed", o.Stack.Text),
			Next: "`runner stacks` lists the environments"}
	}
	for _, stack := range slices.Sorted(maps.Keys(states)) {
		projects := slices.Sorted(maps.Keys(states[stack]))
		e := query.Environment{Stack: stack, Provider: providerOfStack(s, o.Common, stack, projects)}
		if q.State {
			if err := addStates(document, e, projects, states[stack]); err != nil {
				return err
			}
		}
		if !q.Live {
			continue
		}
		if err := addObjects(ctx, d, o, document, e, q); err != nil {
			return err
		}
	}
	return nil
}

func addStates(document *collected, e query.Environment, projects []string, states map[string]json.RawMessage) error {
	for _, project := range projects {
		items, err := query.FromState(e, project, states[project])
		if err != nil {
			return err
		}
		document.Add(items)
	}
	return nil
}

// addObjects adds the objects in a cluster, or warns that it cannot be read.
func addObjects(ctx context.Context, d cmd.Deps, o queryOptions, document *collected, e query.Environment,
	q query.Named) error {
	objects, err := objectsOf(ctx, d, o, e, q)
	if err != nil && ctx.Err() != nil {
		return context.Cause(ctx)
	}
	if err != nil {
		fmt.Fprintf(d.Stderr, "warning: %s is skipped: %v\n", e.Stack, err)
		if !errors.Is(err, errNoCluster) {
			document.unread = append(document.unread, "the cluster of "+e.Stack)
		}
		return nil
	}
	var items []any
	for _, object := range objects {
		item, err := query.FromObject(e, object)
		if err != nil {
			return err
		}
		items = append(items, item)
	}
	document.Add(items)
	return nil
}

func objectsOf(ctx context.Context, d cmd.Deps, o queryOptions, e query.Environment, q query.Named) (objects [][]byte,
	err error) {
	err = inCluster(ctx, d, o, e.Stack, q, func(_ *session.Session, options live.Options) error {
		objects, err = live.List(ctx, options)
		return err
	})
	return objects, err
}

// errNoCluster is the error of an environment without a cluster.
var errNoCluster = errors.New("it has no cluster")

// inCluster opens an environment and calls ask for its cluster.
func inCluster(ctx context.Context, d cmd.Deps, o queryOptions, stack string, q query.Named,
	ask func(*session.Session, live.Options) error) error {
	options := o.Options
	options.Request = o.Of(stack)
	return session.Use(d.Deps, options, (*session.Session).Resolve, func(s *session.Session) error {
		if err := session.OpenToReveal(ctx, s); err != nil {
			return err
		}
		kubeconfig, err := s.Hooks().ClusterKubeconfig(ctx, s.Provider.ClusterProject)
		if err == nil && kubeconfig == nil {
			err = errNoCluster
		}
		if err != nil {
			return err
		}
		return ask(s, live.Options{
			Kubeconfig: kubeconfig, Env: s.Env, Kinds: q.Kinds, Namespace: o.Namespace, Selector: o.Selector, Timeout: o.Timeout,
		})
	})
}
