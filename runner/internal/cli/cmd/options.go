package cmd

import (
	"errors"
	"fmt"
	"math"
	"net/http"
	"net/url"
	"runtime"
	"strings"
	"time"

	"github.com/urfave/cli/v2"

	"mara/config"
	"mara/projects/model/cloud"
	"mara/runner/internal/core/catalogue"
	"mara/runner/internal/core/discover"
	"mara/runner/internal/core/request"
	"mara/runner/internal/core/session"
	"mara/runner/internal/core/ui"
	"mara/runner/internal/machine/failure"
	"mara/runner/internal/machine/layout"
	"mara/runner/internal/machine/typeset"
)

// Common has the options that many commands share. Options without flags have defaults.
type Common struct {
	session.Options
	Invocation
}

// session returns the options to open a session with.
func (o Common) session() session.Options { return o.Options }

// Invocation has the options that do not depend on the environment.
type Invocation struct {
	Args   []string
	Output string
	Yes    bool
	Color  bool // stdout shows colours
}

// Parse reads the common flags. First it sets all flags that were not given, including
// the command's own, from their environment variables: call it before reading any flag.
func Parse(c *cli.Context, d Deps) (o Common, err error) {
	defer func() {
		if err == nil {
			o.noticeOverridden(d)
		}
	}()
	if !HasFlag(c.Command, "root") {
		o = begin(d)
		return o, o.readFlags(c, d)
	}
	o, broken, err := ParseBroken(c, d)
	if broken == nil {
		for _, p := range o.Known().Broken() {
			fmt.Fprintf(d.Stderr, "warning: %s\n", p)
		}
		return o, err
	}
	if HasFlag(c.Command, "stack") {
		broken = config.Join(broken, o.StackProblems())
	}
	return Common{}, broken
}

// noticeOverridden prints which variables the flags for stack and provider override.
func (o Common) noticeOverridden(d Deps) {
	for _, text := range []string{
		o.Sources.Overridden(o.Stack, config.RunnerStackVariable, config.StackVariable),
		o.Sources.Overridden(o.Provider, config.ProviderVariable),
	} {
		d.Note(text)
	}
}

// ParseKnown parses like Parse, for commands that only need the projects and providers:
// it ignores a broken environment file.
func ParseKnown(c *cli.Context, d Deps) (Common, error) {
	o, broken, err := ParseBroken(c, d)
	if broken != nil && o.Catalogue == nil {
		err = broken
	}
	return o, err
}

// ParseBroken parses like Parse, for commands that also work in a root whose files are broken.
// It returns the problems of these files as broken.
func ParseBroken(c *cli.Context, d Deps) (o Common, broken, err error) {
	o = begin(d)
	if broken = o.findRoot(c, d); broken != nil && o.Root == "" {
		return o, nil, broken
	}
	return o, broken, o.readFlags(c, d)
}

// begin returns what options are before a root or a flag is read.
func begin(d Deps) (o Common) {
	o.Sources.Process = d.Environ
	if d.BuiltIn != nil {
		o.BuiltIn = d.BuiltIn()
	}
	return o
}

// readFlags reads the flags, after findRoot.
func (o *Common) readFlags(c *cli.Context, d Deps) error {
	o.Stack = flagValue(c, "stack")
	o.Provider = flagValue(c, "provider")
	if err := fillFromEnvironment(c, o.Sources); err != nil {
		return err
	}
	o.Args, o.Output, o.Yes = c.Args().Slice(), Chosen(c, "output"), c.Bool("yes")
	o.Debug, o.Pulumi = c.Bool("debug"), c.String("pulumi")
	o.Interactive = d.StdinIsTerminal && d.StderrIsTerminal && !c.Bool("non-interactive") &&
		!o.Sources.Lookup("CI").IsSet()
	o.Color = d.StdoutIsTerminal && !c.Bool("no-color") && !o.Sources.Lookup("NO_COLOR").IsSet() &&
		o.Sources.Lookup("TERM").Text != "dumb"
	var err error
	o.Simulation, err = parseSimulation(c)
	return err
}

// findRoot finds the root and reads its environment file. A missing root is an
// error only for commands that need one.
func (o *Common) findRoot(c *cli.Context, d Deps) error {
	named := flagValue(c, "root")
	if !named.IsSet() {
		named = o.Sources.Lookup(Variable("root"))
	}
	root, err := config.FindRoot(d.Dir, named)
	if missing, ok := errors.AsType[*config.NoRootError](err); ok {
		o.NoRoot = noRoot{missing}
		return nil
	}
	if err != nil {
		return err
	}
	o.Root = root
	o.Sources.File, err = config.ReadEnvironment(root)
	known, catalogueErr := catalogue.Load(o.BuiltIn, root, o.Sources.Lookup("PATH").Text)
	if catalogueErr == nil {
		o.Catalogue = &known
	}
	stacks, _ := o.Environments() // other commands report the error
	o.Sources.UseOnlyStack(root, stacks)
	asked := o.Request
	o.Sources.Selected = asked.SelectedStack
	if err := config.Join(err, catalogueErr); err != nil {
		return err
	}
	if value, ok := o.Sources.File.Lookup(Variable("root")); ok {
		return value.Wrong("cannot be set here: the file is found below the root",
			"set it in the process environment, or use --root")
	}
	return nil
}

