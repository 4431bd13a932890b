package tools

import (
	"context"
	"fmt"
	"os/exec"
	"strings"

	"github.com/urfave/cli/v2"

	"mara/config"
	"mara/runner/internal/cli/cmd"
	"mara/runner/internal/core/event"
	"mara/runner/internal/machine/failure"
)

// Login returns `runner login`.
func Login(d cmd.Deps) *cli.Command {
	return &cli.Command{
		Name: "login", Usage: "log in to Pulumi Cloud, or name another backend for states", ArgsUsage: "[URL]",
		Description: "Does what `pulumi login` does, and keeps the login where plain pulumi finds it, in ~/.pulumi. The token\n" +
			"of Pulumi Cloud comes from PULUMI_ACCESS_TOKEN, else from the browser or a prompt; it is no argument.\n" +
			"PULUMI_BACKEND_URL and the description of an environment have precedence over a login. A pipeline\n" +
			"needs no login: PULUMI_ACCESS_TOKEN is enough.\n\n" +
			"Examples:\n  runner login\n  runner login https://pulumi.example.com\n  runner login s3://acme-environments/state\n\n" +
			"Exit codes: those of `pulumi login`, and\n" + cmd.ExitText(cmd.ExitUsage, cmd.ExitConfig, cmd.ExitInterrupted),
		Flags:  cmd.JoinFlags(cmd.PulumiFlags(), cmd.BaseFlags()),
		Action: cmd.Action(d, parseLogin, runLogin),
	}
}

func parseLogin(_ *cli.Context, _ cmd.Deps, o cmd.Common) (cmd.Common, error) {
	if len(o.Args) > 0 && strings.HasPrefix(o.Args[0], "pul-") { // as access tokens of Pulumi Cloud begin
		return o, &failure.Usage{
			Text: "a token is no argument: other users of the machine can read it there",
			Next: "set " + config.TokenVariable + ", and withdraw this token",
		}
	}
	return o, nil
}

func runLogin(ctx context.Context, d cmd.Deps, o cmd.Common) error {
	path, err := enginePath(d, o.Pulumi)
	if err != nil {
		return &failure.Environment{Text: err.Error()}
	}
	if backend := o.Sources.Lookup(config.BackendVariable); backend.IsSet() {
		fmt.Fprintf(d.Stderr, "warning: operations use %s, which %s names, and not the login\n", event.MaskURLs(backend.Text), backend.Origin)
	}
	command := exec.Command(path, append([]string{"login"}, o.Args...)...)
	command.Env = o.Sources.Process
	return cmd.PassThrough(ctx, d, command)
}
