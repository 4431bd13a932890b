package projects_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/pulumi/pulumi/sdk/v3/go/common/workspace"

	"mara/projects"
	"mara/projects/model"
)

// TestPulumiReadsManifests has Pulumi's own code read every Pulumi.yaml of the
// checkout and find what they refer to, as plain `pulumi up` does.
func TestPulumiReadsManifests(t *testing.T) {
	t.Parallel()
	root, err := filepath.Abs("..")
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range projects.All() {
		t.Run(p.Name, func(t *testing.T) {
			t.Parallel()
			dir := filepath.Join(root, "projects", filepath.FromSlash(p.Path))
			project, err := workspace.LoadProject(filepath.Join(dir, "Pulumi.yaml"))
			if err != nil {
				t.Fatal(err)
			}
			if string(project.Name) != p.Name || project.Runtime.Name() != model.Runtime || project.Main != "" {
				t.Errorf("name %q, runtime %q, main %q", project.Name, project.Runtime.Name(), project.Main)
			}
			checkPlugins(t, root, dir, project)
			checkConfigDir(t, root, filepath.Join(dir, project.StackConfigDir), p)
		})
	}
}

// checkPlugins holds that projects on kind name the directory of the provider that
// is made here, and that others name none.
func checkPlugins(t *testing.T, root, dir string, project *workspace.Project) {
	t.Helper()
	var want, got []workspace.PluginOptions
	if strings.HasPrefix(string(project.Name), "kind-") {
		want = []workspace.PluginOptions{{Name: "kind", Path: filepath.Join(root, "bin")}}
	}
	if project.Plugins != nil {
		got = project.Plugins.Providers
	}
	for i := range got {
		got[i].Path = filepath.Join(dir, got[i].Path)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("plugins (-want +got):\n%s", diff)
	}
}

// checkConfigDir holds that the stack file is the one the runner reads. The
// directory of encrypted values is only made when there are some.
func checkConfigDir(t *testing.T, root, dir string, p model.Project) {
	t.Helper()
	want := filepath.Join(root, "config", "pulumi")
	if _, err := os.Stat(want); err != nil {
		t.Error(err)
	}
	if p.Name == projects.Secrets().Name {
		want = filepath.Join(want, "secrets")
	}
	if dir != want {
		t.Errorf("stackConfigDir is %s, want %s", dir, want)
	}
}