// noRoot is the error of a command that needs a root where there is none.
type noRoot struct{ *config.NoRootError }

// NextStep names the command that makes a root: another one beside Pulumi projects.
func (e noRoot) NextStep() string {
	found, _, err := discover.Find(e.Start)
	if err != nil || len(found) == 0 {
		return e.NoRootError.NextStep()
	}
	return fmt.Sprintf("it has %s: `runner adopt` finds their order and writes %s",
		typeset.Counted(len(found), "Pulumi project"), config.MaraFile)
}

// Unwrap returns the error without the hint.
func (e noRoot) Unwrap() error { return e.NoRootError }

// flagValue returns the value of a flag that was given.
func flagValue(c *cli.Context, flag string) config.Value {
	if !HasFlag(c.Command, flag) || !c.IsSet(flag) {
		return config.Value{}
	}
	return config.Value{Text: c.String(flag), Origin: config.Origin{Source: config.FromFlag, Name: Dashed(flag)}}
}

// fillFromEnvironment sets the flags that were not given from RUNNER_
// variables. Root, stack and provider have rules of their own.
func fillFromEnvironment(c *cli.Context, sources config.Sources) error {
	for _, flag := range c.Command.Flags {
		name := flag.Names()[0]
		if c.IsSet(name) || name == "root" || name == "stack" || name == "provider" {
			continue
		}
		value := sources.Lookup(VariableOf(flag))
		if !value.IsSet() {
			continue
		}
		texts := []string{value.Text}
		if _, repeated := flag.(*cli.StringSliceFlag); repeated {
			texts = strings.FieldsFunc(value.Text, func(r rune) bool { return r == ';' })
		}
		for _, text := range texts {
			if err := c.Set(name, text); err != nil {
				return value.Wrong(fmt.Sprintf("%q is not a valid value%s", text, cause(err.Error())), "")
			}
		}
	}
	return nil
}

func parseSimulation(c *cli.Context) (request.Simulation, error) {
	if !HasFlag(c.Command, "simulate-speed") {
		return request.Simulation{On: c.Bool("simulate")}, nil
	}
	s := request.Simulation{
		On:    c.Bool("simulate"),
		Speed: c.Float64("simulate-speed"),
		Fail:  c.StringSlice("simulate-fail"),
		Slow:  c.StringSlice("simulate-slow"),

		Schemas: c.StringSlice("simulate-schema"), Unknown: Chosen(c, "simulate-unknown") == unknownInputs,
	}
	if !(s.Speed > 0) || math.IsInf(s.Speed, 0) {
		return request.Simulation{}, failure.Usagef(Path(c), "--simulate-speed: %v is not a number greater than 0", s.Speed)
	}
	if !s.On && (len(s.Fail) > 0 || len(s.Slow) > 0) {
		return request.Simulation{}, failure.Usagef(Path(c), "--simulate-fail and --simulate-slow need --simulate")
	}
	if !s.On && len(s.Schemas) > 0 {
		return request.Simulation{}, failure.Usagef(Path(c), "--simulate-schema needs --simulate")
	}
	if !s.On && s.Unknown {
		return request.Simulation{}, failure.Usagef(Path(c), "--simulate-unknown needs --simulate")
	}
	return s, nil
}

// PulumiFlags returns the flags that choose an installed Pulumi.
func PulumiFlags() []cli.Flag {
	return []cli.Flag{
		&cli.StringFlag{Name: "pulumi", Category: CommonCategory,
			Usage: "use the installed Pulumi at `PATH` instead of the embedded engine"},
	}
}

// LockFlags returns the flags of commands that lock the environment.
func LockFlags() []cli.Flag {
	return []cli.Flag{
		&cli.DurationFlag{Name: "lock-timeout",
			Usage: "wait up to `DURATION` for other runs and for Pulumi's locks", DefaultText: "0s"},
	}
}

// ParseLock returns how long to wait for the lock.
func ParseLock(c *cli.Context) (time.Duration, error) {
	wait := c.Duration("lock-timeout")
	if wait < 0 {
		return wait, failure.Usagef(Path(c), "--lock-timeout: %s is negative", wait)
	}
	return wait, nil
}

// DefaultParallel is how many projects run at once by default.
const DefaultParallel = 4

// Proxy chooses the proxy for a request, from the variables of the process.
func (o Common) Proxy() func(*http.Request) (*url.URL, error) {
	return cloud.Proxy(o.Sources.Looking())
}

// Charts returns the directory where charts are kept, or "" without a root.
func (o Common) Charts() string {
	if o.Root == "" {
		return ""
	}
	return layout.Of(o.Root, false).Charts()
}

// Facts returns the facts that decide how output looks.
func (o Common) Facts(d Deps) ui.Facts {
	return ui.Facts{
		Terminal: d.StdoutIsTerminal, NoColour: !o.Color, Logging: o.Debug && d.StderrIsTerminal,
		Getenv: func(name string) string { return o.Sources.Lookup(name).Text }, OS: runtime.GOOS,
	}
}
