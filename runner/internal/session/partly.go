package session

import (
	"context"

	"mara/config"
	"mara/projects"
	"mara/runner/internal/layout"
	"mara/runner/internal/plan"
	"mara/runner/internal/stacks"
)

// OpenForSecrets opens as much of the environment as secrets need: its provider
// may still be unknown.
func (s *Session) OpenForSecrets() error {
	if err := s.configure(); err != nil {
		return err
	}
	named, err := s.rememberedProvider(s.Settings.Provider)
	if err != nil || !named.IsSet() {
		return err
	}
	if s.Provider, err = ProviderOf(named); err != nil {
		return err
	}
	s.Plan, err = plan.New(s.Provider)
	return err
}

// DeclaredSecrets are the secrets of the plan's projects, of all projects as
// long as the provider is unknown.
func (s *Session) DeclaredSecrets() []projects.Secret {
	if s.Provider.Name == "" {
		return allSecrets()
	}
	return s.planSecrets()
}

// ConfigureRoot makes what all environments of a root have in common.
func (s *Session) ConfigureRoot() error {
	if s.options.Root == "" {
		return s.options.NeedRoot()
	}
	settings, err := config.ResolveRoot(config.Request{Root: s.options.Root, Sources: s.options.Sources, Simulate: s.options.Simulation.On})
	if err != nil {
		return err
	}
	s.Settings, s.Env, s.Folder = settings, settings.Environ(), layout.Of(s.options.Root, s.options.Simulation.On)
	return nil
}

// DeployedStacks asks the backend, if it can have any.
func (s *Session) DeployedStacks(ctx context.Context) (map[string]map[string]stacks.Summary, error) {
	if !s.HasState() {
		return nil, nil
	}
	engine, err := s.startEngine(ctx)
	if err != nil {
		return nil, err
	}
	work, err := s.workFolder(ToLook)
	if err != nil {
		return nil, err
	}
	organization, err := s.organization(ctx, engine, work)
	if err != nil {
		return nil, err
	}
	return stacks.ListAll(ctx, stacks.Options{Command: engine, Organization: organization, WorkDir: work, Env: s.Env, Masker: s.Masker})
}
