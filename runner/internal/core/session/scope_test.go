package session

import (
	"path/filepath"
	"slices"
	"testing"

	"mara/config"
	"mara/projects/model/operation"
	"mara/providers"
	"mara/runner/internal/core/request"
)

// TestLeftoversKnowSkippedProjects: a project that an up skips here may be deployed. What
// it has in its state is not what an interrupted creation has left in the cloud.
func TestLeftoversKnowSkippedProjects(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	put(t, filepath.Join(root, config.StackPath("dev")), "config:\n  kubernetes:infra_type: kind\n")
	put(t, filepath.Join(root, config.EnvironmentsDir, "dev.yaml"), "values: {runner: {projects: {skip: [certmgr]}}}\n")
	stack := config.Value{Text: "dev", Origin: config.Origin{Source: config.FromFlag, Name: "--stack"}}
	s, err := Resolve(Deps{}, Options{Request: request.Request{Root: root, BuiltIn: providers.Catalogue(), Stack: stack}, Operation: operation.Up})
	if err != nil {
		t.Fatal(err)
	}
	left := (&Reading{Resolved: s}).Leftovers().Projects
	if slices.Contains(s.Plan.Names(), "certmgr") || !slices.Contains(left, "certmgr") {
		t.Errorf("the plan has %v, and the environment %v", s.Plan.Names(), left)
	}
}
