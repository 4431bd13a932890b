package session

import (
	"context"
	"fmt"

	"mara/operation"
	"mara/projects"
	"mara/runner/internal/event"
	"mara/runner/internal/kubeconfig"
	"mara/runner/internal/plan"
)

// HookFunc is what the executor calls when a step has succeeded.
type HookFunc func(ctx context.Context, step plan.Step, hook string, emit func(event.Event)) error

// Hook does the hooks of an operation: destroy undoes what up did.
func (s *Session) Hook(op operation.Operation) HookFunc {
	return func(ctx context.Context, step plan.Step, hook string, emit func(event.Event)) error {
		s.log.Debug("hook", "name", hook, "project", step.Project.Name, "operation", op)
		switch projects.Hook(hook) {
		case projects.HookKubeconfig:
			if op.Destroys() {
				return s.forgetKubeconfig(ctx, emit)
			}
			return s.mergeKubeconfig(ctx, step.Project.Name, emit)
		case projects.HookReachable:
			return s.awaitAnswer(ctx, step.Project.Name, emit)
		}
		return fmt.Errorf("this runner has no hook %q", hook)
	}
}

// mergeKubeconfig puts the cluster's entries into the user's kubeconfig.
func (s *Session) mergeKubeconfig(ctx context.Context, project string, emit func(event.Event)) error {
	content, err := s.clusterKubeconfig(ctx, project)
	if err != nil {
		return err
	}
	if content == nil {
		return fmt.Errorf("%s has no output kubeconfig", project)
	}
	name := s.contextName()
	file, err := kubeconfig.Merge(ctx, s.kubeconfigFiles(), content, name)
	if err != nil {
		return err
	}
	emit(event.Event{Type: event.StepLog, Severity: event.Info, Message: fmt.Sprintf("context %s is in %s", name, file)})
	return nil
}

// clusterKubeconfig is the kubeconfig that a cluster project exports; nil when
// it exports none. From here on it is masked.
func (s *Session) clusterKubeconfig(ctx context.Context, project string) ([]byte, error) {
	outputs, err := s.Stacks.Outputs(ctx, project, true)
	if err != nil {
		return nil, err
	}
	text, _ := outputs["kubeconfig"].(string)
	if text == "" {
		return nil, nil
	}
	s.Masker.Add(text)
	text, err = projects.DecodeKubeconfig(text)
	if err != nil {
		return nil, fmt.Errorf("the output kubeconfig %w", err)
	}
	s.Masker.Add(append(kubeconfig.Secrets([]byte(text)), text)...)
	return []byte(text), nil
}

func (s *Session) forgetKubeconfig(ctx context.Context, emit func(event.Event)) error {
	files, err := kubeconfig.Remove(ctx, s.kubeconfigFiles(), s.contextName())
	for _, file := range files {
		emit(event.Event{Type: event.StepLog, Severity: event.Info, Message: fmt.Sprintf("context %s is removed from %s", s.contextName(), file)})
	}
	return err
}

// contextName names the entries after the environment.
func (s *Session) contextName() string {
	return kubeconfig.Name(s.Provider.Name, s.Settings.Stack.Text)
}

// kubeconfigFiles are the user's kubeconfig files; a simulation has its own.
func (s *Session) kubeconfigFiles() []string {
	if s.options.Simulation.On {
		return []string{s.Folder.Kubeconfig()}
	}
	return kubeconfig.Files(s.Env["KUBECONFIG"], s.Env["HOME"])
}
