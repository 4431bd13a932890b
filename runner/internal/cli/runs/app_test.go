package runs

import (
	"errors"
	"io"
	"strings"
	"testing"

	"mara/projects/model"
	"mara/runner/internal/core/plan"
	"mara/runner/internal/core/session"
)

// TestApplication: --app takes applications of mara.yaml, and no other projects.
func TestApplication(t *testing.T) {
	t.Parallel()
	s := &session.Resolved{Plan: plan.Plan{Steps: []plan.Step{
		{Project: model.Project{Name: "certmgr"}},
		{Project: model.Project{Name: "net", Own: &model.Own{}}},
		{Project: model.Project{Name: "shop", Own: &model.Own{Generated: true}}},
	}}}
	for name, want := range map[string]string{
		"shop": "", "shp": `"shp", which is no application of this environment; did you mean "shop"?`,
		"net": `"net", which is no application`, "certmgr": `"certmgr", which is no application`,
	} {
		got, err := options{App: name}.application(s)
		if want == "" && (err != nil || got != name) || want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
			t.Errorf("%s: %q, %v", name, got, err)
		}
	}
}

// TestEndOf: the end of a log is none of its errors.
func TestEndOf(t *testing.T) {
	t.Parallel()
	if err := endOf(io.EOF); err != nil {
		t.Error(err)
	}
	if lost := errors.New("connection lost"); !errors.Is(endOf(lost), lost) {
		t.Error("a connection that is lost counts as the end")
	}
}
