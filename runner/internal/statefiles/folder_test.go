package statefiles

import (
	"os"
	"path/filepath"
	"testing"
)

// TestLayouts: states of old lie beside the folders of the projects.
func TestLayouts(t *testing.T) {
	t.Parallel()
	if !(Folder{}).HasLegacy() {
		t.Error("nothing is known of a bucket")
	}
	f := Folder{Path: t.TempDir(), Stack: "dev"}
	for _, step := range []struct {
		file, content string
		legacy        bool
		broken        bool // sidecar of network
	}{
		{"README", "", false, false},
		{".pulumi/stacks/network/dev.json", "{}", false, false},
		{".pulumi/stacks/network/dev.json.attrs", "{}", false, false},
		{".pulumi/stacks/network/prod.json.attrs", "", false, false}, // of another environment
		{".pulumi/stacks/network/dev.json.attrs", "", false, true},
		{".pulumi/stacks/old.json", "{}", true, true},
	} {
		path := filepath.Join(f.Path, step.file)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(step.content), 0o600); err != nil {
			t.Fatal(err)
		}
		if f.HasLegacy() != step.legacy || (len(f.BrokenSidecars([]string{"network", "database"})) > 0) != step.broken {
			t.Errorf("with %s: legacy %v, broken sidecars %v", step.file, f.HasLegacy(), !step.broken)
		}
	}
}
