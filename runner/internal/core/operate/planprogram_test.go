package operate

import (
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"

	"mara/runner/internal/core/inputs"
	"mara/runner/internal/core/updateplan"
)

func TestComparePrograms(t *testing.T) {
	t.Parallel()
	plan := updateplan.Document{Projects: []updateplan.Project{
		{Name: "net", Fingerprint: map[string]string{inputs.ProgramPart: "1", "configuration": "2"}},
		{Name: "app", Fingerprint: map[string]string{inputs.ProgramPart: "1", inputs.RunnerPart: "2"}},
		{Name: "older"}, {Name: "outside", Fingerprint: map[string]string{}},
	}}
	changed, unknown := comparePrograms(plan, map[string]map[string]string{
		"net": {inputs.ProgramPart: "1", "configuration": "3"}, "app": {inputs.ProgramPart: "2", inputs.RunnerPart: "3"}, "older": {},
	}, map[string]error{"outside": errors.New("sources from anywhere")})
	if diff := cmp.Diff(
		[]string{"configuration of net", "program of app", "the runner and its programs, for app"}, changed,
	); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff(
		[]string{"older (the plan has no digest of it)", "outside (sources from anywhere)"}, unknown,
	); diff != "" {
		t.Error(diff)
	}
}
