package e2e

import (
	"fmt"
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

// TestJournalOnAFullDisk: the disk with the states fills up in the middle of an up of many resources, before it keeps a
// journal or later. The up fails, and says why; with more room the next one goes on, and makes nothing twice.
func TestJournalOnAFullDisk(t *testing.T) {
	t.Parallel()
	long(t)
	for _, kilo := range []int{1500, 3000} { // all of it takes more; below 1 MB an up does not begin
		t.Run(fmt.Sprint(kilo, " kB"), func(t *testing.T) {
			t.Parallel()
			e := manyEnvironment(t, place{})
			d := disk{dir: "states", kilo: kilo}
			e.mountDisk(d)
			e.env = append(e.env, "PULUMI_BACKEND_URL=file://"+filepath.Join(e.root, d.dir))
			e.fill(d)
			if r := e.run("up", "--yes"); r.code != 1 || !strings.Contains(r.stdout+r.stderr, "no space left on device") {
				t.Errorf("exit code %d\n%s%s", r.code, r.stdout, r.stderr)
			}
			e.checkNoProcess()
			journals, _ := filepath.Glob(filepath.Join(e.root, d.dir, ".pulumi/mara-journal/many/dev/*/journal"))
			t.Logf("%d journals are left", len(journals))
			e.heal(d)
			if r := e.run("status"); r.code != 0 && !strings.Contains(r.stderr, "`runner repair") {
				t.Errorf("status: exit code %d\n%s", r.code, r.stderr)
			}
			e.carryOnUntil([]string{"up", "--yes"}, succeeded)
			e.checkMany("a full disk", "up")
		})
	}
}

// fillUp leaves no room at all: the last page is filled, too.
func fillUp(e *environment, d disk) {
	e.t.Helper()
	e.fill(d)
	_ = os.WriteFile(filepath.Join(e.root, d.dir, "rest"), make([]byte, 64<<10), 0o600) // as much of it as there is room for
}
