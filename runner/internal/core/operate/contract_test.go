package operate

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"mara/projects/model"
	"mara/projects/model/needs"
	"mara/projects/model/operation"
	"mara/runner/internal/core/contract"
	"mara/runner/internal/core/event"
	"mara/runner/internal/core/plan"
	"mara/runner/internal/core/stacks"
)

// exports are stacks as a test has them: what this run has found, and what is deployed.
type exports struct{ found, deployed map[string][]string }

func (e exports) ExportedNames(project string) ([]string, bool) {
	names, ok := e.found[project]
	return names, ok
}

func (e exports) DeployedNames(_ context.Context, project string) ([]string, bool, error) {
	names, ok := e.deployed[project]
	return names, ok, nil
}

func (e exports) ReadsOf(string) []string { return nil }

func (e exports) IsDeployed(project string) bool { _, ok := e.deployed[project]; return ok }

// contractOf returns the contract of net (YAML), tool (Go), web (YAML, reads net and tool)
// and bot (Go, reads net), of which some are selected.
func contractOf(stacks exports, selected ...string) *outputContract {
	step := func(name string, outputs []string, reads ...string) plan.Step {
		p := model.Project{Name: name, Path: name, Own: &model.Own{Path: name, Line: 3}}
		for _, output := range outputs {
			p.Outputs = append(p.Outputs, model.Output{Name: output})
		}
		return plan.Step{Project: p, Needs: needs.Needs{Reads: reads}}
	}
	read := func(line int, output string) contract.Read {
		return contract.Read{Place: contract.Place{File: "web/Main.yaml", Line: line}, Output: output}
	}
	return &outputContract{
		stacks: stacks, selected: selected,
		plan: plan.Plan{
			Steps: []plan.Step{
				step("net", nil), step("tool", []string{"path", "size"}), step("web", nil, "net", "tool"), step("bot", nil, "net"),
			},
		},
		Reads: contract.Reads{Programs: map[string]contract.Program{
			"net": {
				Exports: contract.Exports{Place: contract.Place{File: "net/Main.yaml", Line: 1}, Names: []string{"dns", "range"}},
			}, "web": {},
		},
			Of: map[string]map[string][]contract.Read{"web": {
				"net": {read(5, "domain"), read(6, "range")}, "tool": {read(7, "paths")},
			}},
			Unsure: map[string]bool{},
		},
	}
}

func TestOutputsBeforeARun(t *testing.T) {
	t.Parallel()
	deployed := exports{deployed: map[string][]string{"net": {"domain", "range"}, "tool": {"path"}}}
	ofNet := `web/Main.yaml:5 reads output "domain" of net, which exports dns, range (net/Main.yaml:1)`
	ofTool := `web/Main.yaml:7 reads output "paths" of tool, which exports path (tool/Pulumi.yaml); did you mean "path"?`
	for _, test := range []struct {
		name     string
		stacks   exports
		selected []string
		want     []string
	}{
		{"the program of the owner counts where it runs", deployed, []string{"net", "tool", "web"}, []string{ofNet}},
		{"what is deployed counts where it does not", deployed, []string{"web"}, []string{ofTool}},
		{"nothing is deployed", exports{}, []string{"web"}, nil},
		{"the reader does not run", deployed, []string{"net"}, nil},
	} {
		got, err := contractOf(test.stacks, test.selected...).missingBefore(t.Context())
		if diff := cmp.Diff(test.want, got); diff != "" || err != nil {
			t.Errorf("%s: %v\n%s", test.name, err, diff)
		}
	}
}

// TestOutputsBeforeAReader checks a reader against the outputs that the preview or the up
// of the owner has found.
func TestOutputsBeforeAReader(t *testing.T) {
	t.Parallel()
	var warnings []string
	emit := func(e event.Event) { warnings = append(warnings, e.Message) }
	const want = `web/Main.yaml:7 reads output "paths" of tool, which exports path (tool/Pulumi.yaml); did you mean "path"?`
	c := contractOf(exports{found: map[string][]string{"net": {"dns"}, "tool": {"path"}}}, "net", "tool", "web")
	err := c.before(t.Context(), "web", emit)
	if err == nil || err.Error() != want+"; take null for it with --on-missing-output warn" || warnings != nil {
		t.Errorf("got %v, %q", err, warnings)
	}
	c.warnOnly = true
	if err := c.before(t.Context(), "web", emit); err != nil || len(warnings) != 1 || warnings[0] != want {
		t.Errorf("with warn: %v, %q", err, warnings)
	}
	c = contractOf(exports{deployed: map[string][]string{"tool": {"path"}}}, "tool", "web")
	if err := c.before(t.Context(), "web", emit); err == nil || !strings.HasPrefix(err.Error(), want) {
		t.Errorf("the owner is unchanged, so that it does not run: %v", err)
	}
	if err := contractOf(exports{}, "tool", "web").before(t.Context(), "web", emit); err != nil {
		t.Errorf("the owner's exports are not known: %v", err)
	}
	var none *outputContract
	if err := none.before(t.Context(), "web", emit); err != nil {
		t.Error(err)
	}
}

