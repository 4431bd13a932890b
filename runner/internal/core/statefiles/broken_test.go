package statefiles

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestRestoreStates restores what Pulumi has saved before it broke a state.
func TestRestoreStates(t *testing.T) {
	t.Parallel()
	const good, cut = `{"version":3}`, `{"version":3,"check`
	for _, test := range []struct {
		name    string
		files   map[string]string // below .pulumi, of the project vpc
		want    string            // the state afterwards; "" for none
		problem string
	}{
		{"the one before", map[string]string{"stacks/vpc/dev.json": cut, "stacks/vpc/dev.json.bak": good}, good, ""},
		{"an empty one", map[string]string{"stacks/vpc/dev.json": "", "stacks/vpc/dev.json.bak": good}, good, ""},
		{"the one that the guard has kept", map[string]string{"stacks/vpc/dev.json": cut, "stacks/vpc/dev.json.bak": cut, "stacks/vpc/dev.json.before": good}, good, ""},
		{"a new stack", map[string]string{"stacks/vpc/dev.json": cut}, "", ""},
		{"nothing to restore", map[string]string{"stacks/vpc/dev.json": cut, "stacks/vpc/dev.json.bak": cut}, cut, "so is the one before it"},
		{"the one before is gone", map[string]string{"stacks/vpc/dev.json": cut, "history/vpc/dev/a.json": good}, cut, "so is the one before it"},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			for name, content := range test.files {
				put(t, filepath.Join(dir, "state/.pulumi", name), content)
			}
			states := Directory{Path: filepath.Join(dir, "state"), Stack: "dev"}
			broken := brokenIn(t, states, "vpc", "eks")
			if len(broken) != 1 || broken[0].Project != "vpc" {
				t.Fatalf("broken: %v", broken)
			}
			var printed strings.Builder
			err := states.Restore(&printed, broken, filepath.Join(dir, "backups"))
			if (err != nil) != (test.problem != "") || err != nil && !strings.Contains(err.Error(), test.problem) {
				t.Errorf("got %v, want %q", err, test.problem)
			}
			file := filepath.Join(dir, "state/.pulumi/stacks/vpc/dev.json")
			if content, _ := os.ReadFile(file); string(content) != test.want {
				t.Errorf("the state is %q, want %q", content, test.want)
			}
			if err == nil && (len(brokenIn(t, states, "vpc")) > 0 || !strings.Contains(printed.String(), "vpc: the state file was truncated")) {
				t.Errorf("printed %q, still broken: %v", printed.String(), brokenIn(t, states, "vpc"))
			}
			if kept, _ := os.ReadFile(filepath.Join(dir, "backups/vpc.broken.json")); err == nil && string(kept) != test.files["stacks/vpc/dev.json"] {
				t.Errorf("kept %q", kept)
			}
		})
	}
}

// TestRemoveBrokenSidecars of any stack: the list of stacks reads them all.
func TestRemoveBrokenSidecars(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	stacks := filepath.Join(dir, "state/.pulumi/stacks")
	whole := []string{"vpc/dev.json", "vpc/dev.json.attrs", "eks/dev.json"}
	for _, name := range whole {
		put(t, filepath.Join(stacks, name), `{"version":3}`)
	}
	cut := map[string]string{"vpc/dev.json.bak.attrs": "", "eks/dev.json.attrs": `{"md5":`, "own/prod.json.attrs": ""}
	for name, content := range cut {
		put(t, filepath.Join(stacks, name), content)
	}
	states := Directory{Path: filepath.Join(dir, "state"), Stack: "dev"}
	broken := brokenIn(t, states, "vpc", "eks")
	if len(broken) != len(cut) {
		t.Fatalf("broken: %v", broken)
	}
	var printed strings.Builder
	if err := states.Restore(&printed, broken, filepath.Join(dir, "backups")); err != nil {
		t.Fatal(err)
	}
	for name := range cut {
		if _, err := os.Stat(filepath.Join(stacks, name)); err == nil || !strings.Contains(printed.String(), name+" is truncated") {
			t.Errorf("%s: %v; printed %q", name, err, printed.String())
		}
	}
	for _, name := range whole {
		if _, err := os.Stat(filepath.Join(stacks, name)); err != nil {
			t.Error(err)
		}
	}
	if left := brokenIn(t, states, "vpc", "eks"); len(left) > 0 {
		t.Errorf("still broken: %v", left)
	}
}

// TestUnreadableIsNotWhole: files that cannot be read are errors, not files without a
// fault. A directory in the place of a file cannot be read, even by root.
func TestUnreadableIsNotWhole(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		directory, file string // below .pulumi/stacks
		sidecars        bool   // BrokenSidecars fails, too
	}{
		"a sidecar":                        {directory: "vpc/dev.json.attrs", sidecars: true},
		"a sidecar of another environment": {directory: "vpc/prod.json.attrs"},
		"a state":                          {directory: "vpc/dev.json"},
		"the directory of a project":       {file: "vpc", sidecars: true},
		"the directory of the stacks":      {file: ".", sidecars: true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := Directory{Path: t.TempDir(), Stack: "dev"}
			stacks := filepath.Join(f.Path, ".pulumi/stacks")
			if test.file != "" {
				put(t, filepath.Join(stacks, test.file), "")
			} else if err := os.MkdirAll(filepath.Join(stacks, test.directory), 0o700); err != nil {
				t.Fatal(err)
			}
			if broken, err := f.Broken([]string{"vpc"}); err == nil || !strings.Contains(err.Error(), "cannot be read") || len(broken) > 0 {
				t.Errorf("Broken: %v, %v", broken, err)
			}
			if broken, err := f.BrokenSidecars([]string{"vpc"}); (err != nil) != test.sidecars || len(broken) > 0 {
				t.Errorf("BrokenSidecars: %v, %v", broken, err)
			}
		})
	}
}

// brokenIn lists what is broken in a directory that can be read.
func brokenIn(t *testing.T, f Directory, projects ...string) []Broken {
	t.Helper()
	broken, err := f.Broken(projects)
	if err != nil {
		t.Fatal(err)
	}
	return broken
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
