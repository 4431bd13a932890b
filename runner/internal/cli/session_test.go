package cli_test

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"mara/runner/internal/cli/cmd"
	"mara/runner/internal/machine/interrupt"
	"mara/runner/internal/testing/cmdtest"
	"mara/runner/internal/wire"
)

// TestSessionRefuses: what is wrong is found in the order in which it costs
// more to find out, and pulumi is asked nothing before the rest is right. Only
// an operation goes on to look for what else is wrong.
func TestSessionRefuses(t *testing.T) {
	t.Parallel()
	const kind = "config:\n  kubernetes:infra_type: kind\n"
	eof := func(i *cmdtest.Installed) { i.Write("stacks.json.fail", "error: EOF\n") }
	for _, test := range []struct {
		name, args string
		files      map[string]string // below config/pulumi; "../../x" is below the root
		prepare    func(i *cmdtest.Installed)
		code       int
		stderr     string // the start
		calls      []string
	}{
		{"no root", "status -s dev", nil, nil, cmd.ExitConfig, "error: no directory with config/pulumi here", nil},
		{"no provider", "status -s dev", map[string]string{"environment": ""}, nil, cmd.ExitUsage, "error: --provider: no provider is named", nil},
		{"wrong configuration and a wrong engine", "refresh -s dev --pulumi /nowhere", map[string]string{"Pulumi.dev.yaml": kind + "  kind:nodez: 1\n"}, nil,
			cmd.ExitConfig, "error: 3 problems are in the way of refresh:\n  configuration: config/pulumi/Pulumi.dev.yaml:3: kind:nodez is read by no project", nil},
		{"the runner's own key", "up -s dev", map[string]string{"Pulumi.dev.yaml": kind + "  mara:simulated: \"true\"\n"}, nil,
			cmd.ExitConfig, "error: config/pulumi/Pulumi.dev.yaml:3: mara:simulated is the runner's own", []string{"stack ls --all --json"}},
		{"missing engine before a missing passphrase", "outputs -s dev --pulumi /nowhere/pulumi", map[string]string{"Pulumi.dev.yaml": kind}, nil,
			cmd.ExitConfig, "error: no pulumi at /nowhere/pulumi: ", nil},
		{"no passphrase", "outputs -s dev", map[string]string{"Pulumi.dev.yaml": "encryptionsalt: salt\n" + kind}, nil,
			cmd.ExitConfig, "error: no passphrase is set", nil},
		{"malformed salt", "outputs -s dev", map[string]string{"Pulumi.dev.yaml": "encryptionsalt: salt\n" + kind, "environment": "PULUMI_CONFIG_PASSPHRASE=x"}, nil,
			cmd.ExitConfig, "error: config/pulumi/Pulumi.dev.yaml: encryptionsalt is not a salt that Pulumi wrote", nil},
		{"bad fault before the backend is asked", "up -s dev --simulate --simulate-fail =", map[string]string{"Pulumi.dev.yaml": kind}, nil,
			cmd.ExitUsage, "error: --simulate-fail: ", nil},
		{"unknown fault", "up -s dev --simulate --simulate-fail quoat", map[string]string{"Pulumi.dev.yaml": kind}, nil,
			cmd.ExitUsage, "error: --simulate-fail: \"quoat\" is neither a resource type", nil},
		{"a record that is in the way", "status -s dev", map[string]string{"Pulumi.dev.yaml": kind, "../../.runner/environments": "a file"}, nil,
			cmd.ExitConfig, "error: the directory .runner cannot be used: ", nil},
		{"generated secrets that cannot be stored", "outputs -s dev --simulate", map[string]string{"Pulumi.dev.yaml": kind, "../../.runner/simulated/secrets": "a file"}, nil,
			cmd.ExitConfig, "error: the directory .runner cannot be used: ", nil},
		{"the backend fails", "status -s dev", map[string]string{"Pulumi.dev.yaml": kind}, func(i *cmdtest.Installed) {
			i.Write("stacks.json.fail", "error: could not list bucket: no route to host\n")
		},
			cmd.ExitFailed, "error: listing the stacks: could not list bucket: no route to host\n", []string{"stack ls --all --json"}},
		{"a cut-off file beside a state, for one who looks", "status -s dev", map[string]string{"Pulumi.dev.yaml": kind, "../../.runner/state/.pulumi/stacks/certmgr/dev.json.attrs": ""}, eof,
			cmd.ExitConfig, "error: the state file is truncated (disk full, or the process was killed): certmgr (", []string{"stack ls --all --json"}},
		{"and for an operation", "refresh -s dev", map[string]string{"Pulumi.dev.yaml": kind, "environment": "PULUMI_CONFIG_PASSPHRASE=x", "../../.runner/state/.pulumi/stacks/certmgr/dev.json.attrs": ""}, eof,
			cmd.ExitFailed, "certmgr: ", []string{"stack ls --all --json", "stack ls --all --json"}},
		{"no user is logged in", "status -s dev", map[string]string{"Pulumi.dev.yaml": kind}, func(i *cmdtest.Installed) {
			i.Write("stacks.json.fail", "error: PULUMI_ACCESS_TOKEN must be set for login during non-interactive CLI sessions\n")
		}, cmd.ExitConfig, "error: listing the stacks: not logged in to the backend: set PULUMI_ACCESS_TOKEN, ", []string{"stack ls --all --json"}},
		{"the backend answers nonsense", "status -s dev", map[string]string{"Pulumi.dev.yaml": kind}, func(i *cmdtest.Installed) { i.Write("stacks.json", "Hello!") },
			cmd.ExitFailed, "error: listing the stacks: pulumi answered with something else than JSON", []string{"stack ls --all --json"}},
		{"the passphrase is wrong for the state", "outputs -s dev certmgr", map[string]string{"Pulumi.dev.yaml": kind, "environment": "PULUMI_CONFIG_PASSPHRASE=x"}, func(i *cmdtest.Installed) {
			i.Stacks(map[string]int{"certmgr": 1})
			i.Write("outputs-certmgr.json.fail", "error: incorrect passphrase\n")
		}, cmd.ExitConfig, "error: reading the outputs of certmgr: the passphrase is wrong: ", []string{"stack ls --all --json", "stack output --json --stack organization/certmgr/dev"}},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			root, i := t.TempDir(), cmdtest.NewInstalled(t)
			if test.files != nil {
				root = cmdtest.Root(t, nil)
				deployed(t, root)
			}
			for name, content := range test.files {
				cmdtest.WriteFile(t, filepath.Join(root, "config/pulumi", name), content)
			}
			if test.prepare != nil {
				test.prepare(i)
			}
			d, stdout, stderr := cmdtest.InstalledDeps(t, root, i)
			if code := wire.Run(context.Background(), d, strings.Fields(test.args)); code != test.code || stdout.Len() > 0 {
				t.Errorf("exit code %d, want %d; stdout %q", code, test.code, stdout)
			}
			if !strings.HasPrefix(stderr.String(), test.stderr) {
				t.Errorf("stderr: %s\nwant: %s", stderr, test.stderr)
			}
			if calls := i.Calls(); !slices.Equal(calls, test.calls) && (len(test.calls) > 0 || strings.Join(calls, "") != "") {
				t.Errorf("pulumi was asked %q, want %q", calls, test.calls)
			}
			checkNothingIsLeft(t, root, i)
		})
	}
}

