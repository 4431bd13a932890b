package typeset_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"mara/runner/internal/machine/typeset"
)

// TestPatch has git apply what it makes of one text to another.
func TestPatch(t *testing.T) {
	t.Parallel()
	long := "a\nb\nc\nd\ne\nf\ng\nh\n"
	for _, test := range []struct{ name, before, after string }{
		{"changed", long, strings.Replace(long, "e\n", "E\n", 1)}, {"first", long, "x\n" + long}, {"last", long, long + "z\n"},
		{"removed", long, strings.Replace(long, "c\n", "", 1)}, {"new file", "", "a\nb\n"}, {"no line break", "a\nb", "a\nc"},
		{"a repeated line", "a\na\na\n", "a\na\na\na\n"},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			file := filepath.Join(dir, "config", "f.yaml")
			if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
				t.Fatal(err)
			}
			if test.before != "" {
				if err := os.WriteFile(file, []byte(test.before), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			patch := typeset.Patch("config/f.yaml", test.before, test.after)
			command := exec.CommandContext(t.Context(), "git", "apply", "-")
			command.Dir, command.Stdin = dir, strings.NewReader(patch)
			if out, err := command.CombinedOutput(); err != nil {
				t.Fatalf("%v: %s\n%s", err, out, patch)
			}
			if got, err := os.ReadFile(file); err != nil || string(got) != test.after {
				t.Errorf("%v: %q, want %q\n%s", err, got, test.after, patch)
			}
		})
	}
	if patch := typeset.Patch("f", long, long); patch != "" {
		t.Errorf("no change: %q", patch)
	}
}
