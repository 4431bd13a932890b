package plan_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"mara/projects/model/needs"
	"mara/runner/internal/core/event"
	"mara/runner/internal/core/graph"
	"mara/runner/internal/core/plan"
)

// A change reaches those that read outputs, themselves or through others, and not those that only wait.
func TestAffected(t *testing.T) {
	t.Parallel()
	step := func(name string, reads, after []string) event.Project {
		return event.Project{Name: name, Needs: needs.Needs{Reads: reads, After: after}}
	}
	news := map[string]plan.News{"net": {Changed: []string{"net:cidr"}}, "db": {Changed: []string{"program of db"}}}
	plan.Affected([]event.Project{
		step("net", nil, nil), step("db", []string{"net"}, nil), step("shop", []string{"net", "db"}, nil), step("mail", nil, []string{"net"}),
		step("page", []string{"shop", "mail"}, nil),
	}, news)
	got := map[string]string{}
	for name, one := range news {
		got[name] = strings.Join(one.Because, " ")
	}
	if diff := cmp.Diff(map[string]string{"net": "", "db": "net", "shop": "net db", "page": "net db"}, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestMark(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		news plan.News
		text string
		want []graph.Mark
	}{
		"none":                 {plan.News{Flows: []string{"url = x"}}, "succeeded", nil},
		"changed":              {plan.News{Changed: []string{"db:size, now 2", "program of db"}}, "changed: size, now 2, program", []graph.Mark{graph.Changed}},
		"drifted":              {plan.News{Drifted: []string{"gone table"}}, "drift: 1 resource", []graph.Mark{graph.Drifted}},
		"affected":             {plan.News{Because: []string{"net"}}, "may run: net changed", []graph.Mark{graph.Affected}},
		"changed and affected": {plan.News{Changed: []string{"db:size"}, Because: []string{"net"}}, "changed: size", []graph.Mark{graph.Changed}},
		"drifted and affected": {plan.News{Drifted: []string{"gone a", "gone b"}, Because: []string{"net"}}, "drift: 2 resources", []graph.Mark{graph.Drifted, graph.Affected}},
	} {
		node := graph.Node{ID: "db", Text: "succeeded"}
		test.news.Mark(&node)
		if node.Text != test.text || !cmp.Equal(node.News, test.want) {
			t.Errorf("%s: %q with the marks %v", name, node.Text, node.News)
		}
		if hint := strings.Join(node.Lines, "\n"); !strings.Contains(hint, strings.Join(append(test.news.Flows, test.news.Drifted...), "; ")) {
			t.Errorf("%s: pointing at it says %q", name, hint)
		}
	}
}
