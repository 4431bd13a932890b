// Package rollout has the commands about all environments of a root at once: list,
// check, get and new. The operations on environments are in package operations.
package rollout

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/urfave/cli/v2"

	"mara/config"
	"mara/config/lists"
	"mara/runner/internal/cli/cmd"
	"mara/runner/internal/core/fleet"
	"mara/runner/internal/core/request"
	"mara/runner/internal/core/session"
	"mara/runner/internal/core/vault"
	"mara/runner/internal/core/view"
	"mara/runner/internal/machine/failure"
	"mara/runner/internal/machine/typeset"
)

// Command returns `runner fleet` with its subcommands; operations are the subcommands that
// work on environments.
func Command(d cmd.Deps, operations ...*cli.Command) *cli.Command {
	return &cli.Command{
		Name:  "fleet",
		Usage: "work on many environments at once",
		Description: "A fleet is all environments of one root, described by files in config/environments or only by a " +
			"stack file.\n" +
			"Labels choose environments, and config/rollout.yaml defines waves: groups of environments that are updated at\n" +
			"the same time. See docs/fleets.md.\n\n" + cmd.ExitText(cmd.AllExitCodes()...),
		Subcommands: append([]*cli.Command{listCommand(d), newCommand(d), getCommand(d), costsCommand(d)}, operations...),
	}
}

// options are the options of the commands that only read the configuration.
type options struct {
	cmd.Common
	Selection fleet.Selection
	Name      string // of the key or output that get shows
}

func parse(c *cli.Context, _ cmd.Deps, common cmd.Common) (options, error) {
	chosen, err := cmd.ParseFleet(c, c.Args().Slice())
	return options{Common: common, Selection: chosen}, err
}

func flags(own ...[]cli.Flag) []cli.Flag {
	return cmd.JoinFlags(cmd.FleetFlags(), cmd.JoinFlags(own...), cmd.OutputFlag("table", "json"), cmd.RootFlags(),
		cmd.BaseFlags())
}

func listCommand(d cmd.Deps) *cli.Command {
	return &cli.Command{
		Name: "list", Usage: "list the environments, with their labels and waves", ArgsUsage: cmd.FleetArguments,
		Description: "Only reads the configuration, and reports all problems in it.\n\n" +
			"Examples:\n  runner fleet list\n  runner fleet list -l stage=prod,region!=us-1\n" +
			"  runner fleet list 'eu-*' -o json\n\n" +
			cmd.ExitText(cmd.ExitDone, cmd.ExitUsage, cmd.ExitConfig),
		Flags:  flags([]cli.Flag{cmd.SimulateFlag("show the last runs of the simulated environments")}),
		Action: cmd.Action(d, parse, runList),
	}
}

// line is one environment, and its JSON form.
type line struct {
	Environment string            `json:"environment"`
	Provider    string            `json:"provider,omitempty"`
	Wave        string            `json:"wave,omitempty"` // "" if no wave matches
	Labels      map[string]string `json:"labels"`
	File        string            `json:"file"` // describes the environment
	Last        *view.PastRun     `json:"last_run,omitempty"`
	Error       string            `json:"error,omitempty"` // why its files cannot be read
}

func runList(_ context.Context, d cmd.Deps, o options) error {
	found, err := o.View(o.Selection)
	if err != nil {
		return err
	}
	last, err := view.NewestRuns(o.Directory().Runs())
	if err != nil { // in the checkout of another user, say; the environments are known all the same
		fmt.Fprintf(d.Stderr, "warning: the last runs are not shown: %v\n", err)
	}
	lines := []line{}
	for _, e := range found.Chosen {
		l := line{Environment: e.Stack, Provider: e.Provider, Labels: e.Own(), File: e.File}
		if wave, err := found.Waves.WaveOf(e); err == nil { // fleet check reports environments without a wave
			l.Wave = wave.Name
		}
		if run, ok := last[e.Stack]; ok {
			l.Last = &run
		}
		if err := found.Broken[e.Stack]; err != nil {
			l.Error = err.Error()
		}
		lines = append(lines, l)
	}
	if err := o.Show(d, lines, linesText(d, lines, len(found.Waves.Waves) > 0)); err != nil {
		return err
	}
	return found.Err
}

func linesText(d cmd.Deps, lines []line, waves bool) string {
	if len(lines) == 0 {
		return "no environments yet; describe the first one in config/environments/NAME.yaml\n"
	}
	table := typeset.Table{Columns: []typeset.Column{
		{Title: "ENVIRONMENT", Min: 10, Middle: true}, {Title: "PROVIDER", Optional: true}, {Title: "WAVE"},
		{Title: "LABELS", Min: 10, Wrap: true}, {Title: "LAST RUN", Min: 10},
	}}
	for _, l := range lines {
		wave := cmd.OrDash(l.Wave)
		if waves && l.Wave == "" {
			wave = "none"
		}
		labels := cmd.OrDash(labelText(l.Labels))
		if l.Error != "" {
			wave, labels = "-", "unknown: see below"
		}
		table.Rows = append(table.Rows, []string{l.Environment, cmd.Host(l.Provider), wave, labels,
			l.Last.Words(d.Now())})
	}
	return table.Text(d.Width())
}

