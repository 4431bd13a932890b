package session

import (
	"context"
	"maps"

	"mara/runner/internal/failure"
	"mara/runner/internal/preflight"
	"mara/runner/internal/simulate"
	"mara/runner/internal/simulate/packages"
)

// SimulateClouds serves the simulated clouds, and lets Pulumi know where. What
// cannot be checked is a warning.
func (s *Session) SimulateClouds(ctx context.Context) error {
	o, err := s.simulation()
	if err != nil {
		return err
	}
	if s.Options.Simulation.Cluster != "" {
		if o.Admit, err = s.askCluster(ctx); err != nil {
			return err
		}
	}
	finder := packages.Finder{
		Files: s.Options.Simulation.Schemas, Home: preflight.PulumiHome(s.Options.Sources.File.Merge(s.Options.Sources.Process)),
	}
	all, warnings, err := finder.Complete(ctx, s.Deps.Clouds(), s.usedPackages())
	if err != nil {
		return failure.Usagef("", "--simulate-schema: %v", err)
	}
	s.Warnings = append(s.Warnings, warnings...)
	// The clouds outlive ctx: an operation that is being cancelled still talks to them.
	clouds, err := simulate.Start(context.WithoutCancel(ctx), all, o)
	if err != nil {
		return err
	}
	s.OnClose(clouds.Close)
	maps.Copy(s.Env, clouds.Env())
	return s.linkHosts()
}

// usedPackages are those that own projects name, or have deployed resources of.
func (s *Session) usedPackages() []packages.Used {
	var used []packages.Used
	for _, project := range s.Provider.Own() {
		used = append(used, packages.UsedBy(project.Own.Dir)...)
		state, _ := s.States().Read(project.Name) // one that cannot be read is told elsewhere
		used = append(used, packages.InState(state)...)
	}
	return used
}

// simulation is how the clouds behave, as the flags have it.
func (s *Session) simulation() (simulate.Options, error) {
	o := simulate.Options{Speed: s.Options.Simulation.Speed, Dir: s.Folder.Clouds(s.Settings.Stack.Text), Log: s.Log, Admit: s.Options.Simulation.Admit}
	for _, text := range s.Options.Simulation.Fail {
		fault, err := simulate.ParseFault(text)
		if err != nil {
			return o, failure.Usagef("", "--simulate-fail: %v", err)
		}
		o.Fail = append(o.Fail, fault)
	}
	for _, text := range s.Options.Simulation.Slow {
		delay, err := simulate.ParseDelay(text)
		if err != nil {
			return o, failure.Usagef("", "--simulate-slow: %v", err)
		}
		o.Slow = append(o.Slow, delay)
	}
	return o, nil
}
