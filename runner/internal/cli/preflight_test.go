package cli_test

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"mara/runner/internal/cli/cmd"
	"mara/runner/internal/testing/cmdtest"
	"mara/runner/internal/testing/scripttest"
	"mara/runner/internal/wire"
)

// noDownloads is an environment file that makes a plugin which is not there a problem.
const noDownloads = "PULUMI_STACK=dev\nPULUMI_CONFIG_PASSPHRASE=x\nPULUMI_DISABLE_AUTOMATIC_PLUGIN_ACQUISITION=true\n"

// TestOperationsLookFirst: what the doctor would call a problem stops an
// operation before it changes anything, and what it would warn of does not.
func TestOperationsLookFirst(t *testing.T) {
	t.Parallel()
	const kind, aws = "config:\n  kubernetes:infra_type: kind\n", "config:\n  kubernetes:infra_type: aws\n  aws:region: us-west-2\n"
	noDocker := func(i *cmdtest.Installed) {
		i.Program("docker", "echo no daemon >&2; exit 1")
	}
	noPlugins := func(i *cmdtest.Installed) {
		for _, name := range []string{"kind", "kubernetes"} {
			_ = os.Remove(filepath.Join(i.Directory, "pulumi-resource-"+name))
		}
	}
	for _, test := range []struct {
		name, args, config string
		deployed           string // projects
		prepare            func(i *cmdtest.Installed)
		code               int
		stderr             string // the start
	}{
		{"one problem", "destroy --yes", kind, "kind-cluster kic-image-build", noDocker, cmd.ExitConfig,
			"error: Docker: its daemon does not answer: no daemon\nhint: start Docker, or set DOCKER_HOST to a daemon that runs\n"},
		{"many", "destroy --yes", kind, "kind-cluster kic-image-build certmgr", func(i *cmdtest.Installed) { noDocker(i); noPlugins(i) }, cmd.ExitConfig,
			"error: 3 problems are in the way of destroy:\n  plugins: pulumi-resource-kind is neither next to the runner nor on PATH\n    -> install it next to"},
		{"not of what is not there any more", "destroy --yes", kind, "certmgr", func(i *cmdtest.Installed) { noDocker(i); noPlugins(i) }, cmd.ExitConfig,
			"error: 2 problems are in the way of destroy:\n  plugins: kubernetes "},
		{"not where there is nothing to destroy", "destroy --yes", kind, "", func(i *cmdtest.Installed) { noDocker(i); noPlugins(i) }, cmd.ExitDone, ""},
		{"not where there is nothing to refresh", "refresh", kind, "", noDocker, cmd.ExitDone, ""},
		{"and those of the configuration", "destroy --yes", kind + "  kind:nodez: 1\n", "certmgr", noDocker, cmd.ExitConfig,
			"error: 2 problems are in the way of destroy:\n  configuration: config/pulumi/Pulumi.dev.yaml:3: kind:nodez"},
		{"not of skipped projects", "destroy --yes --only certmgr", aws + "  runner:protect: true\n", "certmgr", noDocker, cmd.ExitConfig,
			"error: config/pulumi/Pulumi.dev.yaml:4: runner:protect protects this environment"},
		{"not of a simulation", "repair --yes --simulate", kind, "certmgr", noDocker, cmd.ExitDone, ""},
		{"a missing confirmation comes first", "destroy", kind, "certmgr", noDocker, cmd.ExitUsage, "error: destroy needs"},
		{"repair looks, too", "repair --yes", kind, "certmgr", noDocker, cmd.ExitConfig, "error: container runtime: docker info: no daemon"},
		{"before secrets are made", "up --yes --generate-secrets", kind, "certmgr", noDocker, cmd.ExitConfig, "error: Docker: its daemon does not answer"},
		{"a warning only", "repair --yes", aws, "certmgr", noDocker, cmd.ExitDone, ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			root, i := cmdtest.Root(t, map[string]string{"environment": noDownloads, "Pulumi.dev.yaml": test.config}), cmdtest.NewInstalled(t)
			deployed(t, root)
			there := map[string]int{}
			for _, project := range strings.Fields(test.deployed) {
				there[project] = 3
			}
			i.Stacks(there)
			d, _, stderr := cmdtest.InstalledDeps(t, root, i)
			test.prepare(i)
			code := wire.Run(context.Background(), d, strings.Fields(test.args))
			if code != test.code || !strings.HasPrefix(stderr.String(), test.stderr) {
				t.Errorf("exit code %d: %s", code, stderr)
			}
			for _, call := range i.Calls() {
				if call != "" && !strings.HasPrefix(call, "stack ls") {
					t.Errorf("pulumi was asked to %s", call)
				}
			}
			checkNothingIsLeft(t, root, i)
			if locks, _ := filepath.Glob(filepath.Join(root, ".runner/locks/*")); len(locks) > 0 {
				t.Errorf("locks are left: %v", locks)
			}
		})
	}
}

// TestRefreshPreviewOnlyIsDrift: the lock and the checks are those of drift, which
// changes nothing.
func TestRefreshPreviewOnlyIsDrift(t *testing.T) {
	t.Parallel()
	root := cmdtest.Root(t, map[string]string{
		"environment": noDownloads, "Pulumi.dev.yaml": "config:\n  kubernetes:infra_type: kind\n",
	})
	deployed(t, root)
	i := cmdtest.NewInstalled(t)
	i.Stacks(map[string]int{"kind-cluster": 3, "certmgr": 3})
	d, _, stderr := cmdtest.InstalledDeps(t, root, i)
	if err := os.Remove(filepath.Join(i.Directory, "pulumi-resource-kubernetes")); err != nil {
		t.Fatal(err)
	}
	seen := filepath.Join(i.Directory, "lock")
	scripttest.Write(t, filepath.Join(i.Directory, "docker"), "/bin/cat "+root+"/.runner/locks/*.lock >>"+seen+"; echo no daemon >&2; exit 1")
	code := wire.Run(context.Background(), d, strings.Fields("refresh --preview-only"))
	if want := "error: 2 problems are in the way of drift:\n"; code != cmd.ExitConfig || !strings.HasPrefix(stderr.String(), want) {
		t.Errorf("exit code %d: %s", code, stderr)
	}
	owner, err := os.ReadFile(seen)
	if err != nil || !strings.Contains(string(owner), `"operation":"drift"`) {
		t.Errorf("the lock's owner: %s, %v", owner, err)
	}
}
