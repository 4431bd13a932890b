package cost

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"mara/projects/schemas"
	"mara/runner/internal/core/updateplan"
)

func TestOf(t *testing.T) {
	t.Parallel()
	step := func(op, token string, inputs map[string]any) updateplan.Step {
		s := updateplan.Step{Op: op, Type: token, Name: "n", Inputs: inputs}
		if op == "delete" {
			s.Inputs, s.Old = nil, inputs
		}
		return s
	}
	changed := func(op, token string, before, after map[string]any) updateplan.Step {
		return updateplan.Step{Op: op, Type: token, Name: "n", Inputs: after, Old: before}
	}
	nodes := func(size string, count any) map[string]any {
		return map[string]any{"instanceTypes": []any{size}, "scalingConfig": map[string]any{"desiredSize": count}}
	}
	in := func(region string, s updateplan.Step) updateplan.Step {
		s.Region = region
		return s
	}
	pools := func(pools ...any) map[string]any { return map[string]any{"pools": pools} }
	const group, cluster, lke, doks = "aws:eks/nodeGroup:NodeGroup", "aws:eks/cluster:Cluster", "linode:index/lkeCluster:LkeCluster",
		"digitalocean:index/kubernetesCluster:KubernetesCluster"
	const top = ", without traffic and resources that the cluster creates"
	for _, test := range []struct {
		name  string
		steps []updateplan.Step
		want  string
	}{
		{"nothing", nil, "nothing by the month" + top},
		{"a cluster with nodes and their disks", []updateplan.Step{step("create", cluster, nil), step("create", group, nodes("t3.large", 3.0))},
			"at least 260 USD a month (+260)" + top + "; prices as of 2026-03-13 or later"},
		{"large disks", []updateplan.Step{step("same", group, map[string]any{
			"instanceTypes": []any{"t3.large"}, "scalingConfig": map[string]any{"desiredSize": 3.0}, "diskSize": 2000.0})},
			"at least 662 USD a month" + top + "; prices as of 2026-04-17 or later"},
		{"a version in extended support", []updateplan.Step{step("create", cluster, map[string]any{"version": "1.28"})},
			"at least 438 USD a month (+438)" + top + "; prices as of 2026-03-13 or later"},
		{"an upgrade at its end, and a version that is new", []updateplan.Step{
			step("create", cluster, map[string]any{"version": "1.28", "upgradePolicy": map[string]any{"supportType": "STANDARD"}}),
			step("create", cluster, map[string]any{"version": "1.99"})}, "at least 146 USD a month (+146)" + top + "; prices as of 2026-03-13 or later"},
		{"a version that is not known yet", []updateplan.Step{step("create", cluster, map[string]any{"version": updateplan.Unknown})},
			"an unknown amount a month; unknown until deployed: p n"},
		{"less", []updateplan.Step{step("same", cluster, nil), step("delete", group, nodes("t3.large", 1.0))},
			"at least 73 USD a month (-62)" + top + "; prices as of 2026-03-13 or later"},
		{"nodes that become eight times dearer", []updateplan.Step{changed("replace", group, nodes("t3.medium", 1.0), nodes("t3.2xlarge", 1.0))},
			"at least 245 USD a month (+213)" + top + "; prices as of 2026-04-17 or later"},
		{"fewer nodes", []updateplan.Step{changed("update", lke, pools(map[string]any{"type": "g6-standard-2", "count": 3.0}), pools(map[string]any{"type": "g6-standard-2", "count": 1.0}))},
			"at least 24 USD a month (-48)" + top + "; prices as of 2024-12-31 or later"},
		{"pools", []updateplan.Step{step("same", lke, pools(map[string]any{"type": "g6-standard-2", "count": 2.0}, map[string]any{"type": "g6-standard-4", "count": 1.0}))},
			"at least 96 USD a month" + top + "; prices as of 2024-12-31 or later"},
		{"a pool that scales", []updateplan.Step{step("same", lke, pools(map[string]any{"type": "g6-standard-4", "autoscaler": map[string]any{"min": 5.0, "max": 10.0}}))},
			"at least 240 USD a month" + top + "; at minimal scale: p n; prices as of 2024-12-31 or later"},
		{"control planes with high availability", []updateplan.Step{
			step("same", lke, map[string]any{"controlPlane": map[string]any{"highAvailability": true}, "pools": []any{map[string]any{"type": "g6-standard-2", "count": 1.0}}}),
			step("same", doks, map[string]any{"ha": true, "nodePool": map[string]any{"size": "s-2vcpu-4gb", "nodeCount": 1.0}}),
		}, "at least 148 USD a month" + top + "; prices as of 2024-12-31 or later"},
		{"not known, spot, and a type that the sheet does not have", []updateplan.Step{
			step("create", group, nodes("t3.large", updateplan.Unknown)), step("create", group, nodes(updateplan.Unknown, 1.0)), step("create", group, nodes("x9.large", 1.0)),
			step("create", group, map[string]any{"capacityType": "SPOT", "instanceTypes": []any{"t3.large"}, "scalingConfig": map[string]any{"desiredSize": 1.0}}), step("create", lke, map[string]any{"pools": updateplan.Unknown}),
		}, "at least 5 USD a month (+5)" + top + "; p n: no price of x9.large for us-east-1 in the sheet of 2026-04-17; " +
			"p n: no price of spot t3.large for us-east-1 in the sheet of 2026-04-17; unknown until deployed: p n, p n, p n; prices as of 2026-04-17 or later"},
		{"a launch template", []updateplan.Step{step("create", group, map[string]any{
			"launchTemplate": map[string]any{"id": "x"}, "instanceTypes": []any{"t3.large"}, "scalingConfig": map[string]any{"desiredSize": 1.0}})},
			"at least 61 USD a month (+61)" + top + "; p n: no price of GiB of disk of a launch template for us-east-1 in the sheet of 2026-04-17; prices as of 2026-04-17 or later"},
		{"a pool with a type that the sheet does not have beside one that it has", []updateplan.Step{step("same", lke, pools(map[string]any{"type": "g6-standard-2", "count": 1.0}, map[string]any{"type": "g9-huge", "count": 1.0}))},
			"at least 24 USD a month" + top + "; p n: no price of g9-huge in the sheet of 2024-12-31; prices as of 2024-12-31 or later"},
		{"an enterprise cluster", []updateplan.Step{step("same", lke, map[string]any{"tier": "enterprise", "pools": []any{map[string]any{"type": "g6-standard-2", "count": 1.0}}})},
			"at least 24 USD a month" + top + "; p n: no price of enterprise control plane in the sheet of 2024-12-31; prices as of 2024-12-31 or later"},
		{"a volume of an unknown type", []updateplan.Step{step("same", "aws:ebs/volume:Volume", map[string]any{"type": updateplan.Unknown, "size": 1.0})},
			"an unknown amount a month; unknown until deployed: p n"},
		{"nodes in Frankfurt", []updateplan.Step{in("eu-central-1", step("same", cluster, nil)), in("eu-central-1", step("same", group, nodes("t3.large", 3.0))),
			in("eu-central-1", step("same", "aws:ec2/natGateway:NatGateway", nil)), in("eu-central-1", step("same", "aws:ec2/eip:Eip", nil))},
			"at least 331 USD a month" + top + "; prices as of 2024-04-01 or later"},
		{"a size that the sheet has for another region only", []updateplan.Step{in("eu-central-1", step("same", group, nodes("m6i.large", 1.0)))},
			"at least 2 USD a month" + top + "; p n: no price of m6i.large for eu-central-1 in the sheet of 2025-11-12; prices as of 2026-09-03 or later"},
		{"disks in a region in which only nodes have a price", []updateplan.Step{in("ap-south-1", step("same", group, nodes("t3.large", 1.0)))},
			"at least 65 USD a month" + top + "; p n: no price of GiB of gp3 is known for ap-south-1; prices as of 2025-11-12 or later"},
		{"free, read, and without a price", []updateplan.Step{step("create", "aws:iam/role:Role", nil), step("read", cluster, nil), step("create", "aws:rds/instance:Instance", nil), step("same", "aws:rds/instance:Instance", nil)},
			"an unknown amount a month; no price for aws:rds/instance:Instance"},
		{"deleted, and without a price", []updateplan.Step{step("delete", "aws:rds/instance:Instance", nil)}, "nothing by the month" + top},
		{"in other regions", []updateplan.Step{in("eu-south-1", step("create", cluster, nil)), in("eu-south-1", step("create", group, nodes("t3.large", 1.0))),
			in(updateplan.Unknown, step("create", cluster, nil)), step("create", cluster, map[string]any{"region": "sa-east-1"})},
			"an unknown amount a month; no price is known for eu-south-1: aws:eks/cluster:Cluster, aws:eks/nodeGroup:NodeGroup; " +
				"no price is known for an unknown region: aws:eks/cluster:Cluster; no price is known for sa-east-1: aws:eks/cluster:Cluster"},
		{"in a region with other prices", []updateplan.Step{step("create", lke, map[string]any{"region": "br-gru", "pools": []any{map[string]any{"type": "g6-standard-2", "count": 1.0}}})},
			"an unknown amount a month; no price is known for br-gru: linode:index/lkeCluster:LkeCluster"},
		{"in a region that may be one", []updateplan.Step{step("create", lke, map[string]any{"region": updateplan.Unknown, "pools": []any{map[string]any{"type": "g6-standard-2", "count": 1.0}}})},
			"an unknown amount a month; no price is known for an unknown region: linode:index/lkeCluster:LkeCluster"},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			sheet, err := Load("")
			if err != nil {
				t.Fatal(err)
			}
			e, err := sheet.Of(t.Context(), updateplan.Document{Projects: []updateplan.Project{{Name: "p", Steps: test.steps}}}, func(string) string { return "us-east-1" })
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(test.want, e.String()); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// TestBuiltInTypes: every type that the built-in programs may use has a price or is free.
func TestBuiltInTypes(t *testing.T) {
	t.Parallel()
	sheet, err := Load("")
	if err != nil {
		t.Fatal(err)
	}
	paid := []string{"linode:index/lkeNodePool:LkeNodePool", "linode:index/nodeBalancer:NodeBalancer"} // in simulations only
	for name := range schemas.Packages() {
		var schema struct {
			Resources map[string]any `json:"resources"`
		}
		if err := json.Unmarshal(schemas.Of(name), &schema); err != nil {
			t.Fatal(err)
		}
		for token := range schema.Resources {
			if sheet.Types[token] == nil && !sheet.isFree(token) && !slices.Contains(paid, token) {
				t.Errorf("%s has no price", token)
			}
		}
	}
}

// TestAmountsAreRounded: JSON has cents, and says of each item what it is.
func TestAmountsAreRounded(t *testing.T) {
	t.Parallel()
	sheet, err := Load("")
	if err != nil {
		t.Fatal(err)
	}
	steps := []updateplan.Step{
		{Op: "create", Type: "aws:ec2/eip:Eip"}, {Op: "create", Type: "aws:eks/cluster:Cluster"},
		{Op: "create", Type: "aws:eks/nodeGroup:NodeGroup", Inputs: map[string]any{"instanceTypes": []any{"t3.large"}, "scalingConfig": map[string]any{"desiredSize": 3.0}}},
	}
	e, err := sheet.Of(t.Context(), updateplan.Document{Projects: []updateplan.Project{{Steps: steps}}}, func(string) string { return "us-east-1" })
	if err != nil || e.Monthly != 263.66 || e.Items[2].Monthly != 187.01 || e.Items[2].What != "3 t3.large, 60 GiB of gp3" || e.Items[1].What != "1 standard control plane" || e.Items[0].What != "Eip" {
		t.Errorf("%v: %+v", err, e)
	}
}

// TestUnmatched: a type that no resource has is named, if its package is in use.
func TestUnmatched(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	const content = "types:\n  aws:eks/nodegroup:NodeGroup: {per: hour, price: 1, day: 2026-11-01, source: us}\n" +
		"  gcp:a:B: {per: hour, price: 1, day: 2026-11-01, source: us}\n  aws:eks/cluster:Cluster: {per: hour, price: 1, day: 2026-11-01, source: us}\n"
	path := filepath.Join(root, File)
	if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
	sheet, err := Load(root)
	if err != nil {
		t.Fatal(err)
	}
	steps := []updateplan.Step{{Type: "aws:eks/nodeGroup:NodeGroup"}, {Type: "aws:eks/cluster:Cluster"}}
	got := sheet.Unmatched(updateplan.Document{Projects: []updateplan.Project{{Steps: steps}}})
	want := []string{path + `:2: no resource has the type aws:eks/nodegroup:NodeGroup, so its price is not used; did you mean "aws:eks/nodeGroup:NodeGroup"?`}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func TestOwnPrices(t *testing.T) {
	t.Parallel()
	for _, test := range []struct{ name, content, want string }{
		{"nothing", "# later\n", ""},
		{"a type of one's own", "types: {own:index:Thing: {per: month, price: 2, day: 2026-11-01, source: us}}\n", ""},
		{"another currency", "currency: EUR\n", "the prices are in EUR"},
		{"no source", "types:\n  a:b:C:\n    {per: month, price: 2, day: 2026-11-01}\n", "prices.yaml:3: a:b:C: say where the price comes from"},
		{"no day", "types: {a:b:C: {per: month, price: 2, source: us}}\n", `prices.yaml:1: a:b:C: day is ""`},
		{"no price", "types: {a:b:C: {per: month, source: us}}\n", "a:b:C: it has either a price, or prices by size"},
		{"no size", "types: {a:b:C: {per: month, prices: {b: 1}, source: us}}\n", "a:b:C: prices by size need a size"},
		{"a wrong program", "types: {a:b:C: {per: hour, price: 1, count: '.x |', day: 2026-11-01, source: us}}\n", `a:b:C: ".x |": line 1, column 5: the query ends too early`},
		{"per week", "types: {a:b:C: {per: week}}\n", `a:b:C: per is "week"; write hour or month`},
		{"nothing at all", "types: {a:b:C: }\n", "a:b:C: it has no price"},
		{"no type", "types: {nodes: {per: month, price: 2, day: 2026-11-01, source: us}}\n", "prices.yaml:1: nodes: it is no type of a resource"},
		{"not a number", "types: {a:b:C: {per: hour, price: .nan, day: 2026-11-01, source: us}}\n", "a:b:C: the price is NaN; a price is an amount of 0 or more"},
		{"endless", "types: {a:b:C: {per: hour, size: .s, prices: {x: .inf}, day: 2026-11-01, source: us}}\n", "a:b:C: the price of x is +Inf; a price is"},
		{"less than nothing", "types: {a:b:C: {per: hour, price: -1, day: 2026-11-01, source: us}}\n", "a:b:C: the price is -1; a price is an amount of 0 or more"},
		{"a size for less than nothing", "types: {a:b:C: {per: hour, size: .s, prices: {l: -2}, day: 2026-11-01, source: us}}\n", "a:b:C: the price of l is -2"},
		{"further regions", "types: {a:b:C: {per: month, price: 2, region: a, day: 2026-11-01, source: us, regions: {b: {price: 3, day: 2026-11-01, source: us}}}}\n", ""},
		{"a region without a source", "types: {a:b:C: {per: month, price: 2, day: 2026-11-01, source: us, regions: {b: {price: 3, day: 2026-11-01}}}}\n", "a:b:C: b: say where the price comes from"},
		{"a region without a day", "types: {a:b:C: {per: month, price: 2, day: 2026-11-01, source: us, regions: {b: {price: 3, source: us}}}}\n", `a:b:C: b: day is ""`},
		{"a region without a price", "types: {a:b:C: {per: month, price: 2, day: 2026-11-01, source: us, regions: {b: }}}\n", "a:b:C: b: it has either a price, or prices by size"},
		{"a typing error in a region", "types:\n  a:b:C:\n    regions:\n      b: {prise: 1}\n", `prices.yaml:4: unknown key "prise"; did you mean "price"?`},
		{"a typing error", "types:\n  a:b:C:\n    prise: 1\n", `prices.yaml:3: unknown key "prise"; did you mean "price"?`},
		{"an unknown key", "type: {}\n", `prices.yaml:1: unknown key "type"; did you mean "types"?`},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			root := t.TempDir()
			if err := os.WriteFile(filepath.Join(root, File), []byte(test.content), 0o600); err != nil {
				t.Fatal(err)
			}
			_, err := Load(root)
			if (err != nil) != (test.want != "") || err != nil && !strings.Contains(err.Error(), test.want) {
				t.Errorf("got %v, want %q", err, test.want)
			}
		})
	}
}

// TestPricesOfRegions: no price differs so much from that of the first region that a digit may be wrong.
func TestPricesOfRegions(t *testing.T) {
	t.Parallel()
	sheet, err := Load("")
	if err != nil {
		t.Fatal(err)
	}
	compared := 0
	compare := func(token, region, size string, first, price float64) {
		if compared++; first != 0 && (price < 0.95*first || price > 1.4*first) {
			t.Errorf("%s in %s: %s costs %g, and %g in the first region", token, region, size, price, first)
		}
	}
	for token, r := range sheet.Types {
		for _, r := range append([]*rate{r}, r.Also...) {
			for region, tariff := range r.Regions {
				for size, price := range tariff.Prices {
					compare(token, region, size, r.Prices[size], price)
				}
				if tariff.Price != nil {
					compare(token, region, "it", *r.Price, *tariff.Price)
				}
			}
		}
	}
	if compared < 50 {
		t.Errorf("%d prices were compared", compared)
	}
}

// TestEndlessPrice: a price that is never computed is an error, not nothing.
func TestEndlessPrice(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	sheet := "types:\n  a:b:C: {per: month, price: 1, count: 'def f: f; f', day: 2026-11-01, source: us}\n"
	if err := os.WriteFile(filepath.Join(root, File), []byte(sheet), 0o600); err != nil {
		t.Fatal(err)
	}
	prices, err := Load(root)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeoutCause(t.Context(), 20*time.Millisecond, errEndless)
	defer cancel()
	document := updateplan.Document{Projects: []updateplan.Project{{Name: "p", Steps: []updateplan.Step{{Op: "create", Type: "a:b:C", Name: "n"}}}}}
	if _, err := prices.Of(ctx, document, nil); err == nil || !strings.Contains(err.Error(), "the price of a:b:C: its program was stopped") {
		t.Errorf("got %v", err)
	}
}
