package command

import (
	"context"
	"errors"
	"time"

	"github.com/urfave/cli/v2"

	"mara/runner/internal/cli/cmd"
	"mara/runner/internal/core/operate"
	"mara/runner/internal/core/query"
	"mara/runner/internal/core/sarif"
	"mara/runner/internal/feature/policy"
	queries "mara/runner/internal/feature/query"
	"mara/runner/internal/machine/failure"
	"mara/runner/internal/machine/typeset"
)

// Policy returns `runner policy`.
func Policy(d cmd.Deps) *cli.Command {
	return &cli.Command{
		Name: "policy", Usage: "check deployed resources against rules in jq",
		Description: "Rules check what an up would change: preview and up run them, and a finding with the level " +
			"deny stops the up. These commands list the rules, and check deployed resources. Files policies/*.jq at " +
			"the root are rules; policies/policies.yaml enables rules that ship with the runner, and sets levels " +
			"and exceptions.\n\n" + cmd.ExitText(cmd.ExitDone, cmd.ExitFailed, cmd.ExitUsage, cmd.ExitConfig),
		Subcommands: []*cli.Command{policyListCommand(d), policyCheckCommand(d)},
	}
}

func loadPolicies(root string, noRoot error) (policy.Set, error) {
	if root == "" {
		return policy.Set{}, noRoot
	}
	return policy.Load(root)
}

func policyListCommand(d cmd.Deps) *cli.Command {
	return &cli.Command{
		Name: "list", Usage: "list the rules",
		Description: "Lists the rules of the root and the rules that ship with the runner, and shows which are " +
			"enabled.\n\n" +
			"Examples:\n  runner policy list\n  runner policy list -o json\n" +
			"  runner policy list --root ../platform\n\n" +
			cmd.ExitText(cmd.ExitDone, cmd.ExitUsage, cmd.ExitConfig),
		Flags:  cmd.JoinFlags(cmd.OutputFlag("table", "json"), cmd.RootFlags(), cmd.BaseFlags()),
		Action: cmd.CommonAction(d, cmd.Parse, runPolicyList),
	}
}

func runPolicyList(_ context.Context, d cmd.Deps, o cmd.Common) error {
	set, err := loadPolicies(o.Root, o.NoRoot)
	if err != nil {
		return err
	}
	table := typeset.Table{Columns: []typeset.Column{{Title: "RULE"}, {Title: "STATE"},
		{Title: "SUMMARY", Min: 20, Wrap: true}}}
	for _, rule := range set.Rules {
		state := "off"
		if rule.On {
			state = "on"
		}
		table.Rows = append(table.Rows, []string{rule.Name, state, rule.Summary})
	}
	return o.Show(d, set.Rules, table.Text(d.Width()))
}

func policyCheckCommand(d cmd.Deps) *cli.Command {
	return &cli.Command{
		Name: "check", Usage: "check deployed resources against the rules",
		Description: "Reads the states of all environments, or with --live the objects in their clusters, as " +
			"`runner query` does, and checks them against the enabled rules. A finding with the level deny makes it " +
			"exit with code 1.\n\n" +
			"Examples:\n  runner policy check\n  runner policy check -s dev --live\n" +
			"  runner policy check -o sarif > policies.sarif\n\n" +
			cmd.ExitText(cmd.ExitDone, cmd.ExitFailed, cmd.ExitUsage, cmd.ExitConfig),
		Flags: cmd.JoinFlags(
			[]cli.Flag{
				&cli.BoolFlag{Name: "live", Usage: "check the objects in the clusters instead of the states"},
				&cli.DurationFlag{Name: "timeout", Value: 30 * time.Second, Usage: "wait up to `DURATION` for each cluster"},
				cmd.StackFlag("check only the stack `NAME` (default: all)"),
				cmd.SimulateFlag("check the simulated environments"),
			},
			cmd.OutputFlag("table", "json", "sarif"), cmd.RootFlags(), cmd.PulumiFlags(), cmd.BaseFlags(),
		),
		Action: cmd.Action(d, parsePolicyCheck, runPolicyCheck),
	}
}

