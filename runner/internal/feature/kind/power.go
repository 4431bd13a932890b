// Package kind stops and starts the containers of an environment whose cluster runs on this machine. Nothing in them
// is lost: kind's nodes keep their disks, and the registry its volume.
package kind

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"mara/projects"
	"mara/runner/internal/core/session"
	"mara/runner/internal/feature/kind/containers"
	"mara/runner/internal/feature/kind/kindnodes"
	"mara/runner/internal/machine/failure"
)

// Containers are those of an environment: the nodes of its cluster, and its registry.
type Containers struct {
	runtime  *containers.Runtime
	nodes    kindnodes.Nodes
	registry []containers.Container // none or one
}

// Find finds the containers of an environment. Containers of the same names that another stack or
// program has created are not among them.
func Find(ctx context.Context, s *session.Reading) (Containers, error) {
	if !s.Provider.Local {
		return Containers{}, &failure.Environment{Text: fmt.Sprintf("the cluster of %s does not run on this machine: "+
			"it is made by the provider %s", s.Settings.Stack.Text, s.Provider.Name)}
	}
	hooks := s.Hooks()
	name, uid, err := hooks.LocalCluster(ctx)
	if err != nil {
		return Containers{}, err
	}
	if name == "" {
		return Containers{}, &failure.Environment{
			Text: s.Provider.ClusterProject + " is not deployed, so that there is nothing to stop or start",
			Next: "`" + s.Command("up") + "` makes the cluster"}
	}
	found := Containers{}
	if found.runtime, err = containers.FindIn(hooks.Env, hooks.Runtime); err != nil {
		return Containers{}, &failure.Environment{Text: err.Error()}
	}
	if found.nodes, err = kindnodes.Find(ctx, found.runtime, name); err != nil {
		return Containers{}, err
	}
	if !found.nodes.Bear(uid) {
		return Containers{}, &failure.Environment{Text: "the nodes of the cluster " + name + " are gone",
			Next: "`" + s.Command("up") + "` makes it again"}
	}
	registry, ok, err := found.runtime.Find(ctx, projects.KindRegistryName(s.Settings.Stack.Text))
	if ok && registry.Labels[kindnodes.OwnerLabel] != "" {
		found.registry = []containers.Container{registry}
	}
	return found, err
}

// Halted lists the containers that do not run, each with its state.
func (c Containers) Halted() []string {
	var halted []string
	for _, one := range slices.Concat(c.nodes, c.registry) {
		if one.State != containers.Running {
			halted = append(halted, fmt.Sprintf("%s (%s)", one.Name, one.State))
		}
	}
	return halted
}

// Stop stops the containers that run, and returns their names.
func (c Containers) Stop(ctx context.Context) (names []string, err error) {
	return turn(ctx, slices.Concat(c.nodes, c.registry), containers.Stopped, "stopping", c.runtime.Stop)
}

// Start starts the containers that do not run, returns their names, and waits until the API server is ready.
func (c Containers) Start(ctx context.Context) (names []string, err error) {
	names, err = turn(ctx, slices.Concat(c.registry, c.nodes), containers.Running, "starting", c.runtime.Resume)
	if err != nil {
		return names, err
	}
	if err := c.nodes.AwaitReady(ctx, c.runtime, kindnodes.ReadyLimit); err != nil {
		return names, errors.Join(fmt.Errorf("started %s", strings.Join(names, ", ")), err)
	}
	return names, nil
}

// turn brings containers into a state, and returns the names of the ones that were not in it.
func turn(ctx context.Context, all []containers.Container, to containers.State, doing string,
	bring func(context.Context, ...containers.Container) error) (names []string, err error) {
	for _, one := range all {
		if one.State == to {
			continue
		}
		if err := bring(ctx, one); err != nil {
			return names, fmt.Errorf("%s %s: %w", doing, one.Name, err)
		}
		names = append(names, one.Name)
	}
	return names, nil
}
