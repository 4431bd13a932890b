package layout_test

import (
	"os"
	"path/filepath"
	"slices"
	"testing"

	"mara/config"
	"mara/runner/internal/machine/layout"
)

// TestState: config.Resolve keeps the state in the same directories.
func TestState(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	for _, simulated := range []bool{false, true} {
		settings, err := config.ResolveRoot(config.Request{Root: root, Simulate: simulated})
		if err != nil {
			t.Fatal(err)
		}
		got, ok := settings.StateDir()
		if want := string(layout.Of(root, simulated).State()); !ok || got != want {
			t.Errorf("simulated %t: config says %s, layout says %s", simulated, got, want)
		}
	}
}

func TestStacks(t *testing.T) {
	t.Parallel()
	dir := layout.Of(t.TempDir(), false)
	for _, file := range []string{dir.Provider("dev"), dir.Salt("dev"), dir.Provider("a.b"), dir.KeyChange("other")} {
		if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if got, err := dir.Stacks(); err != nil || !slices.Equal(got, []string{"a.b", "dev"}) {
		t.Errorf("got %q, %v", got, err)
	}
	unreadable := layout.Of(t.TempDir(), false)
	if err := os.MkdirAll(string(unreadable), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(string(unreadable), "environments"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if got, err := unreadable.Stacks(); err == nil {
		t.Errorf("got %q from what cannot be listed", got)
	}
}
