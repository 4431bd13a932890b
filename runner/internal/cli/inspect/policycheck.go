package inspect

import (
	"context"
	"errors"
	"io"
	"time"

	"github.com/urfave/cli/v2"

	"mara/runner/internal/cli/cmd"
	"mara/runner/internal/failure"
	"mara/runner/internal/policy"
	"mara/runner/internal/query"
)

func policyCheckCommand(d cmd.Deps) *cli.Command {
	return &cli.Command{
		Name:  "check",
		Usage: "hold what is deployed against the rules",
		Description: "Reads the states of all environments, or with --live the objects in their clusters, as `runner query` does,\n" +
			"and holds them against the rules that are on. A finding that denies makes it exit with code 1.\n\n" +
			"Examples:\n  runner policy check\n  runner policy check -s dev --live\n  runner policy check -o sarif > policies.sarif\n\n" +
			cmd.ExitText(cmd.ExitDone, cmd.ExitFailed, cmd.ExitUsage, cmd.ExitConfig),
		Flags: cmd.JoinFlags(
			[]cli.Flag{
				&cli.BoolFlag{Name: "live", Usage: "judge the objects in the clusters instead of the states"},
				&cli.DurationFlag{Name: "timeout", Value: 30 * time.Second, Usage: "wait up to `DURATION` for each cluster"},
				&cli.StringFlag{Name: "stack", Aliases: []string{"s"}, Category: cmd.CommonCategory, Usage: "judge the stack `NAME` alone (default: all)"},
				&cli.BoolFlag{Name: "simulate", Category: cmd.CommonCategory, Usage: "judge the simulated environments"},
			},
			cmd.OutputFlag("table", "json", "sarif"), cmd.RootFlags(), cmd.PulumiFlags(), cmd.BaseFlags(),
		),
		Action: cmd.Action(d, parsePolicyCheck, runPolicyCheck),
	}
}

func parsePolicyCheck(c *cli.Context, _ cmd.Deps, common cmd.Common) (queryOptions, error) {
	o := queryOptions{Common: common, Live: c.Bool("live"), Timeout: c.Duration("timeout")}
	switch {
	case o.Timeout <= 0:
		return o, failure.Usagef(cmd.Path(c), "--timeout: %s is not more than 0", o.Timeout)
	case o.Live && o.Simulation.On:
		return o, failure.Usagef(cmd.Path(c), "simulated clusters have no objects to ask for; without --live the states are judged")
	}
	return o, nil
}

func runPolicyCheck(ctx context.Context, d cmd.Deps, o queryOptions) error {
	set, err := loadPolicies(o.Root, o.NoRoot)
	if err != nil {
		return err
	}
	if !set.Active() {
		return &failure.Environment{Text: "no rule is on", Next: "choose some in " + policy.SettingsFile + ", or write your own; `runner policy list` shows them"}
	}
	document, err := collect(ctx, d, o, query.Named{State: !o.Live, Live: o.Live})
	if err != nil {
		return err
	}
	findings := []environmentFinding{}
	for _, e := range document.Environments() {
		target := policy.Target{Stack: e}
		if described, err := o.Environment(e); err == nil { // what is deployed is judged even so
			target.Labels = described.Labels
		}
		found, err := set.Judge(ctx, document.Plan(e), target, d.Now())
		if err != nil {
			return err
		}
		for _, f := range found {
			findings = append(findings, environmentFinding{e, f})
		}
	}
	incomplete := document.incomplete()
	if err := writeFindings(d, o, set, findings, incomplete == nil); err != nil {
		return err
	}
	for _, f := range findings {
		if len(policy.Denied([]policy.Finding{f.Finding})) > 0 {
			return errors.Join(incomplete, &cmd.Reported{Code: cmd.ExitFailed})
		}
	}
	return incomplete
}

type environmentFinding struct {
	Environment string `json:"environment"`
	policy.Finding
}

func writeFindings(d cmd.Deps, o queryOptions, set policy.Set, findings []environmentFinding, complete bool) error {
	switch o.Output {
	case "json":
		return cmd.WriteJSON(d.Stdout, findings)
	case "sarif":
		return cmd.WriteJSON(d.Stdout, sarif(d.Version, set, findings))
	}
	if o.Simulation.On {
		_, _ = io.WriteString(d.Stdout, "[SIMULATED]\n\n") // the next write tells an error
	}
	if len(findings) == 0 {
		text := "no findings\n"
		if !complete {
			text = "no findings in what could be read\n"
		}
		_, err := io.WriteString(d.Stdout, text)
		return err
	}
	var rows [][]string
	for _, f := range findings {
		level, message := string(f.Level), f.Message
		if f.Exception != "" {
			level, message = "allowed", message+"; "+f.Exception
		}
		rows = append(rows, []string{level, f.Rule, f.Environment, f.Project, f.Type + " " + f.Name, message})
	}
	return writeRows(d.Stdout, []string{"level", "rule", "environment", "project", "resource", "finding"}, rows, d.Width())
}

// sarif makes a log in the Static Analysis Results Interchange Format, 2.1.0.
func sarif(version string, set policy.Set, findings []environmentFinding) any {
	type text struct {
		Text string `json:"text"`
	}
	rules, results := []any{}, []any{}
	for _, rule := range set.Rules {
		if rule.On {
			rules = append(rules, map[string]any{"id": rule.Name, "shortDescription": text{rule.Summary}})
		}
	}
	for _, f := range findings {
		level := map[policy.Level]string{policy.Deny: "error", policy.Warn: "warning"}[f.Level]
		result := map[string]any{
			"ruleId": f.Rule, "level": level, "message": text{f.Environment + ": " + f.String()},
			"locations": []any{map[string]any{"logicalLocations": []any{map[string]any{"fullyQualifiedName": f.URN, "kind": "resource"}}}},
		}
		if f.Exception != "" {
			result["suppressions"] = []any{map[string]any{"kind": "external", "justification": f.Exception}}
		}
		results = append(results, result)
	}
	return map[string]any{
		"$schema": "https://json.schemastore.org/sarif-2.1.0.json", "version": "2.1.0",
		"runs": []any{map[string]any{"tool": map[string]any{"driver": map[string]any{"name": "mara", "version": version, "rules": rules}}, "results": results}},
	}
}
