package command

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/urfave/cli/v2"

	"mara/config/lists"
	"mara/runner/internal/cli/cmd"
	"mara/runner/internal/core/event"
	"mara/runner/internal/core/sarif"
	"mara/runner/internal/feature/doctor/check"
	"mara/runner/internal/machine/typeset"
)

// Check returns `runner check`.
func Check(d cmd.Deps) *cli.Command {
	return &cli.Command{
		Name: "check", Usage: "check the files of all environments, without cloud or passphrase",
		ArgsUsage: cmd.FleetArguments,
		Description: "Judges everything that files alone tell: mara.yaml, the environment file, the configuration of every " +
			"environment with its layers, hooks, waves, policies, queries and prices. Values are compared with the keys " +
			"that the projects declare, with one another, and with dated lists of what clouds offer. It uses no " +
			"engine, no network, no passphrase and no account, and suits a pre-commit hook.\n\n" +
			"Errors make it exit with code 3; warnings do not. Missing secrets may be set on the machine that runs the " +
			"projects: they are listed, and are errors only with --secrets. With --simulate, values that a simulation " +
			"generates may be missing.\n\n" +
			"Examples:\n  runner check\n  runner check prod-eu -o sarif > check.sarif\n" +
			"  runner check -l stage=prod -o github\n\n" +
			cmd.ExitText(cmd.ExitDone, cmd.ExitUsage, cmd.ExitConfig),
		Flags: cmd.JoinFlags(
			cmd.FleetFlags(),
			[]cli.Flag{
				cmd.SimulateFlag("check the needs of simulated environments"),
				&cli.BoolFlag{Name: "secrets", Usage: "treat a missing passphrase or missing secrets as errors"},
			},
			cmd.OutputFlag("text", "json", "sarif", "github"), cmd.RootFlags(), cmd.BaseFlags(),
		),
		Action: cmd.CommonAction(d, parseCheck, runCheck),
	}
}

type checkOptions struct {
	check.Options
	cmd.Invocation
}

// parseCheck parses the flags. A broken environment file or mara.yaml is one of the problems to report.
func parseCheck(c *cli.Context, d cmd.Deps) (checkOptions, error) {
	common, broken, err := cmd.ParseBroken(c, d)
	if err != nil {
		return checkOptions{}, err
	}
	chosen, err := cmd.ParseFleet(c, common.Args)
	files := check.Options{Options: common.Options, Broken: broken, Chosen: chosen, Secrets: c.Bool("secrets")}
	return checkOptions{files, common.Invocation}, err
}

func runCheck(ctx context.Context, d cmd.Deps, o checkOptions) error {
	result, err := check.Run(ctx, d.Deps, o.Options)
	if err != nil {
		return err
	}
	switch o.Output {
	case "json":
		err = cmd.WriteJSON(d.Stdout, checkDocument(result))
	case "sarif":
		err = cmd.WriteJSON(d.Stdout, checkLog(d.Version, result))
	case "github":
		err = d.Print(annotations(result))
	default:
		err = d.Print(checkText(result))
	}
	if err == nil && len(result.Problems()) > 0 {
		err = cmd.Exit(cmd.ExitConfig)
	}
	return err
}

// checkedFinding is the JSON form of a finding.
type checkedFinding struct {
	Level        string     `json:"level"`
	Kind         check.Kind `json:"kind"`
	File         string     `json:"file,omitempty"`
	Line         int        `json:"line,omitempty"`
	Key          string     `json:"key,omitempty"`
	Text         string     `json:"text"`
	Environments []string   `json:"environments,omitempty"` // none if it is about the root
}

type checkedFiles struct {
	Environments []check.Environment `json:"environments"`
	Findings     []checkedFinding    `json:"findings"`
}

func checkDocument(r check.Result) checkedFiles {
	found := lists.Map(r.Findings, func(f check.Finding) checkedFinding {
		return checkedFinding{f.Level(), f.Kind, f.File, f.Line, f.Key, f.Text, f.Environments}
	})
	return checkedFiles{append([]check.Environment{}, r.Environments...), append([]checkedFinding{}, found...)}
}

// checkLog makes a SARIF log for code scanning.
func checkLog(version string, r check.Result) sarif.Log {
	var results []sarif.Result
	for _, f := range r.Findings {
		level := event.LevelDeny
		if f.Doubt {
			level = event.LevelWarn
		}
		found := event.Finding{Rule: string(f.Kind), Level: level, Message: f.Message(), File: f.File, Line: f.Line}
		results = append(results, sarif.Result{Finding: found, Text: found.Message})
	}
	return sarif.New(sarif.Options{Version: version, ID: "check", Rules: check.Summaries(),
		Help: "docs/configuration.md says what is checked, and what each key takes"}, results)
}

// annotations returns workflow commands of GitHub Actions, which annotate lines of the changed files.
func annotations(r check.Result) string {
	text := strings.NewReplacer("%", "%25", "\r", "%0D", "\n", "%0A")
	property := strings.NewReplacer("%", "%25", "\r", "%0D", "\n", "%0A", ":", "%3A", ",", "%2C")
	var b strings.Builder
	for _, f := range r.Findings {
		place := "title=" + property.Replace("runner check: "+string(f.Kind))
		if f.File != "" {
			place += ",file=" + property.Replace(f.File)
		}
		if f.Line > 0 {
			place += fmt.Sprintf(",line=%d", f.Line)
		}
		fmt.Fprintf(&b, "::%s %s::%s\n", f.Level(), place, text.Replace(f.Message()))
	}
	return b.String() + checkSummary(r)
}

// checkText lists the findings as compilers do, errors last.
func checkText(r check.Result) string {
	var b strings.Builder
	for _, doubt := range []bool{true, false} {
		for _, f := range r.Findings {
			if f.Doubt == doubt {
				fmt.Fprintln(&b, f)
			}
		}
	}
	return b.String() + checkSummary(r)
}

// checkSummary says how much was checked, and how many findings there are.
func checkSummary(r check.Result) string {
	problems := len(r.Problems())
	counts := "no problems"
	if problems > 0 {
		counts = typeset.Counted(problems, "problem")
	}
	if doubts := len(r.Findings) - problems; doubts > 0 {
		counts += ", " + typeset.Counted(doubts, "warning")
	}
	text := fmt.Sprintf("%s checked, %s\n", typeset.Counted(len(r.Environments), "environment"), counts)
	in := 0
	var keys []string
	for _, e := range r.Environments {
		in += min(len(e.Missing), 1)
		keys = append(keys, e.Missing...)
	}
	if in == 0 {
		return text
	}
	keys = slices.Compact(slices.Sorted(slices.Values(keys)))
	return text + fmt.Sprintf("not checked: %s missing in %s (%s); --secrets makes them errors\n",
		typeset.Counted(len(keys), "secret"), typeset.Counted(in, "environment"), strings.Join(keys, ", "))
}
