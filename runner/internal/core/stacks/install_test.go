package stacks

import (
	"slices"
	"testing"
)

// TestInstall: flags are passed on.
func TestInstall(t *testing.T) {
	t.Parallel()
	for _, flags := range [][]string{nil, {"--no-plugins"}} {
		fake := newFake(t, call{args: "install --non-interactive", check: func(dir string, env, args []string) {
			if dir != "/project" || !slices.Contains(env, "A=b") || slices.Contains(args, "--no-plugins") != (flags != nil) {
				t.Errorf("with %q: %q in %s with %q", flags, args, dir, env)
			}
		}})
		if err := Install(t.Context(), fake, "/project", map[string]string{"A": "b"}, flags...); err != nil {
			t.Error(err)
		}
	}
	fake := newFake(t, call{args: "install", stderr: "error: no package.json\n", err: failed()})
	if err := Install(t.Context(), fake, "/project", nil); err == nil || err.Error() != "`pulumi install` in /project: no package.json" {
		t.Errorf("a failure: %v", err)
	}
}
