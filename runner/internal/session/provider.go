package session

import (
	"cmp"
	"context"
	"fmt"
	"strings"

	"github.com/pulumi/pulumi/sdk/v3/go/common/slice"

	"mara/config"
	"mara/projects"
	"mara/runner/internal/failure"
	"mara/runner/internal/request"
	"mara/runner/internal/stacks"
)

// ProviderBefore returns the provider that the environment had so far, "" if it is the
// same: the stack file or the record of its first deployment names it.
func (s *Session) ProviderBefore() string {
	before := cmp.Or(request.RecordedProvider(s.Folder, s.Settings.Stack.Text), s.Settings.Replaced.Text)
	if before == s.Provider.Name {
		return ""
	}
	return before
}

// CheckProviderChange refuses another provider than before while projects have
// resources. The stacks are open.
func (s *Session) CheckProviderChange() error {
	before := s.ProviderBefore()
	if before == "" {
		return nil
	}
	return RefuseProviderChange(s.Settings.Stack.Text, before, s.Provider.Name, s.deployedProjects(s.Stacks.Summary))
}

// deployedProjects returns the projects of any provider that have resources.
func (s *Session) deployedProjects(summary func(project string) stacks.Summary) []string {
	var deployed []string
	for _, project := range s.Options.Known().Projects {
		if summary(project.Name).Resources > 0 {
			deployed = append(deployed, project.Name)
		}
	}
	return deployed
}

// DeployedProjects asks the backend which projects of the environment have resources.
func DeployedProjects(ctx context.Context, d Deps, o Options) (deployed []string, err error) {
	err = Use(d, o, (*Session).ResolveStack, func(s *Session) error {
		if !s.States().MayHaveStates() {
			return nil
		}
		set, err := s.readStacks(ctx)
		if err != nil {
			return err
		}
		deployed = s.deployedProjects(set.Summary)
		return nil
	})
	return deployed, err
}

// readStacks asks the backend which stacks the environment has. Files are read without
// an engine.
func (s *Session) readStacks(ctx context.Context) (*stacks.Set, error) {
	if s.States().IsFile() {
		o := stacks.Options{Stack: s.Settings.Stack.Text, States: s.States()}
		standings, err := o.StandingsIn(slice.Map(s.Options.Known().Projects, func(project projects.Project) string { return project.Name }))
		if err != nil {
			return nil, err
		}
		o.Standings = standings
		return stacks.Open(ctx, o)
	}
	o, err := s.OptionsToRead(ctx)
	if err != nil {
		return nil, err
	}
	return stacks.Open(ctx, o)
}

// RefuseProviderChange returns the error for another provider while projects are
// deployed, nil if none is.
func RefuseProviderChange(stack, before, asked string, deployed []string) error {
	if len(deployed) == 0 {
		return nil
	}
	const few = 4
	names := strings.Join(deployed[:min(few, len(deployed))], ", ")
	if more := len(deployed) - few; more > 0 {
		names += fmt.Sprintf(" and %d more", more)
	}
	return &failure.Environment{
		Text: fmt.Sprintf("the stack %q is deployed with the provider %s (%s), and %s was asked for; a stack never changes its provider while something is deployed",
			stack, before, names, asked),
		Next: fmt.Sprintf("use -p %s; or name another stack for %s with -s NAME; or destroy this one first, with -p %s", before, asked, before),
	}
}

// KeepProvider writes the provider into the stack file that named another one. It
// returns what it changed, "" for nothing.
func (s *Session) KeepProvider(write func(root, file string, content []byte) error) (string, error) {
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
