package trial

import (
	"bytes"
	"context"
	"embed"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"al.essio.dev/pkg/shellescape"
	"github.com/urfave/cli/v2"

	"mara/config"
	"mara/runner/internal/cli/cmd"
	"mara/runner/internal/core/event"
	"mara/runner/internal/machine/failure"
	"mara/runner/internal/machine/prompt"
)

// kubernetes is the argument that asks for the demo of a Kubernetes environment.
const kubernetes = "kubernetes"

// Demo returns `runner demo`.
func Demo(d cmd.Deps, run cmd.RunFunc) *cli.Command {
	return &cli.Command{
		Name: "demo", Usage: "deploy, break, resume and destroy three small projects",
		ArgsUsage: "[" + kubernetes + "]",
		Description: "Takes seconds, and needs no account, cluster or network. Three Pulumi projects in YAML, which read one " +
			"another's outputs, are deployed in dependency order. One fails, the run is resumed, a value is changed and " +
			"flows to the project that reads it, and everything is destroyed. Nothing is simulated.\n\n" +
			"`runner demo kubernetes` shows a complete Kubernetes environment of 14 projects, on simulated clouds: the engine " +
			"and the programs are real. That takes less than a minute.\n\n" +
			"The demo uses a temporary directory, and removes it at the end, also after Ctrl-C. With --keep it " +
			"stays, with the states, logs and reports of the runs.\n\n" +
			"Examples:\n  runner demo\n  runner demo kubernetes\n  runner demo --keep\n  runner demo --pulumi ~/.pulumi/bin/pulumi\n\n" +
			cmd.ExitText(cmd.ExitDone, cmd.ExitFailed, cmd.ExitUsage, cmd.ExitConfig, cmd.ExitInterrupted),
		Flags: cmd.JoinFlags(
			[]cli.Flag{&cli.BoolFlag{Name: "keep", Usage: "keep the directory"}},
			cmd.PulumiFlags(), cmd.BaseFlags(),
		),
		Action: cmd.Action(d, func(c *cli.Context, _ cmd.Deps, _ cmd.Common) (demoOptions, error) {
			what := c.Args().First()
			if what != "" && what != kubernetes {
				return demoOptions{}, failure.Usagef("demo", "there is no demo %q%s", what, config.DidYouMean(what, []string{kubernetes}))
			}
			return demoOptions{c.Bool("keep"), what == kubernetes, passedOn(c, cmd.PulumiFlags(), cmd.BaseFlags())}, nil
		}, func(ctx context.Context, d cmd.Deps, o demoOptions) error {
			return runDemo(ctx, d, o, run)
		}),
	}
}

type demoOptions struct {
	Keep       bool
	Kubernetes bool
	common     []string // flags that every command gets
}

// scene is a command of the demo, with its expected exit code.
type scene struct {
	says string
	args []string
	code int

	file, content string // what is written before the command, if anything
}

// ownProjects are the files of three projects that need nothing but the engine. The list of prices is missing on purpose.
//
//go:embed projects
var ownProjects embed.FS

// ownScenes returns the commands of the demo with three projects. A user would run them without --yes.
func ownScenes() []scene {
	up := []string{"up", "-s", "dev", "--yes"}
	return []scene{
		{says: "Three Pulumi projects. mara.yaml lists them, and which project reads which.",
			args: []string{"plan", "-s", "dev"}},
		{says: "Deploy them in this order. The shop reads a list of prices, which is missing.",
			args: up, code: cmd.ExitFailed},
		{says: "Write the list, and resume: what has succeeded does not run again.", file: "shop/prices.txt",
			content: "a book costs 12", args: append(up, "--resume")},
		{says: "Change a value of the network. It flows to the projects that read it.",
			args: []string{"config", "set", "network:domain", "books.example", "-s", "dev"}},
		{args: up},
		{args: []string{"outputs", "shop", "-s", "dev"}},
		{says: "Destroy everything, in reverse order.", args: []string{"destroy", "-s", "dev", "--yes", "--remove-stacks"}},
	}
}

// kubernetesScenes returns the commands of the demo with an environment of the built-in projects.
func kubernetesScenes() []scene {
	return []scene{
		{says: "Deploy 14 projects in dependency order. A registry that rejects an image makes one of them fail.",
			args: []string{
				"up", "-p", "kind", "-s", "demo", "--simulate", "--yes",
				"--simulate-fail", "docker:index/registryImage:RegistryImage=the registry answers 503",
			}, code: cmd.ExitFailed},
		{says: "The registry works again. Resume with the remaining projects.",
			args: []string{"up", "-s", "demo", "--simulate", "--yes", "--resume"}},
		{says: "Show what is deployed, and the address of the application.",
			args: []string{"status", "-s", "demo", "--simulate"}},
		{args: []string{"outputs", "bank-of-anthos", "application_url", "-s", "demo", "--simulate"}},
		{says: "Destroy everything, in reverse order.",
			args: []string{"destroy", "-s", "demo", "--simulate", "--yes", "--remove-stacks"}},
	}
}

