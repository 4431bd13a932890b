package operations

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"mara/config"
	"mara/providers"
	"mara/runner/internal/cli/cmd"
	"mara/runner/internal/environment/doctor"
	"mara/runner/internal/environment/session"
	"mara/runner/internal/environment/wizard"
	"mara/runner/internal/machine/failure"
	"mara/runner/internal/machine/layout"
	"mara/runner/internal/machine/prompt"
	"mara/runner/internal/repo/request"
	"mara/runner/internal/secrets/vault"
	"mara/runner/internal/workflow/view"
)

// complete asks for missing configuration before an operation that deploys: the
// directory, the stack, the provider, the values. It writes everything at the end,
// once it is confirmed. Without a terminal, or in a simulation, it does nothing;
// missing values are reported later.
func complete(ctx context.Context, d cmd.Deps, o cmd.Common) (session.Options, error) {
	terminal, ok := prompt.NewTerminal(d.Stdin, d.Stderr)
	if !o.Interactive || !ok || !o.Operation.RunsPrograms() || o.Simulation.On {
		return o.Options, nil
	}
	f := &firstRun{d: d, terminal: terminal, o: o}
	err := f.complete(ctx)
	return f.o.Options, err
}

// firstRun is what is known about an environment that is being configured.
type firstRun struct {
	d        cmd.Deps
	terminal prompt.Terminal
	o        cmd.Common
	newRoot  bool // the configuration directory does not exist yet
	file     config.StackFile
	provider providers.Provider
}

func (f *firstRun) complete(ctx context.Context) error {
	if err := f.findRoot(ctx); err != nil {
		return err
	}
	if err := f.nameStack(ctx); err != nil {
		return err
	}
	changes, err := f.chooseProvider(ctx)
	if err != nil {
		return err
	}
	if f.file.Check(f.o.DeclaredKeys()) != nil {
		return nil // the file is not valid, which open reports first
	}
	ask := wizard.Wizard{
		Asker: f.terminal, Clouds: f.d.CloudClients, Sources: f.o.Sources, Out: f.d.Stderr, First: f.isNew(),
		Env: f.o.Sources.File.Merge(f.o.Sources.Process),
	}
	if ask.First || len(session.NarrowProvider(f.provider, f.o.Selection).Missing(f.file, f.o.Sources)) > 0 {
		if err := f.checkWritable(); err != nil {
			return err
		}
		if err := doctor.CheckFirst(ctx, f.d.Deps, f.o.Options, f.provider, f.file); err != nil {
			return err
		}
	}
	answers, err := ask.Complete(ctx, session.NarrowProvider(f.provider, f.o.Selection), f.file, f.o.Overrides...)
	if err != nil {
		return err
	}
	return f.write(ctx, append(changes, answers...))
}

// isNew reports whether the environment is neither configured nor deployed yet.
func (f *firstRun) isNew() bool {
	_, err := os.Lstat(layout.Of(f.o.Root, false).Provider(stackName(f.o.Request))) // a record of what was deployed
	return len(f.file.Entries) == 0 && err != nil
}

// findRoot offers to create the configuration directory here.
func (f *firstRun) findRoot(ctx context.Context) error {
	if f.o.Root != "" {
		return nil
	}
	yes, err := f.agree(ctx, fmt.Sprintf("There is no configuration in %s. Create one?", f.d.Dir))
	if err == nil && !yes {
		err = f.o.NoRoot
	}
	f.newRoot, f.o.Root = true, f.d.Dir
	if err != nil {
		return err
	}
	return f.checkWritable()
}

// agree asks for confirmation, unless --yes was given.
func (f *firstRun) agree(ctx context.Context, question string) (bool, error) {
	if f.o.Yes {
		return true, nil
	}
	return f.terminal.Agree(ctx, question)
}

// checkWritable checks, before the questions, that the configuration can be written.
func (f *firstRun) checkWritable() error {
	directory := filepath.Join(f.o.Root, config.Directory)
	if f.newRoot {
		directory = f.o.Root
	}
	file, err := os.CreateTemp(directory, ".runner-*")
	if err != nil {
		return &failure.Environment{
			Text: fmt.Sprintf("the configuration cannot be written: %v", err), Next: failure.WriteRemedy(err,
				"the directory"),
		}
	}
	return errors.Join(file.Close(), os.Remove(file.Name()))
}

// nameStack asks for a stack if none is named, and reads its file.
func (f *firstRun) nameStack(ctx context.Context) error {
	variable := f.o.Sources.Lookup(config.RunnerStackVariable, config.StackVariable)
	if !f.o.Stack.IsSet() && !variable.IsSet() && !f.o.Sources.OnlyStack.IsSet() {
		name, err := f.askStack(ctx)
		if err != nil {
			return err
		}
		f.o.Stack = config.Value{Text: name, Origin: config.Origin{Source: config.FromFlag, Name: "--stack"}}
	}
	stack, err := config.ResolveStack(f.o.Stack, f.o.Sources)
	if err != nil {
		return err
	}
	f.file, _, err = f.o.ReadStack(stack.Text)
	return err
}

