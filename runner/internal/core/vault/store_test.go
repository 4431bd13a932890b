package vault

import (
	"context"
	"os"
	"path/filepath"
	"testing"
	"time"

	"mara/config"
	"mara/runner/internal/core/event"
	"mara/runner/internal/machine/layout"
)

// TestStoreWhenInterrupted: a Ctrl-C while the lock is taken neither panics nor
// leaves the lock.
func TestStoreWhenInterrupted(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	directory := layout.Of(root, false)
	v := New(Options{
		Console:  Console{Now: time.Now},
		Settings: &config.Settings{Root: root, Stack: config.Value{Text: "dev"}, Secrets: config.StackFile{File: config.SecretsPath("dev")}},
		Masker:   event.NewMasker(), Directory: directory,
	})
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := v.Store(ctx, nil, nil, "prometheus:admin_password"); err != nil {
		t.Error(err)
	}
	if _, err := os.Stat(directory.SecretsLock("dev")); err == nil {
		t.Error("the lock is left")
	}
	if _, err := os.Stat(filepath.Join(root, config.SecretsPath("dev"))); err != nil {
		t.Error(err)
	}
}

// TestDeployedSaltIsAskedForOnce: it takes commands where states are no files.
func TestDeployedSaltIsAskedForOnce(t *testing.T) {
	t.Parallel()
	root, asked := t.TempDir(), 0
	v := New(Options{
		Settings: &config.Settings{Root: root, Stack: config.Value{Text: "dev"}},
		Env:      map[string]string{"PULUMI_CONFIG_PASSPHRASE": "x"}, Masker: event.NewMasker(), Directory: layout.Of(root, false),
		Backend: Backend{DeployedSalt: func(context.Context) (string, error) { asked++; return "", nil }},
	})
	for range 2 {
		if err := v.Provide(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	if asked != 1 {
		t.Errorf("asked %d times", asked)
	}
}
