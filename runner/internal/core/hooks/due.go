package hooks

import (
	"context"
	"fmt"
	"slices"
	"time"

	"mara/projects/model"
	"mara/projects/model/cloud"
	"mara/projects/model/operation"
	"mara/runner/internal/core/event"
	"mara/runner/internal/core/plan"
	"mara/runner/internal/machine/reach"
)

// answerLimit is how long an application may take to answer whether it is there.
const answerLimit = 3 * time.Second

// IsDue reports whether a hook must run although nothing has changed for its
// project: every command of the user's; the merge of a kubeconfig that is not in
// place, or whose cluster does not answer; and the wait for an application that
// does not. An up also starts the nodes of a cluster on this machine. The outputs
// are those of the project.
func (h Hooks) IsDue(ctx context.Context, op operation.Operation, step plan.Step, outputs map[string]any) bool {
	if h.Provider.Local && h.Nodes != nil && !h.Simulated && step.Project.Name == h.Provider.ClusterProject && !h.nodesRun(ctx, outputs) {
		return true
	}
	return slices.ContainsFunc(step.Project.Hooks, func(hook model.Hook) bool {
		switch {
		case hook.On == model.OnFailure || !hook.For(op):
			return false
		case hook.Command != nil:
			return !h.Simulated || hook.Simulate // otherwise it would not run
		case hook.Name == model.HookKubeconfig:
			return !h.hasKubeconfig(ctx)
		case hook.Name == model.HookReachable:
			return !h.answers(ctx, outputs)
		}
		return true
	})
}

// hasKubeconfig reports whether the user's kubeconfig leads to the cluster, and
// the cluster is there.
func (h Hooks) hasKubeconfig(ctx context.Context) bool {
	content, ok := h.entries().Current()
	if !ok || h.Simulated {
		return ok
	}
	return h.askCluster(ctx, content) == nil
}

// nodesRun reports whether all nodes of a cluster on this machine run.
func (h Hooks) nodesRun(ctx context.Context, outputs map[string]any) bool {
	name, _ := outputs["cluster_name"].(string)
	run, err := h.Nodes.Run(ctx, h.machine(), name)
	return err == nil && run
}

// answers reports whether the application answers; a simulated one is not asked.
func (h Hooks) answers(ctx context.Context, outputs map[string]any) bool {
	address, _ := outputs["application_url"].(string)
	if address == "" || h.Simulated {
		return address != ""
	}
	ctx, cancel := context.WithTimeout(ctx, answerLimit)
	defer cancel()
	return h.request()(ctx, address) == nil
}

// request returns the function that requests an application.
func (h Hooks) request() func(ctx context.Context, address string) error {
	if h.ask != nil {
		return h.ask
	}
	return reach.Through(cloud.Proxy(h.Env))
}

// How often an application is asked, and for how long: a load balancer of a
// cloud and its name take some minutes.
const (
	askEvery = 2 * time.Second
	askLimit = 5 * time.Minute
)

// How long the DNS may not know the application's name. That of a new load
// balancer appears after a minute or two, and resolvers remember for one that it
// did not exist. On this machine no name is made, so that one that is missing
// was never registered.
const (
	cloudName = 2 * time.Minute
	localName = 10 * time.Second
)

// awaitAnswer waits until the application answers, and tells where it is. On
// this machine it has to; elsewhere there may be no way from here, which is a
// warning.
func (h Hooks) awaitAnswer(ctx context.Context, project string, emit func(event.Event)) error {
	outputs, err := h.Stacks.Outputs(ctx, project, false)
	if err != nil {
		return err
	}
	address, _ := outputs["application_url"].(string)
	if address == "" {
		return fmt.Errorf("%s has no output application_url", project)
	}
	if h.Simulated {
		event.Say(emit, event.Info, "SIMULATED: nothing answers at %s, and it is not requested", address)
		return nil
	}
	unknown := cloudName
	if h.Provider.Local {
		unknown = localName
	}
	event.Say(emit, event.Info, "waiting until %s answers", address)
	err = reach.Until(ctx, address, reach.Options{Ask: h.request(), Every: askEvery, Limit: askLimit, Unknown: unknown})
	switch {
	case err == nil:
		event.Say(emit, event.Info, "%s answers", address)
	case ctx.Err() == nil && !h.Provider.Local:
		event.Say(emit, event.Warning, "%v; perhaps it cannot be reached from this machine", err)
		return nil
	}
	return err
}
