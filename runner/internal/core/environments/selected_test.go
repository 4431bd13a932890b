package environments_test

import (
	"crypto/sha1"
	"encoding/hex"
	"os"
	"path/filepath"
	"testing"

	"mara/projects/model"
	"mara/runner/internal/core/catalogue"
	"mara/runner/internal/core/environments"
)

// TestSelected: the stack that is selected in all projects that have one is the environment's.
func TestSelected(t *testing.T) {
	t.Parallel()
	home, root := t.TempDir(), t.TempDir()
	known := catalogue.Catalogue{Projects: []model.Project{
		{Name: "net", Own: &model.Own{Dir: filepath.Join(root, "net"), Stack: "net-{stack}"}},
		{Name: "db", Own: &model.Own{Dir: filepath.Join(root, "db")}}, {Name: "shop", Own: &model.Own{Dir: filepath.Join(root, "shop")}},
	}}
	choose := func(project, content string) {
		t.Helper()
		sum := sha1.Sum([]byte(filepath.Join(root, project, "Pulumi.yaml")))
		file := filepath.Join(home, "workspaces", project+"-"+hex.EncodeToString(sum[:])+"-workspace.json")
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if got := environments.Selected(home, "s3://a", known); got != "" {
		t.Errorf("nothing is selected: %q", got)
	}
	choose("db", `{"stack": "organization/db/old", "stacks": {"s3://a": "organization/db/dev", "s3://b": "organization/db/prod"}}`)
	choose("net", `{"stacks": {"s3://a/": "organization/net/net-dev"}}`)
	if got := environments.Selected(home, "s3://a", known); got != "dev" {
		t.Errorf("both have dev: %q", got)
	}
	choose("net", `{"stack": "net-prod"}`)
	if got := environments.Selected(home, "s3://a", known); got != "" {
		t.Errorf("they disagree: %q", got)
	}
}
