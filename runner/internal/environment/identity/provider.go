// Package identity checks that an environment stays the one that it was: that its
// provider changes only while nothing is deployed.
package identity

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"mara/config"
	"mara/runner/internal/environment/session"
	"mara/runner/internal/machine/failure"
	"mara/runner/internal/pulumi/stacks"
	"mara/runner/internal/repo/request"
)

// CheckProvider refuses another provider than before while projects have resources.
// The stacks of the session are open.
func CheckProvider(s *session.Session) error {
	before := request.ProviderBefore(s.Directory, s.Settings, s.Provider.Name)
	if before == "" {
		return nil
	}
	return RefuseProvider(s.Settings.Stack.Text, before, s.Provider.Name, deployedProjects(s, s.Stacks.Summary))
}

// deployedProjects returns the projects of any provider that have resources.
func deployedProjects(s *session.Session, summary func(project string) stacks.Summary) []string {
	return slices.DeleteFunc(knownProjects(s), func(project string) bool { return summary(project).Resources == 0 })
}

// knownProjects returns the names of the projects of all providers.
func knownProjects(s *session.Session) []string {
	var names []string
	for _, project := range s.Options.Known().Projects {
		names = append(names, project.Name)
	}
	return names
}

// DeployedProjects asks the backend which projects of the environment have resources.
func DeployedProjects(ctx context.Context, d session.Deps, o session.Options) (deployed []string, err error) {
	err = session.Use(d, o, (*session.Session).ResolveStack, func(s *session.Session) error {
		if !s.States().MayHaveStates() {
			return nil
		}
		set, err := readStacks(ctx, s)
		if err != nil {
			return err
		}
		deployed = deployedProjects(s, set.Summary)
		return nil
	})
	return deployed, err
}

// readStacks asks the backend which stacks the environment has. Files are read without
// an engine.
func readStacks(ctx context.Context, s *session.Session) (*stacks.Set, error) {
	if s.States().IsFile() {
		o := stacks.Options{Stack: s.Settings.Stack.Text, Names: s.Scope().Names, States: s.States()}
		var err error
		if o.Standings, err = o.StandingsIn(knownProjects(s)); err != nil {
			return nil, err
		}
		return stacks.Open(ctx, o)
	}
	o, err := s.OptionsToRead(ctx)
	if err != nil {
		return nil, err
	}
	return stacks.Open(ctx, o)
}

// RefuseProvider returns the error for another provider while projects are
// deployed, nil if none is.
func RefuseProvider(stack, before, asked string, deployed []string) error {
	if len(deployed) == 0 {
		return nil
	}
	const few = 4
	names := strings.Join(deployed[:min(few, len(deployed))], ", ")
	if more := len(deployed) - few; more > 0 {
		names += fmt.Sprintf(" and %d more", more)
	}
	return &failure.Environment{
		Text: fmt.Sprintf("the stack %q is deployed with the provider %s (%s), and %s was asked for; a stack never "+
			"changes its provider while something is deployed",
			stack, before, names, asked),
		Next: fmt.Sprintf("use -p %s; or name another stack for %s with -s NAME; or destroy this one first, with -p %s",
			before, asked, before),
	}
}

// KeepProvider writes the provider into the stack file that named another one. It
// returns what it changed, "" for nothing.
func KeepProvider(s *session.Session, write func(root, file string, content []byte) error) (string, error) {
	replaced := s.Settings.Replaced
	if !replaced.IsSet() || s.Options.Simulation.On {
		return "", nil
	}
	file, err := config.ReadStack(s.Settings.Root, s.Settings.Stack.Text)
	if err != nil {
		return "", err
	}
	content, err := file.Edit(config.Change{Key: config.InfraType, Value: s.Provider.Name})
	if err != nil {
		return "", err
	}
	if err := write(s.Settings.Root, file.File, content); err != nil {
		return "", err
	}
	return fmt.Sprintf("%s: %s is now %s (was %s)", file.File, config.InfraType, s.Provider.Name, replaced.Text), nil
}
