package vault

import (
	"context"
	"os/exec"
	"strings"
	"testing"

	"mara/config"
	"mara/runner/internal/core/encryption"
	"mara/runner/internal/core/lock"
)

// TestCommandForAShell has a shell read the command that continues.
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

// TestSharedMarker: another checkout that shares the backend knows of an interrupted change, refuses to work, and
// removes the note with its own when it has continued the change.
func TestSharedMarker(t *testing.T) {
	t.Parallel()
	ctx, store := t.Context(), lock.Directory(t.TempDir())
	checkout := func() *Vault {
		settings := config.Settings{Root: t.TempDir()}
		settings.Stack.Text = "dev"
		shared := func(context.Context) (lock.Store, error) { return store, nil }
		return New(Options{Settings: &settings, Backend: Backend{Shared: shared}})
	}
	to, err := encryption.NewKeySealer("new", encryption.Scheme{})
	if err != nil {
		t.Fatal(err)
	}
	first := change{Vault: checkout(), to: to}
	if err := first.mark(ctx); err != nil {
		t.Fatal(err)
	}
	second := checkout()
	alone := checkout()
	alone.Shared = nil
	if err := alone.RefuseHalfChanged(ctx); err != nil {
		t.Fatal(err)
	}
	if err := second.RefuseHalfChanged(ctx); err == nil || !strings.Contains(err.Error(), "is being changed to passphrase") {
		t.Errorf("the other checkout: %v", err)
	}
	noted, begun, err := second.begunChange()
	if err != nil || !begun || noted.Salt != to.Scheme().Salt {
		t.Errorf("noted %v, %v, %v; want the same new salt", noted, begun, err)
	}
	if err := (&change{Vault: second, to: to}).unmark(ctx); err != nil {
		t.Fatal(err)
	}
	if third := checkout(); third.RefuseHalfChanged(ctx) != nil {
		t.Error("the note is still there")
	}
}
