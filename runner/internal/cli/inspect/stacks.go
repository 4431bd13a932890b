package inspect

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/urfave/cli/v2"

	"mara/config"
	"mara/config/lists"
	"mara/projects/model/operation"
	"mara/runner/internal/cli/cmd"
	"mara/runner/internal/core/catalogue"
	"mara/runner/internal/core/event"
	"mara/runner/internal/core/inventory"
	"mara/runner/internal/core/session"
	"mara/runner/internal/core/stacks"
	"mara/runner/internal/core/view"
	"mara/runner/internal/machine/failure"
	"mara/runner/internal/machine/typeset"
)

// Stacks returns `runner stacks`.
func Stacks(d cmd.Deps) *cli.Command {
	return &cli.Command{
		Name: "stacks", Usage: "list the environments, with provider and state",
		Description: "Lists the stacks that are configured here, were deployed from here, or exist in the backend, " +
			"with provider, number of deployed projects, number of resources, and the last run from here. It only " +
			"reads, and needs no passphrase. A star marks the default stack, PULUMI_STACK.\n\n" +
			"Examples:\n  runner stacks\n  runner stacks --simulate -o json\n" +
			"  runner stacks --root ../platform\n\n" +
			cmd.ExitText(cmd.ExitDone, cmd.ExitFailed, cmd.ExitUsage, cmd.ExitConfig),
		Flags: cmd.JoinFlags(
			cmd.OutputFlag("table", "json"), cmd.RootFlags(),
			[]cli.Flag{cmd.SimulateFlag("list the simulated environments")},
			cmd.PulumiFlags(), cmd.BaseFlags(),
		),
		Action: cmd.CommonAction(d, cmd.Parse, cmd.InSession(session.ResolveRoot, runStacks)),
	}
}

// environmentLine is one environment of the list, and its JSON form.
type environmentLine struct {
	Stack      string              `json:"stack"`
	Default    bool                `json:"default"`             // named by PULUMI_STACK
	Provider   string              `json:"provider,omitempty"`  // "" if not known
	Configured bool                `json:"configured"`          // files name it
	Deployed   int                 `json:"deployed"`            // number of projects with resources
	Projects   int                 `json:"projects,omitempty"`  // number of the provider's projects
	Resources  int                 `json:"resources"`           // as the backend lists them, references to other stacks included
	Operation  operation.Operation `json:"operation,omitempty"` // last operation from here
	Result     event.Result        `json:"result,omitempty"`
	Started    *time.Time          `json:"started,omitempty"`

	last *view.PastRun
}

func runStacks(ctx context.Context, d cmd.Deps, o cmd.Common, s *session.Resolved) error {
	deployed, err := inventory.Stacks(ctx, s)
	if incomplete, ok := errors.AsType[*inventory.IncompleteError](err); ok {
		fmt.Fprintf(d.Stderr, "warning: %v\n", incomplete)
	} else if err != nil {
		return err
	}
	lines, err := environments(s, o, deployed)
	if err != nil {
		return err
	}
	return o.Show(d, lines, environmentsText(lines, d.Now(), d.Width()))
}

// environments returns all environments that are configured, recorded or deployed.
func environments(s *session.Resolved, o cmd.Common, deployed map[string]map[string]stacks.Summary) ([]environmentLine,
	error) {
	configured, err := o.Environments()
	if err != nil {
		return nil, err
	}
	recorded, err := s.Directory.Stacks() // that were deployed from here
	if err != nil {
		return nil, failure.RunnerDir(err)
	}
	recorded = slices.DeleteFunc(recorded, func(name string) bool { return config.CheckStackName(name) != nil })
	names := map[string]bool{}
	for _, name := range slices.Concat(configured, recorded) {
		names[name] = true
	}
	own := map[string]map[string]stacks.Summary{} // without the stacks of other repositories
	for name := range deployed {
		own[name] = session.Own(s.Scope().In(name), deployed)
		names[name] = names[name] || len(own[name]) > 0
	}
	last, err := view.NewestRuns(s.Directory.Runs())
	if err != nil {
		return nil, err
	}
	lines, defaultStack := []environmentLine{}, cmp.Or(o.Sources.Lookup(config.StackVariable), o.Sources.OnlyStack).Text
	for _, name := range lists.Keys(names) {
		if !names[name] {
			continue
		}
		line := environmentLine{
			Stack: name, Configured: slices.Contains(configured, name), Default: defaultStack == name,
			Provider: cmd.ProviderOfStack(s, o, name, lists.Keys(own[name])),
		}
		line.count(o.Known(), own[name])
		if run, ok := last[name]; ok {
			line.last, line.Operation, line.Result, line.Started = &run, run.Operation, run.Result, &run.Started
		}
		lines = append(lines, line)
	}
	return lines, nil
}

func (l *environmentLine) count(known catalogue.Catalogue, deployed map[string]stacks.Summary) {
	if provider, err := known.ByName(l.Provider); err == nil {
		l.Projects = len(provider.Steps)
	}
	for _, summary := range deployed {
		if summary.Resources > 0 {
			l.Deployed++
			l.Resources += summary.Resources
		}
	}
}

func environmentsText(lines []environmentLine, now time.Time, width int) string {
	if len(lines) == 0 {
		return "no environments yet; `runner up` creates the first one\n"
	}
	table := typeset.Table{Columns: []typeset.Column{
		{Title: "STACK", Min: 10, Middle: true}, {Title: "PROVIDER", Optional: true}, {Title: "STATE"}, {Title: "LAST RUN", Min: 10},
	}}
	for _, l := range lines {
		stack := l.Stack
		if l.Default {
			stack += " *"
		}
		table.Rows = append(table.Rows, []string{stack, cmd.Host(l.Provider), l.state(), l.last.Words(now)})
	}
	return table.Text(width)
}

// state summarizes how many projects of the environment are deployed.
func (l environmentLine) state() string {
	switch {
	case l.Deployed == 0:
		return "not deployed"
	case l.Deployed < l.Projects:
		return typeset.CountedOf(l.Deployed, l.Projects, "project")
	}
	return "deployed"
}
