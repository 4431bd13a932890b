package cluster_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/pulumi/pulumi/sdk/v3/go/common/resource"
	"github.com/pulumi/pulumi/sdk/v3/go/pulumi"

	"mara/projects"
	"mara/projects/internal/programtest"
)

// TestValuesFileBelowTheRoot holds that a relative path starts at config/pulumi
// of the root that the runner works on, wherever the runner was started.
func TestValuesFileBelowTheRoot(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	dir := filepath.Join(root, "config", "pulumi", "values")
	if err := os.MkdirAll(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "certmgr.yaml"), []byte("replicaCount: 5\ncrds: {keep: null}\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	result := release(t, root, "values/certmgr.yaml")
	if result.Err != nil {
		t.Fatal(result.Err)
	}
	deployed := result.One(t, releaseType, "cert-manager")
	if got := deployed.Value("values", "replicaCount"); got != 5.0 {
		t.Errorf("replicaCount is %v, want the file's", got)
	}
	if got := deployed.Value("values", "crds", "keep"); got != nil {
		t.Errorf("crds.keep is %v, want null in the file to take it away", got)
	}
	if err := release(t, root, "values/missing.yaml").Err; err == nil || !strings.Contains(err.Error(), `configuration key "certmgr:values_file"`) {
		t.Errorf("a missing file: %v", err)
	}
}

// release runs the program as the runner does, with a values file.
func release(t *testing.T, root, file string) programtest.Result {
	t.Helper()
	return programtest.Run(t, programtest.Case{
		Project: projects.CertManager(),
		Program: func(ctx *pulumi.Context) error { return program(ctx.WithValue(projects.RootKey{}, root)) },
		Config:  map[string]string{"kubernetes:infra_type": "kind", "certmgr:values_file": file},
		Stacks: map[string]resource.PropertyMap{
			"kubeconfig": {"kubeconfig": resource.MakeSecret(resource.NewProperty("a kubeconfig"))},
		},
	})
}
