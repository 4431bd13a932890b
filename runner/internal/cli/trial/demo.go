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
	"mara/runner/internal/failure"
)

// Demo is `runner demo`.
func Demo(d cmd.Deps, run cmd.RunFunc) *cli.Command {
	return &cli.Command{
		Name: "demo", Usage: "show what the runner does: an environment from nothing to nothing, simulated",
		Description: "Shows itself in under a minute, without an account, a cluster or a network: it stands up a whole Kubernetes\n" +
			"environment, in which a registry refuses an image, carries on where that has stopped it, looks at what is deployed,\n" +
			"and destroys it. The engine and the programs are the real ones, the clouds are simulated.\n\n" +
			"Everything is in a temporary folder, which is removed in the end, also after Ctrl-C. --keep leaves it, with the\n" +
			"states, the logs and the pages of the runs.\n\n" +
			"Examples:\n  runner demo\n  runner demo --keep\n\n" +
			cmd.ExitText(cmd.ExitDone, cmd.ExitFailed, cmd.ExitUsage, cmd.ExitConfig, cmd.ExitInterrupted),
		Flags: cmd.JoinFlags(
			[]cli.Flag{&cli.BoolFlag{Name: "keep", Usage: "leave the folder"}},
			cmd.PulumiFlags(), cmd.BaseFlags(),
		),
		Action: cmd.Action(d, parseDemo, func(ctx context.Context, d cmd.Deps, o demoOptions) error { return runDemo(ctx, d, o, run) }),
	}
}

type demoOptions struct {
	Keep   bool
	common []string // flags that every command gets
}

func parseDemo(c *cli.Context, _ cmd.Deps, o cmd.Common) (demoOptions, error) {
	return demoOptions{Keep: c.Bool("keep"), common: common(c, o)}, nil
}

// scene is a command of the demonstration, and how it has to end.
type scene struct {
	says string
	args []string
	code int
}

// scenes are the demonstration: commands of a user, who would leave out --yes.
func scenes() []scene {
	return []scene{
		{"An environment from nothing: 14 projects, each as soon as what it needs is there. A registry that refuses an image stops it.",
			[]string{"up", "-p", "kind", "-s", "demo", "--simulate", "--yes", "--simulate-fail", "docker:index/registryImage:RegistryImage=the registry answers 503"}, cmd.ExitFailed},
		{"The registry is well again. The same command carries on with what is left.",
			[]string{"up", "-s", "demo", "--simulate", "--yes", "--resume"}, cmd.ExitDone},
		{"What is deployed, and where the application answers.",
			[]string{"status", "-s", "demo", "--simulate"}, cmd.ExitDone},
		{"", []string{"outputs", "bank-of-anthos", "application_url", "-s", "demo", "--simulate"}, cmd.ExitDone},
		{"Everything away, in the opposite order.",
			[]string{"destroy", "-s", "demo", "--simulate", "--yes", "--remove-stacks"}, cmd.ExitDone},
	}
}

func runDemo(ctx context.Context, d cmd.Deps, o demoOptions, run cmd.RunFunc) (err error) {
	folder, err := os.MkdirTemp("", "runner-demo-")
	if err != nil {
		return &failure.Environment{Text: err.Error(), Next: "let TMPDIR name a folder that you may write to"}
	}
	if !o.Keep {
		defer func() { err = withRemoved(err, folder) }()
	}
	if err := os.MkdirAll(filepath.Join(folder, config.Folder), 0o700); err != nil {
		return err
	}
	d.Dir, d.Environ = folder, neutral(d.Environ)
	for _, s := range scenes() {
		if err := play(ctx, d, s, append(o.common, "--root", folder), run); err != nil {
			return err
		}
	}
	if o.Keep {
		fmt.Fprintf(d.Stdout, "\nEverything about it is in %s; remove it when you have seen enough.\n", folder)
	} else {
		fmt.Fprint(d.Stdout, "\nThat was all; nothing of it is left. Begin with your own folder:\n  runner init my-environments\n")
	}
	return nil
}

// play runs a command as a user would, and holds it against how it has to end.
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
	case code == cmd.ExitInterrupted, code == cmd.ExitConfig: // it has said why itself
		return &cmd.Reported{Code: code}
	}
	return fmt.Errorf("the demonstration: `runner %s` ended with %d instead of %d", s.args[0], code, s.code)
}

// neutral leaves of an environment what says nothing about clouds, states and
// the runner: the demonstration is the same for everybody.
func neutral(environ []string) []string {
	return slices.DeleteFunc(slices.Clone(environ), func(entry string) bool {
		name, _, _ := strings.Cut(entry, "=")
		return strings.HasPrefix(name, "PULUMI_") || strings.HasPrefix(name, "RUNNER_") || name == "KUBECONFIG"
	})
}

// withRemoved removes the folder, and says if that was not possible.
func withRemoved(err error, folder string) error {
	if failed := os.RemoveAll(folder); failed != nil && err == nil {
		return &failure.Environment{Text: "what the demonstration has made could not be removed: " + failed.Error(), Next: "remove " + folder}
	}
	return err
}
