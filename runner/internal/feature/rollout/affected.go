package rollout

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"mara/config"
	"mara/projects/model"
	"mara/projects/model/operation"
	"mara/runner/internal/core/catalogue"
	"mara/runner/internal/core/fingerprint"
	"mara/runner/internal/core/fleet"
	"mara/runner/internal/core/gitsource"
	"mara/runner/internal/core/inputs"
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
	reasons := func(ctx context.Context, s *session.Resolved) ([]string, error) {
		v, err := t.CompareOpen(ctx, s)
		return v.Reasons(), err
	}
	if a.Ref != "" {
		past, err := checkOut(ctx, o.Root, a.Ref)
		if err != nil {
			return nil, err
		}
		defer past.remove()
		reasons = func(ctx context.Context, s *session.Resolved) ([]string, error) { return past.reasons(ctx, d, o, s) }
	}
	all, err := parallel.Each(ctx, chosen, func(ctx context.Context, e fleet.Environment) (found []string, err error) {
		one := o
		one.Request, one.Operation = o.Of(e.Stack), operation.Up
		err = session.Use(d, one, session.Resolve, func(s *session.Resolved) (err error) {
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
	changed   []string // files; whole paths

	mu       sync.Mutex
	programs map[string]changedIn // by directory; guarded by mu
}

// changedIn says whether files of a program have changed, or why that cannot be told.
type changedIn struct {
	has bool
	err error
}

// checkOut writes the configuration of a commit to a temporary directory.
func checkOut(ctx context.Context, root, ref string) (*past, error) {
	wrong := func(err error) error {
		return &config.FlagError{
			Flag: "--affected=" + ref, Text: err.Error(), Next: "name a commit of the repository that the root is in",
		}
	}
	commit, err := gitsource.Look(ctx, root, "rev-parse", "--verify", "--end-of-options", ref+"^{commit}")
	if err != nil {
		return nil, wrong(err)
	}
	top, err := gitsource.Look(ctx, root, "rev-parse", "--show-toplevel")
	if err != nil {
		return nil, wrong(err)
	}
	changed, err := gitsource.Names(ctx, top, "diff", "--name-only", "--no-renames", "--no-ext-diff", "-z", commit, "--")
	if err != nil {
		return nil, wrong(err)
	}
	others, err := gitsource.Names(ctx, top, "ls-files", "--others", "--exclude-standard", "-z")
	if err != nil {
		return nil, wrong(err)
	}
	files, err := gitsource.Names(ctx, root, "ls-tree", "-r", "-z", "--name-only", commit, "--", "config")
	if err != nil {
		return nil, wrong(err)
	}
	directory, err := os.MkdirTemp("", "mara-fleet-*")
	if err != nil {
		return nil, err
	}
	p := &past{ref: ref, root: directory, programs: map[string]changedIn{}}
	for _, file := range slices.Concat(changed, others) {
		p.changed = append(p.changed, filepath.Join(top, filepath.FromSlash(file)))
	}
	for _, file := range files {
		content, err := gitsource.Look(ctx, root, "cat-file", "blob", commit+":./"+file)
		path := filepath.Join(directory, file)
		if err == nil {
			err = os.MkdirAll(filepath.Dir(path), 0o700)
		}
		if err == nil {
			err = os.WriteFile(path, []byte(content+"\n"), 0o600)
		}
		if err != nil {
			p.remove()
			return nil, wrong(err)
		}
	}
	return p, nil
}

func (p *past) remove() { _ = os.RemoveAll(p.root) }

// reasons lists what has changed for an environment since the commit.
func (p *past) reasons(ctx context.Context, d session.Deps, o session.Options, s *session.Resolved) (reasons []string,
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
		subject, err := inputs.Of(s, step)
		if err != nil {
			return nil, err
		}
		switch program := p.hasChanged(subject.Source); {
		case program.err != nil:
			reasons = append(reasons, fmt.Sprintf("program of %s, which cannot be compared: %v", step.Project.Name, program.err))
		case program.has:
			reasons = append(reasons, "program of "+step.Project.Name)
		}
		named, err := inputs.NamedFiles(s, subject)
		if err != nil || p.hasAny(named) {
			reasons = append(reasons, "files of "+step.Project.Name)
		}
	}
	return reasons, nil
}

// hadOwnFile reports whether the environment had a stack file next to a project at the commit.
func (p *past) hadOwnFile(ctx context.Context, s *session.Resolved) bool {
	return slices.ContainsFunc(s.Provider.Own(), func(project model.Project) bool {
		file, err := catalogue.Beside(s.Settings.Root, s.Settings.Stack.Text, project)
		if err != nil || file.File == "" || filepath.IsAbs(file.File) {
			return false
		}
		_, err = gitsource.Look(ctx, s.Settings.Root, "cat-file", "-e", p.ref+":./"+file.File)
		return err == nil
	})
}

// hasChanged says whether files of an own program have changed: those of which its fingerprint is made.
func (p *past) hasChanged(source *fingerprint.Source) changedIn {
	if source == nil {
		return changedIn{} // it comes with the runner
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	known, ok := p.programs[source.Dir]
	if !ok {
		files, err := source.ProgramFiles()
		known = changedIn{err == nil && p.hasAny(files), err}
		p.programs[source.Dir] = known
	}
	return known
}

func (p *past) hasAny(files fingerprint.Files) bool { return slices.ContainsFunc(p.changed, files.Has) }
