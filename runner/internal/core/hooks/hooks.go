// Package hooks does the work around the steps of a run: it runs the commands of
// the user, merges a cluster's kubeconfig, waits for the application, says which
// Pods are not ready, and empties a cluster before it is destroyed.
package hooks

import (
	"context"
	"fmt"
	"log/slog"

	"mara/config"
	"mara/projects/model"
	"mara/projects/model/operation"
	"mara/runner/internal/core/event"
	"mara/runner/internal/core/executor"
	"mara/runner/internal/core/stacks"
	"mara/runner/internal/kube/kubeconfig"
	"mara/runner/internal/machine/layout"
)

// Hooks are those of one environment.
type Hooks struct {
	Stacks     *stacks.Set
	Provider   model.Provider
	Values     config.Values // the configuration, with the defaults of keys
	Stack      string
	Root       string                                        // of the configuration
	Env        map[string]string                             // of Pulumi and its plugins
	Variables  func(project model.Project) map[string]string // that mara.yaml gives to a project; nil for none
	Runtime    string                                        // the configured container runtime; "" for the first one on the PATH
	Nodes      Nodes                                         // of clusters on this machine; nil leaves them alone
	Directory  layout.Runner
	Simulated  bool
	UseContext bool // the environment's context becomes the current one of kubectl
	Masker     *event.Masker
	Log        *slog.Logger
	// LeaveBehind lets a cluster be destroyed that may leave load balancers and volumes.
	LeaveBehind bool

	// Replaced in tests; nil for the network.
	ask   func(ctx context.Context, address string) error                           // requests an application
	probe func(ctx context.Context, kubeconfig []byte, env map[string]string) error // requests a cluster
}

// Nodes are the nodes of clusters on this machine.
type Nodes interface {
	// Run reports whether all nodes of a cluster run.
	Run(ctx context.Context, m Machine, cluster string) (bool, error)
	// Revive starts the nodes of a cluster that are stopped.
	Revive(ctx context.Context, m Machine, cluster, uid string, say func(text string)) error
}

// Machine is where the nodes of a cluster are.
type Machine struct {
	Env     map[string]string
	Runtime string // the configured container runtime; "" for the first one on the PATH
}

func (h Hooks) machine() Machine { return Machine{h.Env, h.Runtime} }

// Hook does the hooks of an operation: destroy undoes what up did.
func (h Hooks) Hook(op operation.Operation) func(context.Context, executor.HookCall, func(event.Event)) error {
	return func(ctx context.Context, call executor.HookCall, emit func(event.Event)) error {
		name, project := call.Hook.Name, call.Step.Project.Name
		h.Log.Debug("hook", "name", name, "project", project, "operation", op)
		switch {
		case call.Hook.On == model.Before && project != "" && !op.RunsPrograms() && !h.Stacks.IsDeployed(project):
			return nil // the operation has nothing to do
		case call.Hook.Command != nil:
			return h.runCommand(ctx, op, call, emit)
		case name == model.HookKubeconfig && op.Destroys():
			return h.forgetKubeconfig(ctx, emit)
		case name == model.HookKubeconfig:
			return h.mergeKubeconfig(ctx, project, emit)
		case name == model.HookReachable:
			return h.awaitAnswer(ctx, project, emit)
		}
		return fmt.Errorf("this runner has no hook %q", name)
	}
}

// mergeKubeconfig puts the cluster's entries into the user's kubeconfig. It warns if the cluster does not answer.
func (h Hooks) mergeKubeconfig(ctx context.Context, project string, emit func(event.Event)) error {
	content, err := h.ClusterKubeconfig(ctx, project)
	if err != nil {
		return err
	}
	if content == nil {
		return fmt.Errorf("%s has no output kubeconfig", project)
	}
	merged, err := h.entries().Merge(ctx, content)
	if err != nil {
		return err
	}
	current := "it is the current one"
	if merged.Current != merged.Context {
		current = fmt.Sprintf("%s stays the current one", merged.Current)
	}
	event.Say(emit, event.Info, "context %s is in %s; %s", merged.Context, merged.File, current)
	if h.Simulated {
		return nil
	}
	// Projects that change nothing in the cluster do not ask it, and succeed.
	if err := h.askCluster(ctx, content); err != nil && ctx.Err() == nil {
		emit(event.Event{Type: event.RunWarning, Message: fmt.Sprintf(
			"the cluster does not answer: %v; projects that change nothing in it succeed all the same", err)})
	}
	return nil
}

// askCluster fails if the cluster does not answer.
func (h Hooks) askCluster(ctx context.Context, content []byte) error {
	if h.probe != nil {
		return h.probe(ctx, content, h.Env)
	}
	return kubeconfig.Probe(ctx, content, h.Env)
}

// Probe returns an error if the API server of the cluster that a project exports cannot be reached.
func (h Hooks) Probe(ctx context.Context, project string) error {
	content, err := h.ClusterKubeconfig(ctx, project)
	if err != nil {
		return err
	}
	if content == nil {
		return fmt.Errorf("%s has no output kubeconfig", project)
	}
	return h.askCluster(ctx, content)
}

// ClusterKubeconfig returns the kubeconfig that a cluster project exports; nil if it
// exports none. It also masks the kubeconfig's secrets.
func (h Hooks) ClusterKubeconfig(ctx context.Context, project string) ([]byte, error) {
	outputs, err := h.Stacks.Outputs(ctx, project, true)
	if err != nil {
		return nil, err
	}
	text, _ := outputs["kubeconfig"].(string)
	if text == "" {
		return nil, nil
	}
	h.Masker.Add(text)
	text, err = model.DecodeKubeconfig(text)
	if err != nil {
		return nil, fmt.Errorf("the output kubeconfig %w", err)
	}
	h.Masker.Add(append(kubeconfig.Secrets([]byte(text)), text)...)
	return []byte(text), nil
}

func (h Hooks) forgetKubeconfig(ctx context.Context, emit func(event.Event)) error {
	removed, err := h.entries().Remove(ctx)
	for _, place := range removed {
		event.Say(emit, event.Info, "context %s is removed from %s", place.Context, place.File)
	}
	return err
}

// entries identifies the environment's entries in the user's kubeconfig files, or in
// the file of simulations.
func (h Hooks) entries() kubeconfig.Entries {
	files := kubeconfig.Files(h.Env["KUBECONFIG"], h.Env["HOME"])
	if h.Simulated {
		files = []string{h.Directory.Kubeconfig()}
	}
	return kubeconfig.Entries{
		Files: files, Name: kubeconfig.Name(h.Provider.Name, h.Stack), Root: h.Root, UseContext: h.UseContext,
	}
}
