// Package identity checks that an environment stays the one that it was: that its
// provider changes only while nothing is deployed.
package identity

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"mara/config"
	"mara/config/lists"
	"mara/projects/model"
	"mara/runner/internal/core/event"
	"mara/runner/internal/core/refusal"
	"mara/runner/internal/core/request"
	"mara/runner/internal/core/session"
	"mara/runner/internal/core/stacks"
	"mara/runner/internal/machine/failure"
	"mara/runner/internal/machine/typeset"
)

// CheckProvider refuses another provider than before while projects have resources.
func CheckProvider(s *session.Reading) error {
	before := request.ProviderBefore(s.Directory, s.Settings, s.Provider.Name)
	if before == "" {
		return nil
	}
	return RefuseProvider(s.Settings.Stack.Text, before, s.Provider.Name, deployedProjects(s.Resolved, s.Stacks.Summary))
}

// deployedProjects returns the projects of any provider that have resources.
func deployedProjects(s *session.Resolved, summary func(project string) stacks.Summary) []string {
	return slices.DeleteFunc(knownProjects(s), func(project string) bool { return summary(project).Resources == 0 })
}

// knownProjects returns the names of the projects of all providers.
func knownProjects(s *session.Resolved) []string {
	return lists.Map(s.Options.Known().Projects, func(project model.Project) string { return project.Name })
}

// DeployedProjects asks the backend which projects of the environment have resources.
func DeployedProjects(ctx context.Context, d session.Deps, o session.Options) (deployed []string, err error) {
	err = session.Use(d, o, session.ResolveStack, func(s *session.Resolved) error {
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
func readStacks(ctx context.Context, s *session.Resolved) (*stacks.Set, error) {
	o := stacks.Options{Stack: s.Settings.Stack.Text, Names: s.Scope().Names, States: s.States()}
	var err error
	if s.States().IsFile() && !s.States().HasOldLayout() {
		o.Standings, err = o.StandingsIn(knownProjects(s))
	} else {
		o, err = s.OptionsToRead(ctx)
	}
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
	names := typeset.Few(deployed, 4)
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
func KeepProvider(s *session.Resolved, write func(root, file string, content []byte) error) (string, error) {
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

// CheckKnown refuses an environment that is neither configured nor deployed, for
// commands that work on deployed stacks: its name is most likely a typing error.
func CheckKnown(s *session.Reading) error {
	stack := s.Settings.Stack
	if source := stack.Origin.Source; source == config.FromFile || source == config.FromOnlyStack {
		return nil
	}
	configured, err := s.Options.Environments()
	if err != nil {
		return err
	}
	recorded, err := s.Directory.Stacks()
	if err != nil {
		return failure.RunnerDir(err)
	}
	known := append(configured, recorded...)
	exists := func(project model.Project) bool { return s.Stacks.Summary(project.Name).Exists }
	if slices.Contains(known, stack.Text) || slices.ContainsFunc(s.Options.Known().Projects, exists) {
		return nil
	}
	slices.Sort(known)
	known = slices.Compact(known)
	text := fmt.Sprintf("there is no environment %q: it has no configuration, and nothing of it is deployed", stack.Text)
	if len(known) > 0 {
		text += "; known: " + strings.Join(known, ", ")
	}
	return refusal.By(refusal.UnknownStack, &failure.Environment{
		Text: text + config.DidYouMean(stack.Text, known),
		Next: "`runner stacks" + s.Options.Simulation.Flag() + "` lists the environments",
	})
}

// CheckBackend refuses another backend than the one that the environment was deployed
// to from this root, where an up would create everything a second time, and the same of single projects. It allows one
// that was asked for, and any where nothing is deployed any more.
func CheckBackend(ctx context.Context, s *session.Resolved, asked bool) error {
	if asked || s.Options.Simulation.On {
		return nil
	}
	before, projects, err := BackendBefore(ctx, s)
	if err != nil || before == "" {
		return err
	}
	if projects != nil {
		return refusal.By(refusal.Backend, &failure.Environment{
			Text: otherBackend(s, before, projects) + ": up would create it a second time, or work on an old state",
			Next: fmt.Sprintf("move the states with `%s`; or name %s as the backend; or, if it is to be deployed a second time, "+
				"add --new-backend", s.Command("state move"), before),
		})
	}
	return refusal.By(refusal.Backend, &failure.Environment{
		Text: otherBackend(s, before, nil) + ": up would create it a second time, or work on old states",
		Next: fmt.Sprintf("move the states with `%s --to %s`; or name %s as the backend; or, if it is to be deployed a "+
			"second time, add --new-backend",
			s.Command("state move"), placeOf(s), before),
	})
}

// otherBackend names the backend that the environment, or some of its projects, were deployed to, and the configured one.
func otherBackend(s *session.Resolved, before string, projects []string) string {
	if len(projects) > 0 {
		now := s.Settings.BackendOf(projects[0])
		return fmt.Sprintf("%s of %q was deployed to %s from here, and its backend is now %s (%s)", strings.Join(projects, ", "),
			s.Settings.Stack.Text, before, event.MaskURLs(now.Text), now.Origin)
	}
	return fmt.Sprintf("%q was deployed to %s from here, and the backend is now %s (%s)",
		s.Settings.Stack.Text, before, placeOf(s), s.Settings.Backend.Origin)
}

// WarnOfBackend warns a command that only reads: what it does not find may be in the
// backend that the environment was deployed to.
func WarnOfBackend(ctx context.Context, s *session.Reading) {
	if s.Options.Simulation.On {
		return
	}
	if before, projects, err := BackendBefore(ctx, s.Resolved); err == nil && before != "" {
		fmt.Fprintf(s.Deps.Stderr, "warning: %s\n", otherBackend(s.Resolved, before, projects))
		return
	}
	if text, next := otherPlace(s.Resolved); text != "" && len(deployedProjects(s.Resolved, s.Stacks.Summary)) == 0 {
		fmt.Fprintf(s.Deps.Stderr, "warning: %s; %s\n", text, next)
	}
}