// TestOutputsThatAProgramRequires: the error of a program says what the owner exports.
func TestOutputsThatAProgramRequires(t *testing.T) {
	t.Parallel()
	c := contractOf(
		exports{found: map[string][]string{"net": {"dns"}}, deployed: map[string][]string{"tool": {"path"}}}, "net", "bot",
	)
	thrown := errors.New("Required output 'x' does not exist")
	bot := c.plan.Steps[3].Project
	for _, test := range []struct {
		owner, output string
		reader        model.Project
		want          string
	}{
		{"net", "domain", bot, `bot/Pulumi.yaml reads output "domain" of net, which exports dns (net/Main.yaml:1)`},
		{
			"tool", "paths", bot,
			`bot/Pulumi.yaml reads output "paths" of tool, which exports path (tool/Pulumi.yaml); did you mean "path"?`,
		},
		{
			"net", "domain", model.Project{Name: "eks"}, `eks reads output "domain" of net, which exports dns (net/Main.yaml:1)`,
		},
		{"net", "dns", bot, thrown.Error()},
		{"web", "url", bot, thrown.Error()}, // not deployed
	} {
		err := c.explain(
			t.Context(), test.reader, &stacks.MissingOutputError{Err: thrown, Owner: test.owner, Output: test.output},
		)
		if err.Error() != test.want || !errors.Is(err, thrown) {
			t.Errorf("got %v, want %s", err, test.want)
		}
	}
	if err := c.explain(t.Context(), bot, thrown); !errors.Is(err, thrown) || err.Error() != thrown.Error() {
		t.Error(err)
	}
}

func TestOutputsThatVanish(t *testing.T) {
	t.Parallel()
	deployed := map[string][]string{"net": {"domain"}, "web": nil, "bot": nil}
	gone := func(name string) []event.OutputChange {
		return []event.OutputChange{{Name: name, Action: event.Delete, Before: "x"}, {Name: "other", Action: event.Create}}
	}
	bot := `, and bot reads outputs of this stack; the runner does not know which`
	for _, test := range []struct {
		name     string
		selected []string
		op       operation.Operation
		changes  []event.OutputChange
		deployed map[string][]string
		want     []string
	}{
		{"only the owner runs", []string{"net"}, operation.Preview, gone("domain"), deployed,
			[]string{`output "domain" would go, and web reads it (web/Main.yaml:5)`, `output "domain" would go` + bot}},
		{
			"the reader runs, too, and is refused itself", []string{"net", "web"}, operation.Up, gone("domain"), deployed,
			[]string{`output "domain" is gone` + bot},
		},
		{
			"a reader whose reads are not known", []string{"net"}, operation.Preview, gone("unread"), deployed,
			[]string{`output "unread" would go` + bot},
		},
		{
			"an output that no program reads", []string{"net"}, operation.Preview, gone("unread"),
			map[string][]string{"net": nil, "web": nil}, nil,
		},
		{
			"a reader that is not deployed", []string{"net"}, operation.Preview, gone("unread"),
			map[string][]string{"net": nil}, nil,
		},
		{"nothing goes", []string{"net"}, operation.Preview, gone("domain")[1:], deployed, nil},
	} {
		var warnings []string
		c := contractOf(exports{deployed: test.deployed}, test.selected...)
		c.after(c.plan.Steps[0], test.op, test.changes, func(e event.Event) { warnings = append(warnings, e.Message) })
		if diff := cmp.Diff(test.want, warnings); diff != "" {
			t.Errorf("%s:\n%s", test.name, diff)
		}
	}
}

func TestDeclaredOutputs(t *testing.T) {
	t.Parallel()
	var warnings []string
	c := contractOf(exports{found: map[string][]string{"tool": {"path"}}}, "tool")
	c.after(c.plan.Steps[1], operation.Up, nil, func(e event.Event) { warnings = append(warnings, e.Message) })
	const want = "mara.yaml:3 lists the output size, but the program exports path (tool/Pulumi.yaml)"
	if got := strings.Join(warnings, "\n"); got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}