func runDemo(ctx context.Context, d cmd.Deps, o demoOptions, run cmd.RunFunc) (err error) {
	dir, err := os.MkdirTemp("", "runner-demo-")
	if err != nil {
		return &failure.Environment{Text: err.Error(), Next: "set TMPDIR to a writable directory"}
	}
	if !o.Keep {
		defer func() {
			if failed := os.RemoveAll(dir); failed != nil && err == nil {
				err = &failure.Environment{Text: "the files of the demo could not be removed: " + failed.Error(),
					Next: "remove " + dir}
			}
		}()
	}
	if err := prepare(dir, o); err != nil {
		return err
	}
	began, end := d.Now(), d.Stdout
	if !o.Keep && !waits(d) {
		d.Stdout = &withoutReports{to: d.Stdout}
	}
	d.Dir, d.Environ = dir, append(neutral(d.Environ), "PULUMI_CONFIG_PASSPHRASE=demo")
	scenes := ownScenes()
	if o.Kubernetes {
		scenes = kubernetesScenes()
	}
	for _, s := range scenes {
		if err := play(ctx, d, s, o.common, run); err != nil {
			return err
		}
	}
	if err := showReports(ctx, d, o); err != nil {
		return err
	}
	fmt.Fprint(end, "\n"+conclusion(dir, o, d.Now().Sub(began)))
	return nil
}

// prepare makes the root that the commands of the demo find from its directory.
func prepare(dir string, o demoOptions) error {
	if err := os.MkdirAll(filepath.Join(dir, config.Directory), 0o700); err != nil || o.Kubernetes {
		return err
	}
	files, err := fs.Sub(ownProjects, "projects")
	if err != nil {
		return err
	}
	return os.CopyFS(dir, files)
}

// conclusion says what the demo has left, and what comes next.
func conclusion(dir string, o demoOptions, took time.Duration) string {
	left := "The files of the demo were removed."
	if o.Keep {
		left = "The files of the demo are in " + dir + "; remove it when you are done."
	}
	text := "Done in " + event.FormatDuration(took) + ". " + left + "\n\n"
	if o.Kubernetes {
		return text + "To start an environment like this one:\n  runner init my-environments\n"
	}
	return text + "In a repository of Pulumi projects, deployed already or not:\n" +
		"  runner adopt               # finds which project reads which, and writes mara.yaml\n" +
		"A whole Kubernetes environment, on simulated clouds:\n  runner demo kubernetes\n"
}

// withoutReports leaves out the lines that name the report of a run, and the place of the states: they are removed before
// anybody can open them.
type withoutReports struct {
	to    io.Writer
	begun []byte // of a line that has not ended
	blank bool   // a line that is written if another one follows
}

func (w *withoutReports) Write(p []byte) (int, error) {
	w.begun = append(w.begun, p...)
	for {
		line, rest, ended := bytes.Cut(w.begun, []byte("\n"))
		if !ended {
			return len(p), nil
		}
		w.begun = rest
		switch {
		case bytes.HasPrefix(line, []byte("Report: ")):
			w.blank = false
			continue
		case len(line) == 0 && !w.blank:
			w.blank = true
			continue
		}
		line, _, _ = bytes.Cut(line, []byte(", state in file://"))
		text := string(line) + "\n"
		if w.blank {
			text = "\n" + text
		}
		w.blank = false
		if _, err := io.WriteString(w.to, text); err != nil {
			return 0, err
		}
	}
}

// showReports waits on a terminal until the reports of the runs were looked at, before they are removed.
func showReports(ctx context.Context, d cmd.Deps, o demoOptions) error {
	terminal, ok := prompt.NewTerminal(d.Stdin, d.Stdout)
	if o.Keep || !ok || !waits(d) {
		return nil
	}
	_, err := terminal.Text(ctx, "The lines that begin with Report name a page of each run. Press Enter to remove them:")
	return err
}

// waits reports whether somebody can look at the reports before they are removed.
func waits(d cmd.Deps) bool { return d.StdinIsTerminal && d.StdoutIsTerminal }

// play runs a command as a user would, and checks its exit code.
func play(ctx context.Context, d cmd.Deps, s scene, common []string, run cmd.RunFunc) error {
	if err := context.Cause(ctx); err != nil {
		return err
	}
	fmt.Fprintln(d.Stdout)
	if s.says != "" {
		fmt.Fprintf(d.Stdout, "# %s\n", s.says)
	}
	if s.file != "" {
		fmt.Fprintf(d.Stdout, "$ echo %s > %s\n", shellescape.Quote(s.content), s.file)
		if err := os.WriteFile(filepath.Join(d.Dir, s.file), []byte(s.content+"\n"), 0o600); err != nil {
			return err
		}
	}
	fmt.Fprintf(d.Stdout, "$ runner %s\n\n", shellescape.QuoteCommand(s.args))
	code := run(ctx, d, slices.Concat(s.args, common))
	switch {
	case code == s.code:
		return nil
	case context.Cause(ctx) != nil:
		return context.Cause(ctx)
	case code == cmd.ExitInterrupted, code == cmd.ExitConfig: // the command has printed the reason
		return cmd.Exit(code)
	}
	return fmt.Errorf("demo: `runner %s` exited with %d instead of %d", s.args[0], code, s.code)
}

// neutral returns the environment variables except variables that configure Pulumi, the runner
// or a cluster, so that the demo is the same for all users.
func neutral(environ []string) []string {
	return slices.DeleteFunc(slices.Clone(environ), func(entry string) bool {
		name, _, _ := strings.Cut(entry, "=")
		return strings.HasPrefix(name, "PULUMI_") || strings.HasPrefix(name, "RUNNER_") || name == "KUBECONFIG"
	})
}