// checkNothingIsLeft looks for working copies: below the root, and in the
// directories that pulumi ran in.
func checkNothingIsLeft(t *testing.T, root string, i *cmdtest.Installed) {
	t.Helper()
	left, err := filepath.Glob(filepath.Join(root, ".runner*/**/work/*"))
	if err != nil {
		t.Fatal(err)
	}
	more, err := filepath.Glob(filepath.Join(root, ".runner/work/*"))
	if left = append(left, more...); err != nil || len(left) > 0 {
		t.Errorf("working copies are left: %v, %v", left, err)
	}
	for _, line := range i.Log() {
		directory, call, _ := strings.Cut(line, " ")
		if _, err := os.Stat(directory); err == nil && strings.Contains(call, "stack") {
			t.Errorf("the working copy %s is left", directory)
		}
	}
}

// TestSessionIsInterrupted while the backend is asked: that is no failure.
func TestSessionIsInterrupted(t *testing.T) {
	t.Parallel()
	root, i := aws(t), cmdtest.NewInstalled(t)
	deployed(t, root)
	i.Write("hang", "")
	ctx, cancel := context.WithCancelCause(context.Background())
	stop := make(chan struct{})
	go func() {
		defer close(stop)
		for ctx.Err() == nil {
			content, _ := os.ReadFile(filepath.Join(i.Directory, "log"))
			if strings.Contains(string(content), "hanging") {
				cancel(interrupt.ErrInterrupted)
			}
			time.Sleep(5 * time.Millisecond)
		}
	}()
	d, _, stderr := cmdtest.InstalledDeps(t, root, i)
	code := wire.Run(ctx, d, []string{"status"})
	cancel(nil)
	<-stop
	if code != cmd.ExitInterrupted || stderr.String() != "error: listing the stacks: interrupted\n" {
		t.Errorf("exit code %d: %s", code, stderr)
	}
	checkNothingIsLeft(t, root, i)
}

// TestSessionBackends: a relative address and ~ lead to the directories they name.
func TestSessionBackends(t *testing.T) {
	t.Parallel()
	root, i := aws(t), cmdtest.NewInstalled(t)
	cmdtest.WriteFile(t, filepath.Join(root, "elsewhere 100%/.pulumi/meta.yaml"), "")
	i.Stacks(map[string]int{"aws-vpc": 24})
	d, stdout, stderr := cmdtest.InstalledDeps(t, root, i)
	d.Environ = append(d.Environ, "PULUMI_BACKEND_URL=file://./elsewhere 100%25")
	if code := wire.Run(context.Background(), d, []string{"status"}); code != cmd.ExitDone {
		t.Fatalf("exit code %d: %s", code, stderr)
	}
	if calls := i.Calls(); len(calls) == 0 || calls[0] != "stack ls --all --json" {
		t.Errorf("the backend was taken for an empty one: %q\n%s", calls, stdout)
	}
}
