package trial

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"al.essio.dev/pkg/shellescape"
	"github.com/urfave/cli/v2"

	"mara/config"
	"mara/runner/internal/cli/cmd"
	"mara/runner/internal/machine/failure"
	"mara/runner/internal/machine/prompt"
)

// Demo returns `runner demo`.
func Demo(d cmd.Deps, run cmd.RunFunc) *cli.Command {
	return &cli.Command{
		Name: "demo", Usage: "deploy and destroy a demo environment on simulated clouds",
		Description: "Takes less than a minute, and needs no account, cluster or network. It deploys a complete " +
			"Kubernetes environment, in which a registry rejects an image, resumes the failed run, shows what is " +
			"deployed, and destroys everything. The engine and the programs are real; only the clouds are " +
			"simulated.\n\n" +
			"The demo uses a temporary directory, and removes it at the end, also after Ctrl-C. With --keep it " +
			"stays, with the states, logs and reports of the runs.\n\n" +
			"Examples:\n  runner demo\n  runner demo --keep\n  runner demo --pulumi ~/.pulumi/bin/pulumi\n\n" +
			cmd.ExitText(cmd.ExitDone, cmd.ExitFailed, cmd.ExitUsage, cmd.ExitConfig, cmd.ExitInterrupted),
		Flags: cmd.JoinFlags(
			[]cli.Flag{&cli.BoolFlag{Name: "keep", Usage: "keep the directory"}},
			cmd.PulumiFlags(), cmd.BaseFlags(),
		),
		Action: cmd.Action(d, func(c *cli.Context, _ cmd.Deps, _ cmd.Common) (demoOptions, error) {
			return demoOptions{c.Bool("keep"), passedOn(c, cmd.PulumiFlags(), cmd.BaseFlags())}, nil
		}, func(ctx context.Context, d cmd.Deps, o demoOptions) error {
			return runDemo(ctx, d, o, run)
		}),
	}
}

type demoOptions struct {
	Keep   bool
	common []string // flags that every command gets
}

// scene is a command of the demo, with its expected exit code.
type scene struct {
	says string
	args []string
	code int
}

// scenes returns the commands of the demo. A user would run them without --yes.
func scenes() []scene {
	return []scene{
		{"Deploy 14 projects in dependency order. A registry that rejects an image makes one of them fail.",
			[]string{
				"up", "-p", "kind", "-s", "demo", "--simulate", "--yes",
				"--simulate-fail", "docker:index/registryImage:RegistryImage=the registry answers 503",
			}, cmd.ExitFailed},
		{"The registry works again. Resume with the remaining projects.",
			[]string{"up", "-s", "demo", "--simulate", "--yes", "--resume"}, cmd.ExitDone},
		{"Show what is deployed, and the address of the application.",
			[]string{"status", "-s", "demo", "--simulate"}, cmd.ExitDone},
		{"", []string{"outputs", "bank-of-anthos", "application_url", "-s", "demo", "--simulate"}, cmd.ExitDone},
		{"Destroy everything, in reverse order.",
			[]string{"destroy", "-s", "demo", "--simulate", "--yes", "--remove-stacks"}, cmd.ExitDone},
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
	if err := os.MkdirAll(filepath.Join(dir, config.Directory), 0o700); err != nil {
		return err
	}
	d.Dir, d.Environ = dir, neutral(d.Environ)
	for _, s := range scenes() {
		if err := play(ctx, d, s, append(o.common, "--root", dir), run); err != nil {
			return err
		}
	}
	if err := showReports(ctx, d, o); err != nil {
		return err
	}
	if o.Keep {
		fmt.Fprintf(d.Stdout, "\nThe files of the demo are in %s; remove it when you are done.\n", dir)
	} else {
		fmt.Fprint(d.Stdout, "\nDone. The files of the demo were removed. To start your own environment:\n  runner init "+
			"my-environments\n")
	}
	return nil
}

// showReports waits on a terminal until the reports of the runs were looked at, before they are removed.
func showReports(ctx context.Context, d cmd.Deps, o demoOptions) error {
	terminal, ok := prompt.NewTerminal(d.Stdin, d.Stdout)
	if o.Keep || !ok || !d.StdinIsTerminal || !d.StdoutIsTerminal {
		return nil
	}
	_, err := terminal.Text(ctx, "The lines that begin with Report name a page of each run. Press Enter to remove them:")
	return err
}

// play runs a command as a user would, and checks its exit code.
func play(ctx context.Context, d cmd.Deps, s scene, common []string, run cmd.RunFunc) error {
	if err := context.Cause(ctx); err != nil {
		return err
	}
	fmt.Fprintln(d.Stdout)
	if s.says != "" {
		fmt.Fprintf(d.Stdout, "# %s\n", s.says)
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
