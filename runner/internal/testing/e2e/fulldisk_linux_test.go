package e2e

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestConfigSetOnADiskThatTakesNothing tells what to do about the disk that
// there is: free some space, or make it writable.
func TestConfigSetOnADiskThatTakesNothing(t *testing.T) {
	t.Parallel()
	const stack = "config:\n  kubernetes:infra_type: kind\n"
	for name, test := range map[string]struct {
		spoil func(e *environment, d disk)
		want  []string
	}{
		"full":      {fillUp, []string{"no space left on device", "free some space on its disk"}},
		"read-only": {func(e *environment, d disk) { e.protect(d) }, []string{"read-only file system", "mount its file system writable"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			e := newEnvironment(t, embedded)
			d := disk{dir: "config/pulumi"}
			e.mountDisk(d)
			e.write("config/pulumi/Pulumi.dev.yaml", stack)
			test.spoil(e, d)
			r := e.run("config", "set", "certmgr:replicas", "3", "-s", "dev")
			if r.code != 3 {
				t.Errorf("exit code %d, want 3\n%s", r.code, r.stderr)
			}
			for _, want := range append(test.want, "nothing was changed") {
				if !strings.Contains(r.stderr, want) {
					t.Errorf("no %q in\n%s", want, r.stderr)
				}
			}
			if got, err := os.ReadFile(filepath.Join(e.root, "config/pulumi/Pulumi.dev.yaml")); err != nil || string(got) != stack {
				t.Errorf("the file is %q, %v", got, err)
			}
		})
	}
}

// fillUp leaves no room at all: the last page is filled, too.
func fillUp(e *environment, d disk) {
	e.t.Helper()
	e.fill(d)
	_ = os.WriteFile(filepath.Join(e.root, d.dir, "rest"), make([]byte, 64<<10), 0o600) // as much of it as there is room for
}
