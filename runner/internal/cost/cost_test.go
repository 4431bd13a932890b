package cost

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"mara/runner/internal/updateplan"
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
	nodes := func(size string, count any) map[string]any {
		return map[string]any{"instanceTypes": []any{size}, "scalingConfig": map[string]any{"desiredSize": count}}
	}
	const group, cluster, lke = "aws:eks/nodeGroup:NodeGroup", "aws:eks/cluster:Cluster", "linode:index/lkeCluster:LkeCluster"
	for _, test := range []struct {
		name  string
		steps []updateplan.Step
		want  string
	}{
		{"nothing", nil, "at least 0 USD a month, before traffic and what the cluster makes itself"},
		{"a cluster with nodes", []updateplan.Step{step("create", cluster, nil), step("create", group, nodes("t3.large", 3.0))},
			"at least 255 USD a month (+255), before traffic and what the cluster makes itself; prices of 2026-03-13 and later"},
		{"less", []updateplan.Step{step("same", cluster, nil), step("delete", group, nodes("t3.large", 1.0))},
			"at least 73 USD a month (-61), before traffic and what the cluster makes itself; prices of 2026-03-13 and later"},
		{"pools", []updateplan.Step{step("same", lke, map[string]any{"pools": []any{map[string]any{"type": "g6-standard-2", "count": 2.0}, map[string]any{"type": "g6-standard-4", "count": 1.0}}})},
			"at least 96 USD a month, before traffic and what the cluster makes itself; prices of 2024-12-31 and later"},
		{"not known, spot, and a type that the sheet does not have", []updateplan.Step{
			step("create", group, nodes("t3.large", updateplan.Unknown)), step("create", group, nodes(updateplan.Unknown, 1.0)), step("create", group, nodes("x9.large", 1.0)),
			step("create", group, map[string]any{"capacityType": "SPOT", "instanceTypes": []any{"t3.large"}}), step("create", lke, map[string]any{"pools": updateplan.Unknown}),
		}, "at least 0 USD a month, before traffic and what the cluster makes itself; not known before: p n, p n, p n, p n, p n"},
		{"free, read, and without a price", []updateplan.Step{step("create", "aws:iam/role:Role", nil), step("read", cluster, nil), step("create", "aws:ecr/repository:Repository", nil), step("same", "aws:ecr/repository:Repository", nil)},
			"at least 0 USD a month, before traffic and what the cluster makes itself; without a price: aws:ecr/repository:Repository"},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			sheet, err := Load("")
			if err != nil {
				t.Fatal(err)
			}
			e, err := sheet.Of(t.Context(), updateplan.Document{Projects: []updateplan.Project{{Name: "p", Steps: test.steps}}}, "us-east-1")
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(test.want, e.String()); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// TestElsewhere: in another region a price is not what it is here.
func TestElsewhere(t *testing.T) {
	t.Parallel()
	sheet, err := Load("")
	if err != nil {
		t.Fatal(err)
	}
	e, err := sheet.Of(t.Context(), updateplan.Document{Projects: []updateplan.Project{{Steps: []updateplan.Step{{Op: "create", Type: "aws:eks/cluster:Cluster"}}}}}, "eu-central-1")
	if err != nil || e.Monthly != 0 || len(e.Unpriced) != 1 {
		t.Errorf("%v: %+v", err, e)
	}
}

func TestOwnPrices(t *testing.T) {
	t.Parallel()
	for _, test := range []struct{ name, content, want string }{
		{"nothing", "# later\n", ""},
		{"a type of one's own", "types: {own:index:Thing: {per: month, price: 2, day: 2026-11-01, source: us}}\n", ""},
		{"another currency", "currency: EUR\n", "the prices are in EUR"},
		{"no source", "types: {a: {per: month, price: 2, day: 2026-11-01}}\n", "a: say where the price comes from"},
		{"no day", "types: {a: {per: month, price: 2, source: us}}\n", `a: day is ""`},
		{"no price", "types: {a: {per: month, source: us}}\n", "a: it has either a price, or prices by size"},
		{"no size", "types: {a: {per: month, prices: {b: 1}, source: us}}\n", "a: prices by size need a size"},
		{"a wrong program", "types: {a: {per: hour, price: 1, count: '.x |', day: 2026-11-01, source: us}}\n", `a: ".x |": line 1, column 5: the query ends too early`},
		{"per week", "types: {a: {per: week}}\n", `a: per is "week"; write hour or month`},
		{"nothing at all", "types: {a: }\n", "a: it has no price"},
		{"an unknown field", "type: {}\n", "field type not found"},
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
