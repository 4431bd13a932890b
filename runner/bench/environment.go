package main

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"

	"mara/providers"
	"mara/runner/internal/core/encryption"
	"mara/runner/internal/core/plan"
)

const (
	stack      = "bench"
	passphrase = "bench"
	fast       = "1000000" // simulated clouds take no time
)

// zones are written down, as the first run on a terminal does: a project that asks
// its cloud for them is run every time.
var zones = map[string]string{"aws": "  vpc:azs: [us-east-1a, us-east-1b, us-east-1c]\n"}

// environment is a simulated environment of its own, in a temporary directory.
type environment struct {
	options
	plan plan.Plan
	root string
}

// newEnvironment makes the directory and its configuration. The salt is in the
// stack file, so that everybody uses the same key.
func newEnvironment(o options) (*environment, error) {
	e := &environment{options: o}
	provider, err := providers.ByName(o.provider)
	if err != nil {
		return nil, err
	}
	if e.plan, err = plan.New(provider); err != nil {
		return nil, err
	}
	key, err := encryption.NewKey(passphrase)
	if err != nil {
		return nil, err
	}
	if e.root, err = os.MkdirTemp("", "bench-*"); err != nil {
		return nil, err
	}
	directory := filepath.Join(e.root, "config", "pulumi")
	if err := os.MkdirAll(directory, 0o700); err != nil {
		return nil, err
	}
	for path, content := range map[string]string{
		filepath.Join(directory, "environment"): "PULUMI_STACK=" + stack + "\n" +
			"PULUMI_CONFIG_PASSPHRASE_FILE=" + e.passphraseFile() + "\n",
		filepath.Join(directory, "Pulumi."+stack+".yaml"): "encryptionsalt: " + key.Salt() + "\n" +
			"config:\n  kubernetes:infra_type: " + o.provider + "\n" + zones[o.provider],
		e.passphraseFile(): passphrase,
	} {
		if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
			return nil, err
		}
	}
	return e, nil
}

func (e *environment) passphraseFile() string { return filepath.Join(e.root, "passphrase") }

func (e *environment) remove() { os.RemoveAll(e.root) }

// runner returns a command of the runner in the environment.
func (e *environment) runner(ctx context.Context, args ...string) *exec.Cmd {
	args = append(args, "--simulate", "--simulate-speed", fast)
	cmd := exec.CommandContext(ctx, filepath.Join(e.bin, "runner"), args...)
	cmd.Dir = e.root
	cmd.Env = []string{"HOME=" + e.root, "PATH=" + os.Getenv("PATH")}
	return cmd
}
