package kind

import (
	"context"
	"strings"

	"github.com/urfave/cli/v2"

	"mara/runner/internal/cli/cmd"
	"mara/runner/internal/core/encryption"
	"mara/runner/internal/core/session"
)

// Stop returns `runner stop`.
func Stop(d cmd.Deps) *cli.Command {
	return powerCommand(d, "stop", "stop the cluster of an environment on this machine",
		"Stops the nodes of the cluster and its registry, to free memory and processors. Nothing in them is "+
			"lost: `runner start` and the next up start them again. Only clusters of kind run on this machine.",
		Containers.Stop)
}

// Start returns `runner start`.
func Start(d cmd.Deps) *cli.Command {
	return powerCommand(d, "start", "start the cluster of an environment on this machine",
		"Starts the registry and the nodes of the cluster that are stopped or paused, for example since this "+
			"machine was restarted, and waits until the API server is ready. It changes nothing in the cluster.",
		Containers.Start)
}

func powerCommand(d cmd.Deps, name, usage, description string,
	do func(Containers, context.Context) ([]string, error)) *cli.Command {
	return &cli.Command{
		Name: name, Usage: usage,
		Description: description + "\n\nExamples:\n  runner " + name + " -s dev\n  runner " + name + " -p kind\n" +
			"  runner " + name + " -s dev -o json\n\n" +
			cmd.ExitText(cmd.ExitDone, cmd.ExitFailed, cmd.ExitUsage, cmd.ExitConfig, cmd.ExitLocked),
		Flags: cmd.JoinFlags(cmd.OutputFlag("text", "json"), cmd.EnvironmentFlags(), cmd.PulumiFlags(), cmd.BaseFlags()),
		Action: cmd.CommonAction(d, cmd.Parse, cmd.InSession(session.Resolve,
			func(ctx context.Context, d cmd.Deps, o cmd.Common, s *session.Resolved) error {
				return switchPower(ctx, d, o, s, name, do)
			})),
	}
}

// switchPower stops or starts the containers of an environment while no run works on it.
func switchPower(ctx context.Context, d cmd.Deps, o cmd.Common, s *session.Resolved, name string,
	do func(Containers, context.Context) ([]string, error)) error {
	if _, err := s.Lock(ctx, name); err != nil {
		return err
	}
	open, err := s.Read(ctx, encryption.Copies{})
	if err != nil {
		return err
	}
	found, err := Find(ctx, open)
	if err != nil {
		return err
	}
	names, err := do(found, ctx)
	if err != nil {
		return err
	}
	text := "nothing to " + name + "\n"
	if len(names) > 0 {
		text = map[string]string{"stop": "stopped ", "start": "started "}[name] + strings.Join(names, ", ") + "\n"
	}
	return o.Show(d, switched{Containers: append([]string{}, names...)}, text)
}

// switched lists the containers that a command has stopped or started.
type switched struct {
	Containers []string `json:"containers"`
}
