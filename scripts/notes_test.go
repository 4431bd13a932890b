package scripts

import (
	"os/exec"
	"regexp"
	"strings"
	"testing"
)

// TestNotes: the newest version of the changelog has notes that say what it has, which a candidate of it shares, and other versions have none.
func TestNotes(t *testing.T) {
	t.Parallel()
	notes := func(arguments ...string) (string, error) {
		text, err := exec.Command("sh", append([]string{"release/notes.sh"}, arguments...)...).Output()
		return string(text), err
	}
	version, err := notes()
	version = strings.TrimSpace(version)
	if err != nil || !regexp.MustCompile(`^\d+\.\d+\.\d+$`).MatchString(version) {
		t.Fatalf("the newest version is %q, %v", version, err)
	}
	final, err := notes(version)
	if err != nil || !strings.Contains(final, "runner") || strings.Contains(final, "\n## ") || strings.HasPrefix(final, "\n") {
		t.Errorf("the notes of %s: %v\n%s", version, err, final)
	}
	if candidate, err := notes("v" + version + "-rc.1"); err != nil || candidate != final {
		t.Errorf("the notes of a candidate: %v\n%s", err, candidate)
	}
	if text, err := notes("99.0.0"); err == nil {
		t.Errorf("a version that is not there has the notes %s", text)
	}
}
