package session

import (
	"os"
	"path/filepath"
	"testing"

	"mara/config"
	"mara/providers"
	"mara/runner/internal/core/request"
)

// TestOverridesReachPulumi in the working copy, and only there.
func TestOverridesReachPulumi(t *testing.T) {
	t.Parallel()
	const file = "config:\n  kubernetes:infra_type: kind\n  kind:workers: 1 # one\n"
	root := t.TempDir()
	path := filepath.Join(root, config.StackPath("dev"))
	put(t, path, file)
	o := Options{Request: request.Request{Root: root, BuiltIn: providers.Catalogue(), Stack: config.Value{Text: "dev", Origin: config.Origin{Source: config.FromFlag, Name: "--stack"}}}}
	o.Overrides = []config.Change{{Key: "kind:workers", Value: 3}, {Key: "eks:k8s_version", Value: "1.30"}}
	s, err := Resolve(Deps{}, o)
	if err != nil {
		t.Fatal(err)
	}
	if want := "config:\n  kubernetes:infra_type: kind\n  kind:workers: 3 # one\n  eks:k8s_version: \"1.30\"\n"; string(s.Settings.Config.Content) != want {
		t.Errorf("the working copy is made from %q", s.Settings.Config.Content)
	}
	if got, err := os.ReadFile(path); err != nil || string(got) != file {
		t.Errorf("the file is %q, %v", got, err)
	}
}

// put writes a file, and the directories above it.
func put(t *testing.T, path, content string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
}
