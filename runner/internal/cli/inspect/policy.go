package inspect

import (
	"github.com/urfave/cli/v2"

	"mara/runner/internal/cli/cmd"
	"mara/runner/internal/policy"
)

// Policy is `runner policy`.
func Policy(d cmd.Deps) *cli.Command {
	return &cli.Command{
		Name:  "policy",
		Usage: "hold what is deployed against rules in jq",
		Description: "Rules judge what an up would do: preview and up run them, and a finding that denies forbids the up. This\n" +
			"command lists them, and holds what is deployed against them. Files policies/*.jq at the root are rules;\n" +
			"policies/policies.yaml switches on rules that ship with the runner, and has levels and exceptions.\n\n" +
			cmd.ExitText(cmd.ExitDone, cmd.ExitFailed, cmd.ExitUsage, cmd.ExitConfig),
		Subcommands: []*cli.Command{policyListCommand(d), policyCheckCommand(d)},
	}
}

func loadPolicies(root string, noRoot error) (policy.Set, error) {
	if root == "" {
		return policy.Set{}, noRoot
	}
	return policy.Load(root)
}
