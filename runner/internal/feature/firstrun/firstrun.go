// Package firstrun leads from an empty directory to a configured environment: `runner init`, and the questions that an
// operation asks before its first run. Everything is written at the end, after a confirmation.
package firstrun

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"mara/config"
	"mara/config/lists"
	"mara/projects/model"
	"mara/projects/model/cloud"
	"mara/runner/internal/cli/cmd"
	"mara/runner/internal/core/catalogue"
	"mara/runner/internal/core/discover"
	"mara/runner/internal/core/plan"
	"mara/runner/internal/core/request"
	"mara/runner/internal/core/session"
	"mara/runner/internal/feature/doctor"
	"mara/runner/internal/feature/firstrun/wizard"
	"mara/runner/internal/machine/failure"
	"mara/runner/internal/machine/prompt"
	"mara/runner/internal/machine/typeset"
)

// Complete asks for missing configuration before an operation that deploys: the directory, the stack, the provider, the
// values. Without a terminal it does nothing; missing values are reported later. A simulation makes up missing values,
// so it asks only where the directory, the stack or the provider is missing.
func Complete(ctx context.Context, d cmd.Deps, o cmd.Common) (session.Options, error) {
	terminal, ok := prompt.NewTerminal(d.Stdin, d.Stderr)
	if !o.Interactive || !ok || !o.Operation.RunsPrograms() {
		return o.Options, nil
	}
	f := &firstRun{d: d, terminal: terminal, o: o, given: o.Request, before: "continue"}
	err := f.complete(ctx)
	return f.o.Options, err
}

// firstRun is what is known about an environment that is being configured.
type firstRun struct {
	d        cmd.Deps
	terminal prompt.Terminal
	o        cmd.Common
	given    request.Request // before the first answer
	before   string          // what follows the confirmation
	newRoot  bool            // the configuration directory does not exist yet
	with     []string        // optional projects, for a mara.yaml that does not exist yet
	file     config.StackFile
	provider model.Provider
	named    []config.Change // the provider, if the stack file has to name it
	values   *wizard.Interview
	changes  []config.Change // of the stack file
	back     bool            // the user has come back from a later question
	earlier  bool            // an earlier question can be asked again
	isInit   bool
	written  []string
}

// complete asks the questions in stages. A stage reports whether it has asked something: its last question is asked
// again when the user wants to go back.
func (f *firstRun) complete(ctx context.Context) error {
	if err := f.findRoot(ctx); err != nil {
		return err
	}
	stages := []func(context.Context) (asked bool, err error){
		f.nameStack, f.chooseProvider, f.chooseOptional, f.askValues, f.write,
	}
	var asked []int
	for at := 0; at < len(stages); {
		f.earlier = len(asked) > 0
		did, err := stages[at](ctx)
		f.back = errors.Is(err, prompt.ErrBack)
		switch {
		case f.back && f.earlier:
			at, asked = asked[len(asked)-1], asked[:len(asked)-1]
			continue
		case f.back: // there is nothing before the first question
			continue
		case err != nil:
			return err
		case did:
			asked = append(asked, at)
		}
		at++
	}
	return nil
}

// isNew reports whether the environment is neither configured nor deployed yet.
func (f *firstRun) isNew() bool {
	_, err := os.Lstat(f.o.Directory().Provider(stackName(f.o.Request))) // a record of what was deployed
	return len(f.file.Entries) == 0 && err != nil
}

