package operations

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/urfave/cli/v2"

	"mara/projects/model/operation"
	"mara/runner/internal/guard/updateplan"
	"mara/runner/internal/run/event"
)

func TestNextSteps(t *testing.T) {
	t.Parallel()
	found := event.Changes{Update: 1}
	succeeded, failed := event.Summary{Result: event.Succeeded}, event.Summary{Result: event.Failed}
	for _, test := range []struct {
		operation operation.Operation
		simulated bool
		args      []string
		summary   event.Summary
		want      []string
	}{
		{operation.Up, false, nil, succeeded, []string{"runner outputs -s dev", "runner status -s dev"}},
		{
			operation.Up, false, []string{"--only", "a", "-p", "linode"}, succeeded,
			[]string{"runner outputs -s dev", "runner status -s dev"},
		},
		{operation.Drift, false, nil, succeeded, nil},
		{operation.Drift, true, nil, event.Summary{Result: event.Succeeded, Changes: found}, []string{
			"runner refresh -s dev --simulate   # writes it to the state",
			"runner up -s dev --simulate   # then corrects it",
		}},
		{operation.Drift, false, []string{"--only", "linode-lke"}, event.Summary{Result: event.Succeeded, Changes: found},
			[]string{
				"runner refresh -s dev --only linode-lke   # writes it to the state",
				"runner up -s dev --only linode-lke   # then corrects it",
			}},
		{
			operation.Drift, false, nil, event.Summary{Result: event.Failed, Changes: found},
			[]string{"runner drift -s dev --resume   # continues with what is left"},
		},
		{operation.Preview, false,
			[]string{
				"-p", "linode", "--only", "linode-lke", "--only", "x", "--max-monthly", "12.5", "--config", "lke:region=it's here",
			}, succeeded,
			[]string{
				`runner up -s dev --provider linode --only linode-lke --only x --config 'lke:region=it'\''s here' --max-monthly 12.5`,
			}},
		{operation.Preview, false, []string{"--root", "my root"}, succeeded, []string{"runner up -s dev --root 'my root'"}},
		{operation.Up, false, []string{"--only", "a", "--policy-pack", "packs", "--allow", "dev"}, failed,
			[]string{"runner up -s dev --policy-pack packs --allow dev --resume   # continues with what is left"}},
	} {
		o := operateOptions{}
		o.Operation, o.Simulation.On, o.carried = test.operation, test.simulated, carriedOf(t, test.args)
		if diff := cmp.Diff(test.want, nextSteps(o, "dev")(&test.summary)); diff != "" {
			t.Errorf("%s %v (-want +got):\n%s", test.operation, test.args, diff)
		}
	}
	o := operateOptions{}
	o.Operation, o.save = operation.Preview, "plan.json"
	saved := event.Summary{Result: event.Succeeded, SavedPlan: &event.SavedPlan{Digest: "sha256:00"}}
	if diff := cmp.Diff(
		[]string{"runner up -s dev --plan plan.json --plan-digest sha256:00"}, nextSteps(o, "dev")(&saved),
	); diff != "" {
		t.Errorf("a plan with a digest (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]string{"runner up -s dev --plan plan.json"}, nextSteps(o, "dev")(&succeeded)); diff != "" {
		t.Errorf("a saved plan (-want +got):\n%s", diff)
	}
}

// TestNextStepsKeepTheGate: after a plan was refused, or a preview was denied, nothing
// that is proposed goes without the plan, the limit or the selection.
func TestNextStepsKeepTheGate(t *testing.T) {
	t.Parallel()
	args := []string{"--only", "a", "--max-monthly", "5", "--unknown-costs", "allow", "--config", "a:b=c"}
	refused := event.Summary{Result: event.Failed, Steps: []event.Step{{Result: event.Succeeded}}}
	failed := event.Summary{Result: event.Failed, Steps: []event.Step{{Result: event.Failed}}}
	const preview = "runner preview -s dev --only a --config a:b=c --max-monthly 5 --unknown-costs allow"
	for _, test := range []struct {
		name    string
		options planOptions
		op      operation.Operation
		summary event.Summary
		want    string
	}{
		{"a plan was refused", planOptions{hold: &updateplan.Document{}, holdFile: "p.json"}, operation.Up, failed,
			preview + " --save-plan p.json   # makes a plan of what is left"},
		{
			"no plan was made", planOptions{save: "/w/p.json"}, operation.Preview, failed,
			preview + " --save-plan /w/p.json   # once this is fixed",
		},
		{"a preview was denied", planOptions{}, operation.Preview, refused, preview + "   # once this is fixed"},
		{
			"a preview failed", planOptions{}, operation.Preview, failed,
			"runner preview -s dev --config a:b=c --resume   # continues with what is left",
		},
	} {
		o := operateOptions{planOptions: test.options}
		o.Operation, o.carried = test.op, carriedOf(t, args)
		if diff := cmp.Diff([]string{test.want}, nextSteps(o, "dev")(&test.summary)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", test.name, diff)
		}
	}
}

// carriedOf parses the flags of a command line.
func carriedOf(t *testing.T, args []string) (carried carriedFlags) {
	t.Helper()
	app := &cli.App{
		Flags: operateFlags([]string{"max-monthly", "unknown-costs", "policy-pack", "allow"}),
		Action: func(c *cli.Context) error {
			c.Command.Flags = c.App.Flags
			carried = parseCarried(c)
			return nil
		},
	}
	if err := app.Run(append([]string{"runner"}, args...)); err != nil {
		t.Fatal(err)
	}
	return carried
}
