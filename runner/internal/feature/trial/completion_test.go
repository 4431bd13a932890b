package trial_test

import (
	"strings"
	"testing"

	"mara/runner/internal/cli/cmd"
	"mara/runner/internal/testing/cmdtest"
	"mara/runner/internal/wire"
)

// TestCompletionOfTry offers the providers whose cloud the runner can look at.
func TestCompletionOfTry(t *testing.T) {
	t.Parallel()
	d, stdout, stderr := cmdtest.Deps(t)
	if code := wire.Run(t.Context(), d, []string{"completion", "bash", "--", "try", ""}); code != cmd.ExitDone {
		t.Fatalf("exit code %d: %s", code, stderr)
	}
	var words []string
	for candidate := range strings.Lines(stdout.String()) {
		word, _, _ := strings.Cut(strings.TrimSuffix(candidate, "\n"), "\t")
		words = append(words, word)
	}
	if got := strings.Join(words, " "); got != "aws digitalocean linode" {
		t.Errorf("got %q", got)
	}
}