// findRoot offers to create the configuration directory here. Beside existing Pulumi projects another command helps.
func (f *firstRun) findRoot(ctx context.Context) error {
	if f.o.Root != "" {
		return nil
	}
	if err := refuseBesideProjects(f.d.Dir, f.o.Provider); err != nil {
		return err
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

// refuseBesideProjects returns an error if a directory has Pulumi projects and no provider of built-in ones is named.
func refuseBesideProjects(dir string, named config.Value) error {
	if named.IsSet() {
		return nil
	}
	found, _, err := discover.Find(dir)
	if err != nil || len(found) == 0 {
		return nil //nolint:nilerr // what cannot be read cannot be adopted either
	}
	return &failure.Environment{
		Text: fmt.Sprintf("no %s in %s or above, but %s below it", config.MaraFile, dir,
			typeset.Counted(len(found), "Pulumi project")),
		Next: "`runner adopt` finds their order and writes " + config.MaraFile + "; `runner init -p NAME` begins an " +
			"environment of built-in projects instead",
	}
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
	for directory != filepath.Dir(directory) { // the nearest one that exists: a root may have a mara.yaml only
		if _, err := os.Lstat(directory); err == nil {
			break
		}
		directory = filepath.Dir(directory)
	}
	file, err := os.CreateTemp(directory, ".runner-*")
	if err != nil {
		return &failure.Environment{
			Text: fmt.Sprintf("the configuration cannot be written: %v", err), Next: failure.WriteRemedy(err, "the directory"),
		}
	}
	return errors.Join(file.Close(), os.Remove(file.Name()))
}

// nameStack asks for a stack if none is named, and reads its file.
func (f *firstRun) nameStack(ctx context.Context) (asked bool, err error) {
	variable := f.o.Sources.Lookup(config.RunnerStackVariable, config.StackVariable)
	if !f.given.Stack.IsSet() && !variable.IsSet() && !f.o.Sources.OnlyStack.IsSet() {
		asked = true
		name, err := f.askStack(ctx)
		if err != nil {
			return true, err
		}
		f.o.Stack = fromFlag("--stack", name)
	}
	stack, err := config.ResolveStack(f.o.Stack, f.o.Sources)
	if err != nil {
		return asked, err
	}
	f.file, _, err = f.o.ReadStack(stack.Text)
	return asked, err
}

// askStack asks for one of the stacks that have a file, or a new one.
func (f *firstRun) askStack(ctx context.Context) (string, error) {
	question := prompt.Question{
		Text: "Name of the stack", Default: "dev", Check: config.CheckStackName,
		Help: "the name of this environment: every project has a stack of this name",
	}
	names, err := f.o.Environments()
	if f.isInit {
		question.Check = func(name string) error {
			if slices.Contains(names, name) {
				return errors.New("there is an environment of this name already")
			}
			return config.CheckStackName(name)
		}
		if slices.Contains(names, question.Default) {
			question.Default = ""
		}
	}
	if err != nil || len(names) == 0 || f.isInit {
		return f.terminal.Ask(ctx, question)
	}
	question.Default = names[0]
	if selected := f.o.SelectedStack(); slices.Contains(names, selected) {
		question.Default = selected
	}
	options := lists.Map(names, func(name string) prompt.Option { return prompt.Option{Value: name} })
	return f.terminal.Choose(ctx, prompt.Choice{Question: question, Options: options, Other: true})
}

// chooseOptional asks which optional projects the provider is to have. A mara.yaml that exists decides that itself.
func (f *firstRun) chooseOptional(ctx context.Context) (asked bool, err error) {
	if !f.isInit || f.given.Known().File != "" || len(f.provider.Optional.Steps) == 0 {
		return false, nil
	}
	before := f.with
	f.with, f.o.Catalogue = nil, f.given.Catalogue
	if f.provider, err = f.o.ProviderOf(fromFlag("--provider", f.provider.Name)); err != nil {
		return false, err
	}
	question := prompt.Question{
		Text: "Optional projects", Back: f.earlier, Help: "`runner plan --optional` says more about them",
	}
	options := lists.Map(f.provider.Optional.Steps, func(step model.Step) prompt.Option {
		return prompt.Option{Value: step.Project.Name, Note: step.Project.Summary}
	})
	chosen, err := f.terminal.ChooseMany(ctx,
		prompt.Choice{Question: question, Options: options, Chosen: before, None: true})
	if err == nil {
		err = f.useOptional(chosen)
	}
	return true, err
}

// useOptional adds optional projects to the provider.
func (f *firstRun) useOptional(names []string) error {
	if len(names) == 0 {
		return nil
	}
	text := maraText(f.given.Known().Names(), f.provider.Name, names)
	mara, err := config.ParseMara(config.MaraFile, []byte(text))
	if err != nil {
		return err
	}
	known, err := catalogue.LoadMara(f.o.BuiltIn, mara, f.o.Root, f.o.Sources.Lookup("PATH").Text)
	if err != nil {
		return err
	}
	f.with, f.o.Catalogue = names, &known
	f.provider, err = f.o.ProviderOf(fromFlag("--provider", f.provider.Name))
	return err
}

// askValues asks for the values of the stack file.
func (f *firstRun) askValues(ctx context.Context) (asked bool, err error) {
	if f.back && f.values != nil && f.values.TakeBack() {
		f.changes, err = f.values.Complete(ctx)
		return true, err
	}
	f.changes = nil
	if f.file.Check(f.o.DeclaredKeys()) != nil {
		f.named = nil
		return false, nil // the file is not valid, which open reports first
	}
	if f.o.Simulation.On && !f.isInit && !f.earlier && !f.newRoot {
		return false, nil
	}
	file, err := f.withOwnFiles()
	if err != nil {
		return false, err
	}
	narrow := plan.Narrow(f.provider, f.o.Selection)
	ask := wizard.Wizard{
		Asker: f.terminal, Clouds: f.clouds(), Sources: f.o.Sources, Out: f.d.Stderr,
		Env: f.o.Sources.Looking(), Strict: !f.isInit, Back: f.earlier,
		First: f.asksAll() && len(file.Entries) == 0,
	}
	if ask.First && len(narrow.Questions) > 0 || len(narrow.Missing(file, f.o.Sources)) > 0 {
		if err := f.checkMachine(ctx); err != nil {
			return false, err
		}
		if f.values == nil {
			fmt.Fprintf(f.d.Stderr, "Enter accepts the default, %s returns to the previous question.\n", prompt.Back)
		}
	}
	f.values = ask.Begin(narrow, file, f.o.Overrides...)
	f.changes, err = f.values.Complete(ctx)
	if refused, ok := errors.AsType[*cloud.Error](err); ok {
		err = failure.Advise(refused, lookFirst(refused.Next))
	}
	return f.values.Asked(), err
}

// withOwnFiles returns the stack file with what the stack files next to own projects set.
func (f *firstRun) withOwnFiles() (config.StackFile, error) {
	file := f.file
	for _, project := range f.provider.Own() {
		beside, err := catalogue.Beside(f.o.Root, stackName(f.o.Request), project)
		if err != nil {
			return file, err
		}
		for _, entry := range beside.Entries {
			if _, reads := project.Key(entry.Key); reads && entry.Value != nil {
				file.Entries = append(slices.Clone(file.Entries), entry)
			}
		}
	}
	return file, nil
}

// lookFirst adds to a hint what works without the cloud and its tools.
func lookFirst(hint string) string {
	if hint != "" {
		hint += "; "
	}
	return hint + "--simulate shows the same on simulated clouds, without an account"
}

// asksAll reports whether all questions are asked, and not only those about missing values: about a new environment,
// unless the command line of `runner init` says everything that is needed.
func (f *firstRun) asksAll() bool {
	return f.isNew() && (!f.isInit || !f.given.Stack.IsSet() || !f.given.Provider.IsSet())
}

// clouds returns the clients that lists come from. A simulation asks no cloud.
func (f *firstRun) clouds() cloud.Clients {
	if f.o.Simulation.On {
		return nil
	}
	return f.d.CloudClients
}

// checkMachine checks, before the questions, that the answers can be used.
func (f *firstRun) checkMachine(ctx context.Context) error {
	if err := f.checkWritable(); err != nil {
		return err
	}
	if f.isInit || f.o.Simulation.On {
		return nil
	}
	err := doctor.CheckFirst(ctx, f.d.Deps, f.o.Options, f.provider, f.file)
	if problems, ok := errors.AsType[*doctor.ProblemsError](err); ok {
		return failure.Advise(problems, lookFirst(problems.NextStep()))
	}
	return err
}

// fromFlag returns an answer as if it had been given on the command line.
func fromFlag(name, text string) config.Value {
	return config.Value{Text: text, Origin: config.Origin{Source: config.FromFlag, Name: name}}
}

// stackName returns the name of the stack, or "" if it is not known yet.
func stackName(r request.Request) string {
	stack, err := config.ResolveStack(r.Stack, r.Sources)
	if err != nil {
		return ""
	}
	return stack.Text
}
