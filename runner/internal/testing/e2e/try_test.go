package e2e

import (
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestTry tries the clouds, simulated: well, and with a failure in the middle. In
// both cases nothing is left.
func TestTry(t *testing.T) {
	t.Parallel()
	long(t)
	for _, test := range []struct {
		name, provider string
		args           []string
		code           int
		report         []string
	}{
		{"aws", "aws", nil, 0, []string{"SIMULATED: The trial succeeded. The cloud was not checked for leftovers: the trial was simulated.", "| up again | done |", "| drift | done |", "| destroy | done |"}},
		{"linode", "linode", []string{"--simulate-fail", "*:Release@prometheus=no"}, 1, []string{"SIMULATED: The trial failed: up failed.", "| up | exit code 1 |", "| destroy | done |"}},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			e := newEnvironment(t, embedded)
			r := e.run(append([]string{"try", test.provider, "--simulate", "--simulate-speed", "100000", "--yes"}, test.args...)...)
			if r.code != test.code {
				t.Fatalf("exit code %d\n%s%s", r.code, lastLines(r.stdout), r.stderr)
			}
			dir := filepath.Join(e.root, "mara-try-"+test.provider)
			report, err := os.ReadFile(filepath.Join(dir, "report.md"))
			if err != nil {
				t.Fatal(err)
			}
			for _, want := range test.report {
				if !strings.Contains(string(report), want) {
					t.Errorf("the report has no %q:\n%s", want, report)
				}
			}
			if strings.Contains(r.stdout, "PASSPHRASE") || !strings.Contains(r.stdout, "USD at the deadline") {
				t.Errorf("it says: %s", r.stdout)
			}
			if left := filesIn(t, filepath.Join(dir, ".runner", "simulated", "clouds", "try")); len(left) > 0 {
				t.Errorf("left in the simulated clouds: %q", left)
			}
		})
	}
}

// filesIn lists the files in a directory and below it.
func filesIn(t *testing.T, dir string) []string {
	t.Helper()
	var files []string
	err := filepath.WalkDir(dir, func(path string, entry fs.DirEntry, err error) error {
		if err == nil && !entry.IsDir() {
			files = append(files, path)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return files
}