// askStack asks for one of the stacks that have a file, or a new one.
func (f *firstRun) askStack(ctx context.Context) (string, error) {
	question := prompt.Question{
		Text: "Name of the stack", Default: "dev", Check: config.CheckStackName,
		Help: "the name of this environment: every project has a stack of this name",
	}
	names, err := config.Stacks(f.o.Root)
	if err != nil || len(names) == 0 {
		return f.terminal.Ask(ctx, question)
	}
	question.Default = names[0]
	var options []prompt.Option
	for _, name := range names {
		options = append(options, prompt.Option{Value: name})
	}
	return f.terminal.Choose(ctx, prompt.Choice{Question: question, Options: options, Other: true})
}

// chooseProvider finds the provider, or asks for it. It is written to the stack file if it was asked for, or if the
// environment is new.
func (f *firstRun) chooseProvider(ctx context.Context) ([]config.Change, error) {
	named := f.o.Provider // overrides the stack file while nothing is deployed
	if !named.IsSet() || !f.o.ChangeProvider {
		var err error
		if named, err = config.ResolveProvider(f.o.Provider, f.o.Sources, f.file); err != nil {
			return nil, err
		}
	}
	named, err := f.o.RememberedProvider(layout.Of(f.o.Root, false), stackName(f.o.Request), named)
	if err != nil {
		return nil, err
	}
	asked := !named.IsSet()
	if asked {
		if named, err = f.askProvider(ctx); err != nil {
			return nil, err
		}
		f.o.Provider = named
	}
	if f.provider, err = f.o.ProviderOf(named); err != nil {
		return nil, err
	}
	_, written := f.file.Lookup(config.InfraType)
	if written || !asked && !f.isNew() || f.o.Known().Default() != "" { // the only provider needs no name
		return nil, nil
	}
	return []config.Change{{Key: config.InfraType, Value: f.provider.Name}}, nil
}

func (f *firstRun) askProvider(ctx context.Context) (config.Value, error) {
	known := f.o.Known()
	choice := prompt.Choice{
		Question: prompt.Question{Text: "Provider of the cluster and the registry", Default: known.Names()[0]},
	}
	if slices.Contains(known.Names(), "kind") {
		choice.Default = "kind" // it costs nothing
	}
	for _, p := range known.Providers {
		choice.Options = append(choice.Options, prompt.Option{Value: p.Name, Note: p.Title})
	}
	name, err := f.terminal.Choose(ctx, choice)
	return config.Value{Text: name, Origin: config.Origin{Source: config.FromFlag, Name: "--provider"}}, err
}

// write shows the files to write, asks, and writes them.
func (f *firstRun) write(ctx context.Context, changes []config.Change) error {
	if len(changes) == 0 && !f.newRoot {
		return nil
	}
	files, err := f.files(changes)
	if err != nil {
		return err
	}
	f.show(files, changes)
	yes, err := f.agree(ctx, "Write this and continue?")
	if err == nil && !yes {
		err = &prompt.Declined{Text: "not confirmed; nothing was written"}
	}
	if err != nil {
		return err
	}
	for _, file := range files {
		if err := request.Write(f.o.Root, file.Path, file.Content); err != nil {
			return err
		}
	}
	f.o.Sources.File, err = config.ReadEnvironment(f.o.Root)
	return err
}

// files lists the files to write. The stack file is the last, because the environment exists with it.
func (f *firstRun) files(changes []config.Change) ([]vault.NewFile, error) {
	var files []vault.NewFile
	if f.newRoot {
		examples, err := config.Examples()
		if err != nil {
			return nil, err
		}
		for _, e := range examples {
			files = append(files, vault.NewFile{Path: e.Path, Content: e.Data})
		}
	}
	file := f.file.Own()
	if !file.Exists {
		file.Content = fmt.Appendf(nil, "# Configuration of the stack %s. Every key is in Pulumi.stackname.yaml.example.\n",
			stackName(f.o.Request))
	}
	content, err := file.Edit(changes...)
	if err != nil {
		return nil, err
	}
	return append(files, vault.NewFile{Path: file.File, Content: content}), nil
}

// show prints a new stack file in full, what is added to an existing one, and the names of other files.
func (f *firstRun) show(files []vault.NewFile, changes []config.Change) {
	fmt.Fprintln(f.d.Stderr)
	for _, file := range files {
		switch {
		case file.Path == f.file.File && f.file.Exists:
			fmt.Fprintf(f.d.Stderr, "added to %s:\n", file.Path)
			for _, change := range changes {
				fmt.Fprintf(f.d.Stderr, "  %s: %s\n", change.Key, view.Show(change.Value))
			}
		case file.Path == f.file.File:
			fmt.Fprintf(f.d.Stderr, "%s:\n", file.Path)
			for line := range strings.Lines(string(file.Content)) {
				fmt.Fprint(f.d.Stderr, "  "+line)
			}
		default:
			fmt.Fprintln(f.d.Stderr, file.Path)
		}
	}
}

// stackName returns the name of the stack, or "" if it is not known yet.
func stackName(r request.Request) string {
	stack, err := config.ResolveStack(r.Stack, r.Sources)
	if err != nil {
		return ""
	}
	return stack.Text
}