func labelText(labels map[string]string) string {
	pairs := lists.Map(lists.Keys(labels), func(name string) string { return name + "=" + labels[name] })
	return strings.Join(pairs, ",")
}

func newCommand(d cmd.Deps) *cli.Command {
	return &cli.Command{
		Name: "new", Usage: "copy the configuration of an environment to a new one", ArgsUsage: "NAME",
		Description: "Copies the environment's description, stack files and secrets file. Secrets are re-encrypted with a " +
			"new key.\n" +
			"Layers stay shared. Nothing is deployed; look through the copies for values that must differ, such as labels,\n" +
			"names and addresses.\n\n" +
			"Examples:\n  runner fleet new prod-eu-2 --from prod-eu-1\n  runner fleet new review-17\n" +
			"  runner fleet new prod-eu-3 --from prod-eu-1 --yes -o json\n\n" +
			cmd.ExitText(cmd.ExitDone, cmd.ExitFailed, cmd.ExitUsage, cmd.ExitConfig),
		Flags: cmd.JoinFlags(
			[]cli.Flag{&cli.StringFlag{Name: "from", Usage: "copy the environment `OTHER`"}},
			cmd.OutputFlag("text", "json"), cmd.RootFlags(), cmd.ConfirmFlags(), cmd.PulumiFlags(), cmd.BaseFlags(),
		),
		Action: cmd.Action(d, parseNew, runNew),
	}
}

type newOptions struct {
	cmd.Common
	Name, From string
}

func parseNew(c *cli.Context, _ cmd.Deps, common cmd.Common) (newOptions, error) {
	o := newOptions{Common: common, Name: c.Args().First(), From: c.String("from")}
	switch {
	case o.Root == "":
		return o, o.NoRoot
	case o.Name == "":
		return o, failure.Usagef(cmd.Path(c), "name the new environment")
	case config.CheckStackName(o.Name) != nil:
		return o, failure.Usagef(cmd.Path(c), "%v", config.CheckStackName(o.Name))
	case o.From == "":
		return o, failure.Usagef(cmd.Path(c), "--from: name the environment to copy; `runner fleet list` lists them")
	}
	return o, nil
}

func runNew(ctx context.Context, d cmd.Deps, o newOptions) (err error) {
	known, err := o.Environments()
	if err != nil {
		return err
	}
	if !slices.Contains(known, o.From) {
		return failure.Usagef("fleet new", "--from: no environment %q%s", o.From, config.DidYouMean(o.From, known))
	}
	for _, path := range []string{config.DescriptionPath(o.Name), config.StackPath(o.Name),
		config.SecretsPath(o.Name)} {
		if _, err := os.Lstat(filepath.Join(o.Root, path)); !errors.Is(err, fs.ErrNotExist) {
			return &failure.Environment{Text: path + " exists already", Next: "choose another name; nothing was changed"}
		}
	}
	files, err := copies(ctx, d, o)
	if err != nil {
		return err
	}
	for _, file := range files {
		if _, err := os.Lstat(filepath.Join(o.Root, file.Path)); !errors.Is(err, fs.ErrNotExist) {
			return &failure.Environment{Text: file.Path + " exists already", Next: "choose another name; nothing was changed"}
		}
	}
	if err := writeAll(o.Root, files); err != nil {
		return err
	}
	names := lists.Map(files, func(file vault.NewFile) string { return file.Path })
	text := fmt.Sprintf("wrote %s\n\nNext:\n  runner config diff %s %s\n  runner check %[3]s\n",
		strings.Join(names, "\nwrote "), o.From, o.Name)
	return o.Show(d, map[string]any{"environment": o.Name, "from": o.From, "files": names}, text)
}

func copies(ctx context.Context, d cmd.Deps, o newOptions) (files []vault.NewFile, err error) {
	open := func(stack string, do func(*session.Resolved) error) error {
		options := o.Options
		options.Request = o.Of(stack)
		return session.Use(d.Deps, options, session.ResolveStack, do)
	}
	err = open(o.From, func(from *session.Resolved) error {
		return open(o.Name, func(to *session.Resolved) (err error) {
			files, err = from.Vault.CopyTo(ctx, to.Vault)
			return err
		})
	})
	return files, err
}

// writeAll writes the files, or none of them.
func writeAll(root string, files []vault.NewFile) error {
	for i, file := range files {
		if err := request.Write(root, file.Path, file.Content); err != nil {
			for _, written := range files[:i] {
				_ = os.Remove(filepath.Join(root, written.Path))
			}
			return err
		}
	}
	return nil
}

// apart says that machines do not see one another, if that holds for one of the environments; else it is "".
func apart(r request.Request, environments []fleet.Environment) string {
	root, err := r.RootSettings()
	if err != nil || r.Simulation.On {
		return "" // who needs the settings reports the error
	}
	for _, e := range environments {
		if text := config.Apart(cmp.Or(e.Backend, root.Backend.Text)); text != "" {
			return text
		}
	}
	return ""
}
