package inspect

import (
	"github.com/urfave/cli/v2"

	"mara/runner/internal/cli/cmd"
	"mara/runner/internal/guard/policy"
)

// Policy returns `runner policy`.
func Policy(d cmd.Deps) *cli.Command {
	return &cli.Command{
		Name:  "policy",
		Usage: "check deployed resources against rules in jq",
		Description: "Rules check what an up would change: preview and up run them, and a finding with the level deny " +
			"stops the up.\n" +
			"These commands list the rules, and check deployed resources. Files policies/*.jq at the root are rules;\n" +
			"policies/policies.yaml enables rules that ship with the runner, and sets levels and exceptions.\n\n" +
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
