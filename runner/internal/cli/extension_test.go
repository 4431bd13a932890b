package cli_test

import (
	"context"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"mara/runner/internal/cli/cmd"
	"mara/runner/internal/testing/cmdtest"
	"mara/runner/internal/wire"
)

// TestExtension runs a program of the PATH as a command, with its arguments as they are and its exit code, and never one in
// place of a built-in command or from a directory that is not absolute.
func TestExtension(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "windows" {
		t.Skip("the programs are scripts for sh")
	}
	d, stdout, stderr := cmdtest.Deps(t)
	programs := filepath.Join(d.Dir, "programs")
	if err := os.Mkdir(programs, 0o755); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"runner-greet", "runner-version", "runner-apply"} {
		script := "#!/bin/sh\necho " + name + " \"$*\" \"$GREETING\"\nexit 7\n"
		if err := os.WriteFile(filepath.Join(programs, name), []byte(script), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	for _, tt := range []struct {
		path, args, want string
		code             int
	}{
		{programs, "greet --loud -- you", "runner-greet --loud -- you hello\n", 7},
		{programs, "apply", "runner-apply  hello\n", 7}, // instead of a hint
		{programs, "version", "runner ", cmd.ExitDone},
		{programs, "nothing", "", cmd.ExitUsage},
		{programs, "../programs/runner-greet", "", cmd.ExitUsage},
		{"programs", "greet", "", cmd.ExitUsage},
	} {
		stdout.Reset()
		d.Environ = []string{"PATH=" + tt.path, "GREETING=hello"}
		if code := wire.Run(context.Background(), d, strings.Fields(tt.args)); code != tt.code || !strings.HasPrefix(stdout.String(), tt.want) {
			t.Errorf("%s with the PATH %s: exit code %d, %q\n%s", tt.args, tt.path, code, stdout, stderr)
		}
	}
}
