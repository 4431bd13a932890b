package operate

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"mara/projects/model/operation"
	"mara/runner/internal/core/event"
	"mara/runner/internal/core/session"
	"mara/runner/internal/core/updateplan"
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
			operation.Up, false, []string{"--only", "a", "--provider", "linode"}, succeeded,
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
				"--provider", "linode", "--only", "linode-lke", "--only", "x", "--max-monthly", "12.5", "--config", "lke:region=it's here",
			}, succeeded,
			[]string{
				`runner up -s dev --provider linode --only linode-lke --only x --config 'lke:region=it'\''s here' --max-monthly 12.5`,
			}},
		{operation.Preview, false, []string{"--root", "my root"}, succeeded, []string{"runner up -s dev --root 'my root'"}},
		{operation.Up, false, []string{"--only", "a", "--policy-pack", "packs", "--allow", "dev"}, failed,
			[]string{"runner up -s dev --policy-pack packs --allow dev --resume   # continues with what is left"}},
		{operation.Preview, true, nil, succeeded,
			[]string{"runner up -s dev --simulate --simulate-schema 'a b.json' --simulate-unknown inputs"}},
		{operation.Up, true, nil, succeeded, []string{"runner outputs -s dev --simulate", "runner status -s dev --simulate"}},
	} {
		j := jobOnDev(test.operation, Plan{}, test.args)
		j.Simulation.On = test.simulated
		if test.operation != operation.Drift && test.simulated {
			j.Simulation.Schemas, j.Simulation.Unknown = []string{"a b.json"}, true
		}
		if diff := cmp.Diff(test.want, (next{j}).steps(&test.summary)); diff != "" {
			t.Errorf("%s %v (-want +got):\n%s", test.operation, test.args, diff)
		}
	}
	j := jobOnDev(operation.Preview, Plan{Save: "plan.json"}, nil)
	saved := event.Summary{Result: event.Succeeded, SavedPlan: &event.SavedPlan{Digest: "sha256:00"}}
	if diff := cmp.Diff(
		[]string{"runner up -s dev --plan plan.json --plan-digest sha256:00"}, (next{j}).steps(&saved),
	); diff != "" {
		t.Errorf("a plan with a digest (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]string{"runner up -s dev --plan plan.json"}, (next{j}).steps(&succeeded)); diff != "" {
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
		options Plan
		op      operation.Operation
		summary event.Summary
		want    string
	}{
		{"a plan was refused", Plan{Hold: &updateplan.Document{}, HoldFile: "p.json"}, operation.Up, failed,
			preview + " --save-plan p.json   # makes a plan of what is left"},
		{
			"no plan was made", Plan{Save: "/w/p.json"}, operation.Preview, failed,
			preview + " --save-plan /w/p.json   # once this is fixed",
		},
		{"a preview was denied", Plan{}, operation.Preview, refused, preview + "   # once this is fixed"},
		{
			"a preview failed", Plan{}, operation.Preview, failed,
			"runner preview -s dev --config a:b=c --resume   # continues with what is left",
		},
	} {
		j := jobOnDev(test.op, test.options, args)
		if diff := cmp.Diff([]string{test.want}, (next{j}).steps(&test.summary)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", test.name, diff)
		}
	}
}

// jobOnDev returns an operation on the stack dev that was started with flags.
func jobOnDev(op operation.Operation, plan Plan, args []string) *job {
	j := &job{Request: Request{Plan: plan}, s: &session.Open{Reading: &session.Reading{Resolved: &session.Resolved{}}}}
	j.s.Settings.Stack.Text = "dev"
	j.Operation = op
	groups := map[string]*[]string{
		"--only": &j.Carried.Selection, "--root": &j.Carried.Where, "--provider": &j.Carried.Provider,
		"--config": &j.Carried.Values, "--max-monthly": &j.Carried.Gates, "--unknown-costs": &j.Carried.Gates,
		"--policy-pack": &j.Carried.Gates, "--allow": &j.Carried.Allowed,
	}
	for i := 0; i < len(args); i += 2 {
		group := groups[args[i]]
		*group = append(*group, args[i]+" "+ShellWord(args[i+1]))
	}
	return j
}
