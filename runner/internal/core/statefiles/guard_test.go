package statefiles

import (
	"os"
	"path/filepath"
	"testing"
	"time"
)

// TestStateGuard follows a state through what Pulumi does to it.
func TestStateGuard(t *testing.T) {
	t.Parallel()
	const one, two, cut = `{"n":1}`, `{"n":2}`, `{"n":`
	file := filepath.Join(t.TempDir(), "dev.json")
	g := guard{files: []string{file, filepath.Join(t.TempDir(), "never.json")}, looked: map[string]time.Time{}}
	now := time.Now()
	for _, step := range []struct {
		name, state, before string
		want                string // kept afterwards; "" for nothing
	}{
		{"the first state", one, "", ""},
		{"one with a state before it", two, one, ""},
		{"one that is cut off", cut, two, two},
		{"cut off again, over the one before", cut, cut, two},
		{"whole again", one, cut, two},
		{"another one is cut off", cut, one, one},
		{"nothing whole", cut, cut, one},
	} {
		now = now.Add(time.Second)
		for path, content := range map[string]string{file: step.state, file + ".bak": step.before} {
			if content == "" {
				continue
			}
			// Pulumi puts a new file in the place of the old one.
			if err := os.WriteFile(path+".new", []byte(content), 0o600); err != nil {
				t.Fatal(err)
			}
			if err := os.Chtimes(path+".new", now, now); err != nil {
				t.Fatal(err)
			}
			if err := os.Rename(path+".new", path); err != nil {
				t.Fatal(err)
			}
		}
		g.look()
		if got, _ := os.ReadFile(file + guardedEnd); string(got) != step.want {
			t.Errorf("%s: kept %q, want %q", step.name, got, step.want)
		}
	}
	g.forget()
	if _, err := os.Stat(file + guardedEnd); err == nil {
		t.Error("what was kept remains in the next run")
	}
}
