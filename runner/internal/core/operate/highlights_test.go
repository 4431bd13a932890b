package operate

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"mara/projects/model"
	"mara/runner/internal/core/plan"
)

func TestHighlightLines(t *testing.T) {
	t.Parallel()
	bank := model.Project{Name: "bank", Title: "Bank", Outputs: []model.Output{
		{Name: "application_url", Highlight: true}, {Name: "ip", Highlight: true}, {Name: "other"},
		{Name: "password", Highlight: true, Secret: true}, {Name: "missing", Highlight: true},
	}}
	registry := model.Project{
		Name: "registry", Title: "Local Registry", Outputs: []model.Output{{Name: "endpoint", Highlight: true}},
	}
	got := highlightLines([]plan.Step{{Project: registry}, {Project: bank}}, map[string]map[string]any{
		"registry": {"endpoint": "localhost:5001"},
		"bank":     {"application_url": "https://localhost", "ip": "", "other": "x", "password": "hunter2"},
	})
	want := []string{
		"Local Registry  endpoint         localhost:5001", "Bank            application_url  https://localhost",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	if lines := highlightLines([]plan.Step{{Project: bank}}, nil); len(lines) > 0 {
		t.Errorf("lines of nothing: %q", lines)
	}
}
