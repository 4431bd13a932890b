package firstrun

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"al.essio.dev/pkg/shellescape"
	"github.com/urfave/cli/v2"

	"mara/config"
	"mara/config/lists"
	"mara/projects/model"
	"mara/runner/internal/cli/cmd"
	"mara/runner/internal/cli/configuration"
	"mara/runner/internal/core/catalogue"
	"mara/runner/internal/core/request"
	"mara/runner/internal/machine/failure"
	"mara/runner/internal/machine/prompt"
	"mara/runner/internal/machine/typeset"
)

// Init returns `runner init`.
func Init(d cmd.Deps) *cli.Command {
	return &cli.Command{
		Name: "init", Usage: "begin an environment, or a directory for environments", ArgsUsage: "[DIR]",
		Description: "Creates config/pulumi with examples below DIR (default: the working directory), and asks for " +
			"the first environment: its name, its provider, its optional projects and its values, with choices from " +
			"the cloud. It overwrites nothing, and writes nothing before everything is answered and confirmed.\n\n" +
			"With --stack and --provider it only asks for values that are missing and have no default. Without a " +
			"terminal it asks nothing: missing values are an error, and without these two flags it writes the " +
			"examples only.\n\n" +
			"Examples:\n  runner init\n  runner init my-environments\n  runner init -s dev -p kind\n" +
			"  runner init -s prod -p aws --config aws:region=eu-north-1 --with metrics-server\n\n" +
			cmd.ExitText(cmd.ExitDone, cmd.ExitFailed, cmd.ExitUsage, cmd.ExitConfig, cmd.ExitInterrupted),
		Flags: cmd.JoinFlags(cmd.OutputFlag("text", "json"), []cli.Flag{
			&cli.StringFlag{Name: "stack", Aliases: []string{"s"}, Usage: "begin the environment `NAME`"},
			&cli.StringFlag{Name: "provider", Aliases: []string{"p"}, Usage: "use the provider `NAME`"},
			&cli.StringSliceFlag{Name: "config", Usage: "write this configuration value, `KEY=VALUE`; may be repeated"},
			&cli.StringFlag{Name: "with", Usage: "add these optional `PROJECTS`, separated by commas"},
		}, cmd.ConfirmFlags(), cmd.BaseFlags()),
		Action: cmd.Action(d, parseInit, runInit),
	}
}

// initOptions are the options of `runner init`.
type initOptions struct {
	cmd.Common
	given string          // DIR as typed, or ""
	set   []config.Change // values of --config
	with  []string
}

func parseInit(c *cli.Context, d cmd.Deps, common cmd.Common) (o initOptions, err error) {
	o.Common = common
	if o.given, o.Root, err = cmd.DirectoryArgument(c, d); err != nil {
		return o, err
	}
	if o.Sources.File, err = config.ReadEnvironment(o.Root); err != nil {
		return o, err
	}
	known, err := catalogue.Load(o.BuiltIn, o.Root, o.Sources.Lookup("PATH").Text)
	if err != nil {
		return o, err
	}
	o.Catalogue = &known
	for name := range strings.SplitSeq(c.String("with"), ",") {
		if name = strings.TrimSpace(name); name != "" {
			o.with = append(o.with, name)
		}
	}
	for _, text := range c.StringSlice("config") {
		name, value, err := cmd.KeyValue("init", config.OverrideFlag, text)
		if err != nil {
			return o, err
		}
		if name == config.InfraType {
			return o, failure.Usagef("init", "--config: the provider is named with -p")
		}
		if secret, ok := o.Known().Secret(name); ok {
			return o, &failure.Usage{
				Text: fmt.Sprintf("--config: %s is a secret (%s), which does not belong into a stack file", name, secret.Doc),
				Next: fmt.Sprintf("set it later with `runner secrets set %s`", name),
			}
		}
		o.set = append(o.set, config.Change{Key: name, Value: value})
	}
	return o, nil
}

func runInit(ctx context.Context, d cmd.Deps, o initOptions) error {
	terminal, isTerminal := prompt.NewTerminal(d.Stdin, d.Stderr)
	asks := o.Interactive && isTerminal && o.Output != "json"
	if !asks && !o.Stack.IsSet() && !o.Provider.IsSet() && len(o.set)+len(o.with) == 0 {
		return writeExamples(d, o)
	}
	if o.Known().File == "" {
		if err := refuseBesideProjects(o.Root, o.Provider); err != nil {
			return err
		}
	}
	f := &firstRun{d: d, terminal: terminal, o: o.Common, given: o.Request, isInit: true, before: "finish"}
	_, err := os.Stat(filepath.Join(o.Root, config.Directory))
	f.newRoot = err != nil
	if err := f.checkWritable(); err != nil {
		return err
	}
	if asks && len(o.set)+len(o.with) == 0 && (!o.Stack.IsSet() || !o.Provider.IsSet()) {
		err = f.complete(ctx)
	} else {
		err = f.completeFrom(ctx, o, asks)
	}
	if err != nil {
		return err
	}
	if len(f.written) == 0 {
		return &config.Error{
			Problems: []config.Problem{{File: f.file.File, Text: "exists already; nothing was changed"}},
			Next:     "choose another name with --stack, or change values with `runner config set`",
		}
	}
	return o.Show(d, initDocument{Root: o.Root, Files: f.written}, f.initText(o))
}

