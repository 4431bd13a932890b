package scripts

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// TestWeigh holds the check that holds the archives of a release to their size.
func TestWeigh(t *testing.T) {
	t.Parallel()
	directory := t.TempDir()
	size := map[string]int64{"light.tar.gz": 1000, "heavy.tar.gz": 1001}
	for name, bytes := range size {
		if err := os.WriteFile(filepath.Join(directory, name), make([]byte, bytes), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	weigh := func(names ...string) (string, error) {
		command := exec.Command("sh", append([]string{mustAbs(t, "release/weigh.sh"), "1000"}, names...)...)
		command.Dir = directory
		output, err := command.CombinedOutput()
		return string(output), err
	}
	if output, err := weigh("light.tar.gz"); err != nil || output != "light.tar.gz: 1000 bytes of at most 1000\n" {
		t.Errorf("one that is light enough: %v\n%s", err, output)
	}
	output, err := weigh("heavy.tar.gz", "light.tar.gz")
	if err == nil || !strings.Contains(output, "heavy.tar.gz has 1001 bytes, more than 1000") || !strings.Contains(output, "light.tar.gz: 1000") {
		t.Errorf("one that is too heavy: %v\n%s", err, output)
	}
	if output, err := weigh("missing.tar.gz"); err == nil {
		t.Errorf("one that is not there: %s", output)
	}
}

func mustAbs(t *testing.T, path string) string {
	t.Helper()
	path, err := filepath.Abs(path)
	if err != nil {
		t.Fatal(err)
	}
	return path
}
