package vault

import (
	"os/exec"
	"strings"
	"testing"

	"mara/runner/internal/encryption"
)

// TestCommandForAShell has a shell read the command that carries on.
func TestCommandForAShell(t *testing.T) {
	t.Parallel()
	provider := "hashivault://key?a=$HOME&b=`id`'"
	command := changeCommand("dev", encryption.Scheme{Provider: provider})
	out, err := exec.Command("sh", "-c", strings.Replace(command, "runner", `printf '%s\n'`, 1)).CombinedOutput()
	want := "secrets\nchange-provider\n" + provider + "\n-s\ndev\n"
	if err != nil || string(out) != want {
		t.Errorf("%s: the shell reads %q, want %q (%v)", command, out, want, err)
	}
}
