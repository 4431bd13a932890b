package bill

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"mara/config"
	"mara/projects/model/operation"
	"mara/providers"
	"mara/runner/internal/core/event"
	"mara/runner/internal/core/guard"
	"mara/runner/internal/core/request"
	"mara/runner/internal/core/session"
	"mara/runner/internal/feature/policy/cost"
	"mara/runner/internal/machine/layout"
	"mara/runner/internal/testing/cmdtest"
)

// TestCheckCosts: a limit forbids what costs more, and what may do so.
func TestCheckCosts(t *testing.T) {
	t.Parallel()
	amount := func(f float64) *float64 { return &f }
	elsewhere := event.Costs{Elsewhere: []event.CostRegion{{Region: "eu-central-1", Types: []string{"a:b:C"}}}}
	for _, test := range []struct {
		name    string
		limit   *float64
		unknown bool
		costs   event.Costs
		want    string
	}{
		{"no limit", nil, false, event.Costs{Monthly: 100, Unpriced: []string{"a:b:C"}}, ""},
		{"below", amount(100), false, event.Costs{Monthly: 100}, ""},
		{
			"above", amount(100), true, event.Costs{Monthly: 100.5, Items: []event.Cost{{}}, Currency: "USD"},
			"--max-monthly 100: it costs at least 100 USD",
		},
		{
			"nothing at all", amount(0), false, event.Costs{Monthly: 0.01, Items: []event.Cost{{}}}, "--max-monthly 0: it costs",
		},
		{
			"no price", amount(100), false, event.Costs{Unpriced: []string{"a:b:C"}},
			"not all costs are known: no price for a:b:C",
		},
		{
			"not known before", amount(100), false, event.Costs{Unknown: []string{"p n"}},
			"not all costs are known: unknown until deployed: p n",
		},
		{"elsewhere", amount(100), false, elsewhere, "not all costs are known: no price is known for eu-central-1: a:b:C"},
		{"outside of the run", amount(100), false, event.Costs{Outside: []string{"p"}}, "deployed, but not in this run: p"},
		{"allowed", amount(100), true, elsewhere, ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			g := costGuard{Limits: guard.Limits{MaxMonthly: test.limit, UnknownOK: test.unknown}}
			err := g.check(cost.Estimate{Costs: test.costs})
			if (err != nil) != (test.want != "") || err != nil && !strings.Contains(err.Error(), test.want) {
				t.Errorf("got %v, want %q", err, test.want)
			}
		})
	}
}

// TestDeployedOutside: what a condition skips here costs money as long as it is deployed.
func TestDeployedOutside(t *testing.T) {
	t.Parallel()
	root := cmdtest.Root(
		t,
		map[string]string{"environment": "PULUMI_STACK=dev\n", "Pulumi.dev.yaml": "config:\n  kubernetes:infra_type: kind\n"},
	)
	cmdtest.WriteFile(
		t, filepath.Join(root, "config/environments/dev.yaml"), "values: {runner: {projects: {skip: [certmgr]}}}\n",
	)
	cmdtest.WriteFile(
		t, layout.Of(root, false).State().Stack("certmgr", "dev"),
		`{"checkpoint":{"latest":{"resources":[{"urn":"urn:pulumi:dev::certmgr::a:b:C::d","type":"a:b:C"}]}}}`,
	)
	d, _, _ := cmdtest.Deps(t)
	stack := config.Value{Text: "dev", Origin: config.Origin{Source: config.FromFlag, Name: "--stack"}}
	o := session.Options{Request: request.Request{Root: root, BuiltIn: providers.Catalogue(), Stack: stack}, Operation: operation.Up}
	err := session.Use(d.Deps, o, session.Resolve, func(s *session.Resolved) error {
		known, err := s.ReadKnown()
		if err != nil {
			return err
		}
		if got := deployedOutside(known, s.Plan); !slices.Equal(got, []string{"certmgr"}) {
			t.Errorf("outside are %q", got)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

// TestDefaultRegion: prices are those of the region in which the default provider works.
func TestDefaultRegion(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		variables        []string
		stack, pkg, want string
	}{
		"configuration":          {[]string{"AWS_REGION=eu-west-1"}, "  aws:region: eu-central-1\n", "aws", "eu-central-1"},
		"variable":               {[]string{"AWS_REGION=eu-west-1", "AWS_DEFAULT_REGION=us-west-2"}, "", "aws", "eu-west-1"},
		"the other variable":     {[]string{"AWS_DEFAULT_REGION=us-west-2"}, "", "aws", "us-west-2"},
		"nothing":                {nil, "", "aws", ""},
		"of another package":     {[]string{"AWS_REGION=eu-west-1"}, "", "linode", ""},
		"of another package too": {nil, "  linode:region: eu-central\n", "linode", "eu-central"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			root := cmdtest.Root(t, map[string]string{
				"Pulumi.dev.yaml": "config:\n  kubernetes:infra_type: kind\n" + test.stack,
			})
			d, _, _ := cmdtest.Deps(t)
			sources := config.Sources{Process: append([]string{"PULUMI_STACK=dev"}, test.variables...)}
			err := session.Use(d.Deps, session.Options{Request: request.Request{Root: root, BuiltIn: providers.Catalogue(), Sources: sources}},
				session.ResolveStack, func(s *session.Resolved) error {
					if got := DefaultRegion(s, test.pkg); got != test.want {
						t.Errorf("got %q, want %q", got, test.want)
					}
					return nil
				})
			if err != nil {
				t.Error(err)
			}
		})
	}
}

// TestConclusion: where nothing has a price, nothing is said of costs unless somebody has set a limit.
func TestConclusion(t *testing.T) {
	t.Parallel()
	limit := 10.0
	for name, test := range map[string]struct {
		costs event.Costs
		limit *float64
		said  bool
	}{
		"not estimated":            {event.Costs{}, nil, false},
		"nothing has a price":      {event.Costs{Items: []event.Cost{}, Unpriced: []string{"disk:index:File"}}, nil, false},
		"nothing, but a limit":     {event.Costs{Items: []event.Cost{}}, &limit, true},
		"something has a price":    {event.Costs{Items: []event.Cost{{}}}, nil, true},
		"what had a price is gone": {event.Costs{Items: []event.Cost{}, Change: -5}, nil, true},
	} {
		w := costWatch{
			Job: guard.Job{Session: &session.Open{Reading: &session.Reading{Resolved: &session.Resolved{}}}}, estimate: cost.Estimate{Costs: test.costs},
			g: costGuard{Limits: guard.Limits{MaxMonthly: test.limit}},
		}
		if got := w.Conclusion(); (got != "") != test.said {
			t.Errorf("%s: %q is said", name, got)
		}
	}
}
