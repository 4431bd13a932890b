package access

import (
	"context"
	"maps"
	"os"
	"os/exec"
	"path/filepath"

	"github.com/urfave/cli/v2"

	"mara/runner/internal/cli/cmd"
	"mara/runner/internal/core/encryption"
	"mara/runner/internal/core/session"
	"mara/runner/internal/machine/failure"
	"mara/runner/internal/machine/process"
)

// Kubectl returns `runner kubectl`.
func Kubectl(d cmd.Deps) *cli.Command {
	return &cli.Command{
		Name: "kubectl", Usage: "run kubectl on the cluster of an environment", ArgsUsage: "-- ARGS...",
		Description: "Runs kubectl with the kubeconfig that the environment's cluster project exports. Your own " +
			"kubeconfig is neither read nor changed, so that it does not matter which context is current.\n\n" +
			"Examples:\n  runner kubectl -s dev -- get pods -A\n" +
			"  runner kubectl -s prod -- logs -n shop deploy/shop\n" +
			"  runner kubectl -s dev -p kind -- top nodes\n\n" +
			"Exit codes: those of kubectl, and\n" + cmd.ExitText(cmd.ExitUsage, cmd.ExitConfig),
		Flags:  cmd.JoinFlags(cmd.EnvironmentFlags(), cmd.PulumiFlags(), cmd.BaseFlags()),
		Action: cmd.Action(d, parseKubectl, cmd.InSession(session.Resolve, runKubectl)),
	}
}

func parseKubectl(_ *cli.Context, _ cmd.Deps, o cmd.Common) (cmd.Common, error) {
	if len(o.Args) == 0 {
		return o, failure.Usagef("kubectl", "name a command of kubectl: `%s kubectl -- get pods`", cmd.Program)
	}
	return o, nil
}

// runKubectl runs kubectl as a child, in the foreground, with a kubeconfig that goes with it.
func runKubectl(ctx context.Context, d cmd.Deps, o cmd.Common, s *session.Resolved) error {
	path, err := process.Find("kubectl", s.Settings.Root, s.Env["PATH"])
	if err != nil {
		return &failure.Environment{
			Text: "kubectl is not on the PATH", Next: "install it: https://kubernetes.io/docs/tasks/tools",
		}
	}
	content, err := cmd.OpenCluster(ctx, s)
	if err != nil {
		return err
	}
	dir, err := s.TempDir()
	if err != nil {
		return err
	}
	file := filepath.Join(dir, "kubeconfig")
	if err := os.WriteFile(file, content, 0o600); err != nil {
		return failure.RunnerDir(err)
	}
	env := maps.Clone(s.Env) // with the credentials that a kubeconfig's own login may need
	env["KUBECONFIG"] = file
	delete(env, encryption.PassphraseVariable)
	delete(env, encryption.PassphraseFileVariable)
	command := exec.Command(path, o.Args...)
	command.Env = process.Environ(env)
	return cmd.PassThrough(ctx, d, command)
}
