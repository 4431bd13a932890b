package tools_test

import (
	"strings"
	"testing"

	"mara/runner/internal/cli/cmd"
	"mara/runner/internal/testing/cmdtest"
	"mara/runner/internal/wire"
)

// TestLoginTakesOneBackend: a second argument is refused before anything is started.
func TestLoginTakesOneBackend(t *testing.T) {
	t.Parallel()
	d, stdout, stderr := cmdtest.Deps(t)
	code := wire.Run(t.Context(), d, []string{"login", "s3://a/b", "s3://c/d"})
	if code != cmd.ExitUsage || stdout.Len() > 0 || !strings.Contains(stderr.String(), `unexpected argument "s3://c/d"`) {
		t.Errorf("exit code %d: %s%s", code, stdout, stderr)
	}
}

// TestLoginTakesNoToken: a token among the arguments is refused, and not repeated.
func TestLoginTakesNoToken(t *testing.T) {
	t.Parallel()
	for _, args := range [][]string{{"login", "pul-needle"}, {"login", "--token", "pul-needle"}} {
		d, stdout, stderr := cmdtest.Deps(t)
		code := wire.Run(t.Context(), d, args)
		if code != cmd.ExitUsage || stdout.Len() > 0 || strings.Contains(stderr.String(), "needle") {
			t.Errorf("%v: exit code %d: %s%s", args[:1], code, stdout, stderr)
		}
	}
}