func parsePolicyCheck(c *cli.Context, _ cmd.Deps, common cmd.Common) (queries.Options, error) {
	o := queries.Options{Common: common, Live: c.Bool("live"), Timeout: c.Duration("timeout")}
	switch {
	case o.Timeout <= 0:
		return o, failure.Usagef(cmd.Path(c), "--timeout: %s is not greater than 0", o.Timeout)
	case o.Live && o.Simulation.On:
		return o, failure.Usagef(cmd.Path(c), "simulated clusters have no objects; remove --live to check the states")
	}
	return o, nil
}

func runPolicyCheck(ctx context.Context, d cmd.Deps, o queries.Options) error {
	set, err := loadPolicies(o.Root, o.NoRoot)
	if err != nil {
		return err
	}
	if !set.Active() {
		return &failure.Environment{Text: "no rule is enabled", Next: "enable some in " + policy.SettingsFile +
			", or write your own; `runner policy list` shows all rules"}
	}
	document, err := queries.Collect(ctx, d, o, query.Named{State: !o.Live, Live: o.Live})
	if err != nil {
		return err
	}
	findings, denied := []environmentFinding{}, false
	for _, e := range document.Environments() {
		target := policy.Target{Stack: e}
		// without a readable description, check the deployed resources alone
		if described, err := o.Environment(e); err == nil {
			target.Labels = described.Labels
		}
		found, err := set.Judge(ctx, document.Plan(e), target, d.Now())
		if err != nil {
			return err
		}
		for _, f := range found {
			findings = append(findings, environmentFinding{e, f})
		}
		denied = denied || len(policy.Denied(found)) > 0
	}
	incomplete := document.Incomplete()
	if err := writeFindings(d, o, set, findings, incomplete == nil); err != nil {
		return err
	}
	if denied {
		return errors.Join(incomplete, cmd.Exit(cmd.ExitFailed))
	}
	return incomplete
}

type environmentFinding struct {
	Environment string `json:"environment"`
	policy.Finding
}

func writeFindings(d cmd.Deps, o queries.Options, set policy.Set, findings []environmentFinding, complete bool) error {
	switch o.Output {
	case "json":
		return cmd.WriteJSON(d.Stdout, findings)
	case "sarif":
		return cmd.WriteJSON(d.Stdout, newLog(d.Version, o, set, findings, complete))
	}
	if o.Simulation.On {
		_ = d.Print("[SIMULATED]\n\n") // the next write returns the error
	}
	if len(findings) == 0 {
		text := "no findings\n"
		if !complete {
			text = "no findings in the states that could be read\n"
		}
		return d.Print(text)
	}
	var rows [][]any
	for _, f := range findings {
		level, message := string(f.Level), f.Message
		if f.Exception != "" {
			level, message = "allowed", message+"; "+f.Exception
		}
		rows = append(rows, []any{level, f.Rule, f.Environment, f.Project, f.Type + " " + f.Name, message})
	}
	return queries.WriteRows(d, []string{"level", "rule", "environment", "project", "resource", "finding"}, rows)
}

// newLog makes a SARIF log for code scanning.
func newLog(version string, o queries.Options, set policy.Set, findings []environmentFinding, complete bool) sarif.Log {
	options := sarif.Options{Version: version, ID: "deployed", Rules: map[string]string{}, Failed: !complete}
	if o.Stack.IsSet() {
		options.ID += "/" + o.Stack.Text
	}
	for _, rule := range set.Rules {
		if rule.On {
			options.Rules[rule.Name] = rule.Summary
		}
	}
	var results []sarif.Result
	for _, f := range findings {
		made := f.Event()
		place := operate.Place(o.Request, f.Environment, f.Project, f.Name)
		made.File, made.Line = place.File, place.Line
		results = append(results, sarif.Result{Finding: made, Text: f.Environment + ": " + f.String()})
	}
	return sarif.New(options, results)
}
