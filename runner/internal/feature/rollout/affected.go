package rollout

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"mara/config"
	"mara/projects/model"
	"mara/projects/model/gomodule"
	"mara/projects/model/operation"
	"mara/runner/internal/core/catalogue"
	"mara/runner/internal/core/fleet"
	"mara/runner/internal/core/gitsource"
	"mara/runner/internal/core/plan"
	"mara/runner/internal/core/record"
	"mara/runner/internal/core/session"
	"mara/runner/internal/machine/parallel"
)

// Affected chooses environments by what has changed.
type Affected struct {
	Asked bool
	Ref   string // of git; "" for since the last success
	Why   bool   // print the reasons
}

// limit returns the affected environments; with --why it prints the reasons.
func (a Affected) limit(ctx context.Context, d session.Deps, o session.Options,
	chosen []fleet.Environment) ([]fleet.Environment, error) {
	if !a.Asked {
		return chosen, nil
	}
	reasons := map[string][]string{}
	left, err := a.Choose(ctx, d, o, chosen, reasons)
	for _, e := range left {
		if a.Why {
			fmt.Fprintf(d.Stderr, "%s: %s\n", e.Stack, strings.Join(reasons[e.Stack], "; "))
		}
	}
	return left, err
}

// Choose returns the affected environments, and stores their reasons in why.
func (a Affected) Choose(ctx context.Context, d session.Deps, o session.Options, chosen []fleet.Environment,
	why map[string][]string) (left []fleet.Environment, err error) {
	var shared session.Shared // where a backend has to be asked
	defer func() { err = errors.Join(err, shared.Close()) }()
	o.Shared = &shared
	t := record.NewToday(ctx, o.Root, d.Version)
	reasons := func(ctx context.Context, s *session.Session) ([]string, error) {
		v, err := t.CompareOpen(ctx, s)
		return v.Reasons(), err
	}
	if a.Ref != "" {
		past, err := checkOut(ctx, o.Root, a.Ref)
		if err != nil {
			return nil, err
		}
		defer past.remove()
		reasons = func(ctx context.Context, s *session.Session) ([]string, error) { return past.reasons(ctx, d, o, s) }
	}
	all, err := parallel.Each(ctx, chosen, func(ctx context.Context, e fleet.Environment) (found []string, err error) {
		one := o
		one.Request, one.Operation = o.Of(e.Stack), operation.Up
		err = session.Use(d, one, (*session.Session).Resolve, func(s *session.Session) (err error) {
			found, err = reasons(ctx, s)
			return err
		})
		return found, err
	})
	if err != nil {
		return nil, err
	}
	for i, e := range chosen {
		if len(all[i]) > 0 {
			left = append(left, e)
			why[e.Stack] = all[i]
		}
	}
	return left, nil
}

// past is the configuration as it was at a commit, and what has changed since.
type past struct {
	ref, root string
	changed   []string // files, below the root
}

// checkOut writes the configuration of a commit to a temporary directory.
func checkOut(ctx context.Context, root, ref string) (past, error) {
	wrong := func(err error) error {
		return &config.FlagError{
			Flag: "--affected=" + ref, Text: err.Error(), Next: "name a commit of the repository that the root is in",
		}
	}
	changed, err := gitsource.Run(ctx, root, "diff", "--name-only", "--relative", ref, "--", ".")
	if err != nil {
		return past{}, wrong(err)
	}
	others, err := gitsource.Run(ctx, root, "ls-files", "--others", "--exclude-standard")
	if err != nil {
		return past{}, wrong(err)
	}
	files, err := gitsource.Run(ctx, root, "ls-tree", "-r", "--name-only", ref, "--", "config")
	if err != nil {
		return past{}, wrong(err)
	}
	directory, err := os.MkdirTemp("", "mara-fleet-*")
	if err != nil {
		return past{}, err
	}
	p := past{ref: ref, root: directory, changed: strings.Split(changed+"\n"+others, "\n")}
	for _, file := range strings.Split(files, "\n") {
		if file == "" {
			continue
		}
		content, err := gitsource.Run(ctx, root, "show", ref+":./"+file)
		path := filepath.Join(directory, file)
		if err == nil {
			err = os.MkdirAll(filepath.Dir(path), 0o700)
		}
		if err == nil {
			err = os.WriteFile(path, []byte(content+"\n"), 0o600)
		}
		if err != nil {
			p.remove()
			return past{}, wrong(err)
		}
	}
	return p, nil
}

func (p past) remove() { _ = os.RemoveAll(p.root) }

// reasons lists what has changed for an environment since the commit.
func (p past) reasons(ctx context.Context, d session.Deps, o session.Options, s *session.Session) (reasons []string,
	err error) {
	stack := s.Settings.Stack.Text
	known, err := config.Stacks(p.root)
	if err != nil {
		return nil, err
	}
	if !slices.Contains(known, stack) && !p.hadOwnFile(ctx, s) {
		return []string{"did not exist at " + p.ref}, nil
	}
	o.Root = p.root
	then, err := record.ValuesOf(d, o.Request, stack)
	if err != nil {
		return nil, fmt.Errorf("at %s: %w", p.ref, err)
	}
	reasons = then.Changes(record.Values(s))
	for _, step := range s.Plan.Steps {
		if p.hasChanged(s, step) {
			reasons = append(reasons, "program of "+step.Project.Name)
		}
	}
	return reasons, nil
}

// hadOwnFile reports whether the environment had a stack file next to a project at the commit.
func (p past) hadOwnFile(ctx context.Context, s *session.Session) bool {
	return slices.ContainsFunc(s.Provider.Own(), func(project model.Project) bool {
		file, err := catalogue.Beside(s.Settings.Root, s.Settings.Stack.Text, project)
		if err != nil || file.File == "" || filepath.IsAbs(file.File) {
			return false
		}
		_, err = gitsource.Run(ctx, s.Settings.Root, "cat-file", "-e", p.ref+":./"+file.File)
		return err == nil
	})
}

// hasChanged reports whether files of an own project have changed.
func (p past) hasChanged(s *session.Session, step plan.Step) bool {
	own := step.Project.Own
	if own == nil {
		return false // it comes with the runner
	}
	directory := own.Dir
	// A module that reaches beyond the root does not count.
	module := gomodule.Of(directory)
	if own.Runtime == "go" && !strings.HasPrefix(s.Settings.Root, module+string(filepath.Separator)) {
		directory = module
	}
	relative, err := filepath.Rel(s.Settings.Root, directory)
	if err != nil {
		return false
	}
	return slices.ContainsFunc(p.changed, func(file string) bool {
		return relative == "." || strings.HasPrefix(file, filepath.ToSlash(relative)+"/")
	})
}