// completeFrom takes everything from the command line, and asks only for what is missing there.
func (f *firstRun) completeFrom(ctx context.Context, o initOptions, asks bool) error {
	var missing []string
	if !o.Stack.IsSet() {
		missing = append(missing, "--stack NAME")
	}
	if !o.Provider.IsSet() && o.Known().Default() == "" {
		missing = append(missing, "--provider NAME ("+strings.Join(o.Known().Names(), ", ")+")")
	}
	if len(missing) > 0 {
		return failure.Usagef("init", "missing: %s", strings.Join(missing, " and "))
	}
	if _, err := f.nameStack(ctx); err != nil {
		return err
	}
	if f.file.Exists {
		return nil
	}
	if _, err := f.chooseProvider(ctx); err != nil {
		return err
	}
	if err := f.useNamed(o.with); err != nil {
		return err
	}
	for i, change := range o.set {
		text, _ := change.Value.(string)
		value, err := configuration.ParseValue(f.o.Request, change.Key, text)
		if err != nil {
			return fmt.Errorf("--config: %w", err)
		}
		o.set[i].Value = value
	}
	f.o.Overrides = o.set
	for {
		if err := f.fill(ctx, asks); err != nil {
			return err
		}
		f.changes = append(slices.Clone(o.set), f.changes...)
		f.earlier = f.values != nil && f.values.Asked()
		_, err := f.write(ctx)
		if f.back = errors.Is(err, prompt.ErrBack); !f.back {
			return err
		}
	}
}

// useNamed adds the optional projects of --with.
func (f *firstRun) useNamed(names []string) error {
	if len(names) == 0 {
		return nil
	}
	if file := f.o.Known().File; file != "" {
		return failure.Usagef("init", "--with: %s exists; add the projects there, below the provider, as  with: [%s]",
			file, strings.Join(names, ", "))
	}
	known := lists.Map(f.provider.Optional.Steps, model.Step.Name)
	for _, name := range names {
		if reason := f.provider.Optional.Refused[name]; reason != "" {
			return failure.Usagef("init", "--with: %s is not there for %s: %s", name, f.provider.Name, reason)
		}
		if !slices.Contains(known, name) {
			return failure.Usagef("init", "--with: %s has no optional project %q; known: %s%s", f.provider.Name, name,
				strings.Join(known, ", "), config.DidYouMean(name, known))
		}
	}
	return f.useOptional(names)
}

// fill asks for the missing values, or reports them where it cannot ask.
func (f *firstRun) fill(ctx context.Context, asks bool) error {
	if asks {
		_, err := f.askValues(ctx)
		return err
	}
	with := f.file
	for _, change := range f.o.Overrides {
		with.Entries = append(with.Entries, config.Entry{Key: change.Key, Value: change.Value})
	}
	var problems []config.Problem
	next := ""
	for _, key := range f.provider.Missing(with, f.o.Sources) {
		problems = append(problems, config.Problem{File: f.file.File, Key: key.Name, Text: "is missing: " + key.Doc})
		next += fmt.Sprintf(" --config %s=%s", key.Name, cmp.Or(key.Example, "VALUE"))
	}
	if len(problems) == 0 {
		return nil
	}
	return &config.Error{Problems: problems, Next: "nothing was written; add" + next}
}

type initDocument struct {
	Root  string   `json:"root"`
	Files []string `json:"files"`
}

// writeExamples creates the configuration directory with its examples.
func writeExamples(d cmd.Deps, o initOptions) error {
	files, err := config.Examples()
	if err != nil {
		return err
	}
	if err := checkAbsent(o.Root, files); err != nil {
		return err
	}
	created := initDocument{Root: o.Root}
	for _, file := range files {
		if err := request.Write(o.Root, file.Path, file.Data); err != nil {
			return err
		}
		created.Files = append(created.Files, file.Path)
	}
	next := "\nnext, deploy an environment on simulated clouds:\n" + o.enter() +
		"  runner up -p kind -s dev --simulate --yes\n"
	return o.Show(d, created, createdText(o, created.Files)+next)
}

// checkAbsent returns an error that lists the files that would be overwritten.
func checkAbsent(root string, files []config.Example) error {
	var problems []config.Problem
	for _, file := range files {
		if _, err := os.Lstat(filepath.Join(root, file.Path)); err == nil {
			problems = append(problems, config.Problem{File: file.Path, Text: "exists already; nothing was changed"})
		}
	}
	if len(problems) == 0 {
		return nil
	}
	return &config.Error{Problems: problems, Next: "the directory is ready to use; `runner init -s NAME -p PROVIDER` " +
		"begins an environment in it, and `runner init DIR` creates another directory"}
}

func createdText(o initOptions, files []string) string {
	return fmt.Sprintf("created in %s:\n  %s\n", o.Root, strings.Join(files, "\n  "))
}

// enter returns the line that changes to the directory, if it is another one.
func (o initOptions) enter() string {
	if o.given == "" {
		return ""
	}
	return "  cd " + shellescape.Quote(o.given) + "\n"
}

// initText lists what was written, and the next commands.
func (f *firstRun) initText(o initOptions) string {
	stack := ""
	if stacks, err := o.Environments(); err == nil && len(stacks) > 1 {
		stack = " -s " + stackName(f.o.Request)
	}
	text := createdText(o, f.written) + "\nnext:\n" + o.enter()
	table := typeset.Table{Columns: []typeset.Column{{}, {}}, Rows: [][]string{
		{"  runner plan" + stack, "# the projects and their order"},
		{"  runner up" + stack + " --simulate", "# rehearses it on simulated clouds"},
		{"  runner up" + stack, "# shows what it would do, asks, and does it"},
	}}
	return text + table.Text(0)
}
