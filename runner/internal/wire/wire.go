// Package wire puts the program together: with main, it alone knows every feature.
package wire

import (
	"context"

	"mara/runner/internal/cli"
	"mara/runner/internal/cli/cmd"
	"mara/runner/internal/cli/extend"
	"mara/runner/internal/feature/access"
	"mara/runner/internal/feature/adopt"
	"mara/runner/internal/feature/backup"
	doctor "mara/runner/internal/feature/doctor/command"
	"mara/runner/internal/feature/export"
	"mara/runner/internal/feature/firstrun"
	"mara/runner/internal/feature/kind"
	mirror "mara/runner/internal/feature/mirror/command"
	"mara/runner/internal/feature/operator"
	policy "mara/runner/internal/feature/policy/command"
	"mara/runner/internal/feature/promote"
	"mara/runner/internal/feature/query"
	"mara/runner/internal/feature/rollout"
	"mara/runner/internal/feature/trial"
	"mara/runner/internal/feature/upgrade"
	web "mara/runner/internal/feature/web/command"
)

// Features returns the features of the program. Their order has no meaning.
func Features() []extend.Feature {
	return []extend.Feature{
		access.Feature(),
		adopt.Feature(),
		backup.Feature(),
		doctor.Feature(),
		export.Feature(),
		firstrun.Feature(),
		kind.Feature(),
		mirror.Feature(),
		operator.Feature(),
		policy.Feature(),
		promote.Feature(),
		query.Feature(),
		rollout.Feature(doctor.Check),
		trial.Feature(Run),
		upgrade.Feature(),
		web.Feature(),
	}
}

// Run runs a command line of the program, and returns its exit code.
func Run(ctx context.Context, d cmd.Deps, args []string) int {
	d.Guards = Guards()
	return cli.Run(ctx, d, Features(), args)
}

// Commands returns every command of the program, in the order of its help.
func Commands(d cmd.Deps) []cmd.Placed { return cli.Commands(d, Features()) }
