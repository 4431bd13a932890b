package stacks

import (
	"slices"
	"testing"
)

// TestInstall: a simulation installs what a program is made of, and no plugins.
func TestInstall(t *testing.T) {
	t.Parallel()
	for _, plugins := range []bool{true, false} {
		fake := newFake(t, call{args: "install --non-interactive", check: func(dir string, env, args []string) {
			if dir != "/project" || !slices.Contains(env, "A=b") || slices.Contains(args, "--no-plugins") == plugins {
				t.Errorf("with plugins %v: %q in %s with %q", plugins, args, dir, env)
			}
		}})
		if err := Install(t.Context(), fake, Installation{Directory: "/project", Env: map[string]string{"A": "b"}, Plugins: plugins}); err != nil {
			t.Error(err)
		}
	}
	fake := newFake(t, call{args: "install", stderr: "error: no package.json\n", err: failed()})
	if err := Install(t.Context(), fake, Installation{Directory: "/project"}); err == nil || err.Error() != "`pulumi install` in /project: no package.json" {
		t.Errorf("a failure: %v", err)
	}
}
