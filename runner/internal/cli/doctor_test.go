package cli_test

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"mara/runner/internal/cli/cmd"
	"mara/runner/internal/core/lock"
	"mara/runner/internal/feature/doctor/preflight"
	"mara/runner/internal/testing/cmdtest"
	"mara/runner/internal/wire"
)

// doctorReport runs `doctor -o json` and returns the findings of each check.
func doctorReport(t *testing.T, d cmd.Deps, args ...string) (code int, document preflight.Document, stderr string) {
	t.Helper()
	var out, errs strings.Builder
	d.Stdout, d.Stderr = &out, &errs
	code = wire.Run(context.Background(), d, append([]string{"doctor", "-o", "json"}, args...))
	if out.Len() > 0 {
		if err := json.Unmarshal([]byte(out.String()), &document); err != nil {
			t.Fatalf("%v: %s", err, out.String())
		}
	}
	return code, document, errs.String()
}

// check is what was found by one check; the zero Result when it is not listed.
func findResult(document preflight.Document, name string) preflight.Result {
	i := slices.IndexFunc(document.Checks, func(r preflight.Result) bool { return r.Name == name })
	if i < 0 {
		return preflight.Result{}
	}
	return document.Checks[i]
}

// noDocker takes docker off the PATH.
func noDocker(_ *testing.T, _ string, i *cmdtest.Installed) {
	_ = os.Remove(filepath.Join(i.Directory, "docker"))
}

// TestDoctorReportsEverything: each way an environment can be wrong makes a
// problem of the check that is about it, and what can be looked at all the same
// is looked at.
func TestDoctorReportsEverything(t *testing.T) {
	t.Parallel()
	const kind = "config:\n  kubernetes:infra_type: kind\n"
	const good = "PULUMI_STACK=dev\nPULUMI_CONFIG_PASSPHRASE=x\n"
	for _, test := range []struct {
		name, args string
		files      map[string]string // below config/pulumi
		prepare    func(t *testing.T, root string, i *cmdtest.Installed)
		code       int
		check      string // that is about it
		status     preflight.Status
		text       string // of its first finding, the start
	}{
		{"good", "", nil, nil, cmd.ExitDone, "settings", preflight.OK, "stack dev (PULUMI_STACK in config/pulumi/environment:1), provider kind (kubernetes:infra_type in config/pulumi/Pulumi.dev.yaml:2)"},
		{"good file", "", nil, nil, cmd.ExitDone, "environment-file", preflight.OK, "config/pulumi/environment sets 2 variables"},
		{"good configuration", "", nil, nil, cmd.ExitDone, "configuration", preflight.OK, "config/pulumi/Pulumi.dev.yaml has 1 key, all right"},
		{"good engine", "", nil, nil, cmd.ExitDone, "engine", preflight.OK, "v3.250.0, installed at /"},
		{"nothing deployed", "", nil, nil, cmd.ExitDone, "backend", preflight.OK, "file:///"},
		{"broken environment file", "-p kind", map[string]string{"environment": "A=1\nB"}, nil, cmd.ExitConfig, "environment-file", preflight.Problem, "config/pulumi/environment:2: has no =; write NAME=value"},
		{"what depends on it", "-p kind", map[string]string{"environment": "A=1\nB"}, nil, cmd.ExitConfig, "configuration", preflight.Skipped, "not looked at"},
		{"what does not", "-p kind", map[string]string{"environment": "A=1\nB"}, nil, cmd.ExitConfig, "engine", preflight.OK, "v3.250.0"},
		{"no stack", "", map[string]string{"environment": "A=1", "Pulumi.prod.yaml": ""}, nil, cmd.ExitConfig, "settings", preflight.Problem, "--stack: no stack is named"},
		{"no provider", "", map[string]string{"Pulumi.dev.yaml": ""}, nil, cmd.ExitConfig, "settings", preflight.Problem, "--provider: no provider is named"},
		{"unknown provider", "", map[string]string{"Pulumi.dev.yaml": "config: {kubernetes:infra_type: gke}"}, nil, cmd.ExitConfig, "settings", preflight.Problem, "config/pulumi/Pulumi.dev.yaml:1: kubernetes:infra_type: unknown provider \"gke\""},
		{"another provider", "-p aws", nil, nil, cmd.ExitConfig, "settings", preflight.Problem, "config/pulumi/Pulumi.dev.yaml:2: kubernetes:infra_type is \"kind\", but --provider asks for \"aws\""},
		{"broken stack file", "", map[string]string{"Pulumi.dev.yaml": "config:\n\ta: b"}, nil, cmd.ExitConfig, "settings", preflight.Problem, "config/pulumi/Pulumi.dev.yaml:2: is not valid YAML"},
		{"unknown key", "", map[string]string{"Pulumi.dev.yaml": kind + "  kind:nodez: 1\n"}, nil, cmd.ExitConfig, "configuration", preflight.Problem, "config/pulumi/Pulumi.dev.yaml:3: kind:nodez is read by no project"},
		{"secrets", "", nil, nil, cmd.ExitDone, "secrets", preflight.Warning, "config/pulumi/secrets/Pulumi.dev.yaml: prometheus:admin_password is missing"},
		{"no passphrase", "", map[string]string{"environment": "PULUMI_STACK=dev"}, nil, cmd.ExitConfig, "passphrase", preflight.Problem, "no passphrase is set"},
		{"malformed salt", "", map[string]string{"Pulumi.dev.yaml": "encryptionsalt: salt\n" + kind}, nil, cmd.ExitConfig, "passphrase", preflight.Problem, "config/pulumi/Pulumi.dev.yaml: encryptionsalt is not a salt"},
		{"a change of the key provider was interrupted", "", nil, func(t *testing.T, root string, _ *cmdtest.Installed) {
			cmdtest.WriteFile(t, filepath.Join(root, ".runner/environments/dev.change.yaml"), "secretsprovider: awskms://x\n")
		}, cmd.ExitConfig, "passphrase", preflight.Problem, "the key provider of dev is being changed to awskms://x, and that was interrupted"},
		{"a change of the key provider was interrupted in another checkout", "", map[string]string{"environment": "PULUMI_STACK=dev\nPULUMI_CONFIG_PASSPHRASE=x\nPULUMI_BACKEND_URL=file://shared\n"},
			func(t *testing.T, root string, _ *cmdtest.Installed) {
				cmdtest.WriteFile(t, filepath.Join(root, "shared/.mara/changes/dev/change.json"), "secretsprovider: awskms://x\n")
			}, cmd.ExitConfig, "passphrase", preflight.Problem, "the key provider of dev is being changed to awskms://x, and that was interrupted"},
		{"no engine", "--pulumi /nowhere/pulumi", nil, nil, cmd.ExitConfig, "engine", preflight.Problem, "no pulumi at /nowhere/pulumi"},
		{"the backend without an engine", "--pulumi /nowhere/pulumi", nil, nil, cmd.ExitConfig, "backend", preflight.Skipped, "not looked at: it takes Pulumi to ask"},
		{"what needs no engine", "--pulumi /nowhere/pulumi", nil, nil, cmd.ExitConfig, "lock", preflight.OK, "no other run"},
		{"the backend fails", "", nil, func(_ *testing.T, _ string, i *cmdtest.Installed) {
			i.Write("stacks.json.fail", "error: no route to host\n")
		},
			cmd.ExitConfig, "backend", preflight.Problem, "file:///"},
		{"what needs the backend", "", nil, func(_ *testing.T, _ string, i *cmdtest.Installed) {
			i.Write("stacks.json.fail", "error: no route to host\n")
		},
			cmd.ExitConfig, "pending", preflight.Skipped, "not looked at: the backend does not answer"},
		{"a run goes on", "", nil, func(t *testing.T, root string, _ *cmdtest.Installed) {
			leaveLock(t, root, lock.Self("up", "r1", cmdtest.Now()))
		},
			cmd.ExitConfig, "lock", preflight.Problem, "the environment is locked by "},
		{"a run was killed", "", nil, func(t *testing.T, root string, _ *cmdtest.Installed) {
			owner := lock.Self("up", "r1", cmdtest.Now())
			owner.Started = "another"
			leaveLock(t, root, owner)
		}, cmd.ExitDone, "lock", preflight.Warning, "the last run (r1, up by "},
		{"a stack is locked", "", nil, func(t *testing.T, root string, _ *cmdtest.Installed) {
			cmdtest.WriteFile(t, filepath.Join(root, ".runner/state/.pulumi/locks/organization/certmgr/dev/x.json"), `{"username":"ann","hostname":"there","pid":1}`)
		}, cmd.ExitConfig, "stack-locks", preflight.Problem, "certmgr is locked by ann@there"},
		{"a creation was cut off", "", nil, cutOff("creating"), cmd.ExitConfig, "pending", preflight.Problem, "an earlier run was cut off while it created resources"},
		{"refresh looks for itself", "refresh", nil, cutOff("creating"), cmd.ExitDone, "pending", preflight.Warning, "an earlier run was cut off at certmgr: "},
		{"an update was cut off", "", nil, cutOff("updating"), cmd.ExitDone, "pending", preflight.Warning, "an earlier run was cut off at certmgr: "},
		{"a directory that cannot be", "", nil, func(t *testing.T, root string, _ *cmdtest.Installed) {
			if err := os.RemoveAll(filepath.Join(root, ".runner")); err != nil {
				t.Fatal(err)
			}
			cmdtest.WriteFile(t, filepath.Join(root, ".runner"), "")
		}, cmd.ExitConfig, "disk", preflight.Problem, "the directory of the runner's files, "},
		{"no docker", "", nil, noDocker, cmd.ExitConfig, "docker", preflight.Problem, "there is no docker on PATH"},
		{"no docker, and something to destroy", "destroy", nil, func(t *testing.T, root string, i *cmdtest.Installed) {
			noDocker(t, root, i)
			i.Stacks(map[string]int{"kic-image-push": 1})
		}, cmd.ExitConfig, "docker", preflight.Problem, "there is no docker on PATH"},
		{"no docker, and nothing to destroy", "destroy", nil, noDocker, cmd.ExitDone, "docker", preflight.Skipped, "nothing is deployed that needs it"},
		{"no docker, and nothing selected that needs it", "--only kubeconfig -p aws", map[string]string{
			"Pulumi.dev.yaml": "config: {kubernetes:infra_type: aws, aws:region: us-west-2}",
		}, func(t *testing.T, root string, i *cmdtest.Installed) {
			noDocker(t, root, i)
			_ = os.Remove(filepath.Join(i.Directory, "pulumi-resource-kubernetes"))
		}, cmd.ExitDone, "settings", preflight.OK, "stack dev"},
		{"both files broken", "", map[string]string{"environment": "PULUMI_STACK=dev\nB", "Pulumi.dev.yaml": "config: ["}, nil,
			cmd.ExitConfig, "configuration", preflight.Problem, "config/pulumi/Pulumi.dev.yaml:1: is not valid YAML"},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			files := map[string]string{"environment": good, "Pulumi.dev.yaml": kind}
			for name, content := range test.files {
				files[name] = content
			}
			root, i := cmdtest.Root(t, files), cmdtest.NewInstalled(t)
			deployed(t, root)
			d := atRoot(t, root, i)
			if test.prepare != nil {
				test.prepare(t, root, i)
			}
			code, document, stderr := doctorReport(t, d, strings.Fields(test.args)...)
			result := findResult(document, test.check)
			if code != test.code || stderr != "" || result.Status != test.status || !strings.HasPrefix(result.Findings[0].Text, test.text) {
				t.Errorf("exit code %d, %s: %+v\n%s", code, result.Status, result.Findings, stderr)
			}
			if problem := document.Status == preflight.Problem; problem != (code == cmd.ExitConfig) {
				t.Errorf("status %s with exit code %d", document.Status, code)
			}
		})
	}
}

// leaveLock writes the lock of a run that is or was this owner's.
func leaveLock(t *testing.T, root string, owner lock.Owner) {
	t.Helper()
	content, err := json.Marshal(owner)
	if err != nil {
		t.Fatal(err)
	}
	cmdtest.WriteFile(t, filepath.Join(root, ".runner/locks/kind-dev.lock"), string(content))
}

// cutOff leaves an operation on a resource of certmgr in the state that was cut
// off.
func cutOff(action string) func(*testing.T, string, *cmdtest.Installed) {
	return func(t *testing.T, root string, _ *cmdtest.Installed) {
		t.Helper()
		cmdtest.WriteFile(t, filepath.Join(root, ".runner/state/.pulumi/stacks/certmgr/dev.json"), `{"checkpoint":{"latest":{"pending_operations":[
			{"resource":{"urn":"urn:pulumi:dev::certmgr::kubernetes:core/v1:Namespace::certmgr"},"type":"`+action+`"}]}}}`)
	}
}

// TestDoctorReadsOnly: neither a good environment nor one that nothing has been
// made of yet is any different after it.
func TestDoctorReadsOnly(t *testing.T) {
	t.Parallel()
	for _, args := range [][]string{{"-p", "kind"}, {"-p", "kind", "--simulate"}, {"-p", "kind", "destroy"}} {
		root, i := cmdtest.Root(t, map[string]string{"environment": "PULUMI_STACK=dev\nPULUMI_CONFIG_PASSPHRASE=x\n"}), cmdtest.NewInstalled(t)
		before := tree(t, root)
		if code, document, stderr := doctorReport(t, atRoot(t, root, i), args...); code != cmd.ExitDone || document.Simulated != slices.Contains(args, "--simulate") {
			t.Errorf("%v: exit code %d: %+v %s", args, code, document, stderr)
		}
		if diff := cmp.Diff(before, tree(t, root)); diff != "" {
			t.Errorf("%v: %s", args, diff)
		}
	}
}

// tree lists everything below a directory.
func tree(t *testing.T, root string) []string {
	t.Helper()
	var paths []string
	err := filepath.WalkDir(root, func(path string, _ os.DirEntry, err error) error {
		paths = append(paths, path)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return paths
}

// TestDoctorAsksForNoMore than the operation needs.
func TestDoctorAsksForNoMore(t *testing.T) {
	t.Parallel()
	always := []string{"environment-file", "settings", "configuration", "engine", "backend", "lock"}
	changes := append(slices.Clone(always), "stack-locks", "pending", "orphans", "disk")
	programs := []string{"files", "programs"}
	docker := []string{"passphrase", "plugins", "docker"}
	local := []string{"containers"} // of a cluster on this machine
	kind := []string{"kind-runtime", "kind-nodes", "kind-resources", "kind-limits", "kind-ports"}
	for args, want := range map[string][]string{
		"-p kind":                           slices.Concat(changes, programs, docker, kind, local, []string{"secrets", "kubectl"}),
		"-p kind destroy":                   slices.Concat(changes, docker, kind[:1], local),
		"-p kind preview":                   slices.Concat(always, programs, docker, kind, local, []string{"disk", "secrets"}),
		"-p linode refresh --only logstore": slices.Concat(changes, docker[:2]),
		"-p linode up --only logstore":      slices.Concat(changes, programs, docker[:2], []string{"secrets", "kubectl"}),
		"-p kind --simulate":                slices.Concat(changes, programs),
		"-p kind drift --simulate":          append(slices.Clone(always), "disk"),
		"-p aws destroy --only kic-image-*": slices.Concat(changes, docker),
		"-p aws destroy --only certmgr":     slices.Concat(changes, docker[:2], []string{"aws-cli"}),
	} {
		root, i := cmdtest.Root(t, map[string]string{"environment": "PULUMI_STACK=dev\nPULUMI_CONFIG_PASSPHRASE=x\n"}), cmdtest.NewInstalled(t)
		_, document, stderr := doctorReport(t, atRoot(t, root, i), strings.Fields(args)...)
		var got []string
		for _, result := range document.Checks {
			got = append(got, result.Name)
		}
		slices.Sort(got)
		slices.Sort(want)
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s: %s%s", args, stderr, diff)
		}
	}
}

// TestDoctorUsage: a wrong command line is wrong usage, not a finding.
func TestDoctorUsage(t *testing.T) {
	t.Parallel()
	for args, want := range map[string]string{
		"upp":                      "error: unknown operation \"upp\"; did you mean \"up\"?\nhint: see `runner doctor --help`\n",
		"up down":                  "error: unexpected argument \"down\"\n",
		"-p gke -s dev":            "error: --provider: unknown provider \"gke\"",
		"-p kind -s a/b/c/d":       "error: --stack: the stack name \"c/d\" contains '/'",
		"-p kind -s dev --only x,": "error: --only: ",
	} {
		d, stdout, stderr := cmdtest.Deps(t)
		d.Dir = cmdtest.Root(t, nil)
		code := wire.Run(context.Background(), d, append([]string{"doctor"}, strings.Fields(args)...))
		if code != cmd.ExitUsage || stdout.Len() > 0 || !strings.HasPrefix(stderr.String(), want) {
			t.Errorf("%s: exit code %d: %s%s", args, code, stdout, stderr)
		}
	}
}

// TestDoctorWithoutRoot, by its other name.
func TestDoctorWithoutRoot(t *testing.T) {
	t.Parallel()
	d, stdout, _ := cmdtest.Deps(t)
	if code := wire.Run(context.Background(), d, []string{"validate"}); code != cmd.ExitConfig {
		t.Errorf("exit code %d", code)
	}
	text := stdout.String()
	for _, want := range []string{
		"no provider: what up needs\n\nenvironment\n  problem  environment file: no directory with config/pulumi here",
		"-> make one with `runner init`", "problem  Pulumi: there is no engine",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("no %q in\n%s", want, text)
		}
	}
}

// TestDoctorText says that it is simulated, and shows no secret.
func TestDoctorText(t *testing.T) {
	t.Parallel()
	root, i := cmdtest.Root(t, map[string]string{"environment": "PULUMI_STACK=dev\nLINODE_TOKEN=abcdef0123\n"}), cmdtest.NewInstalled(t)
	deployed(t, root)
	if err := os.MkdirAll(filepath.Join(root, ".runner/simulated/state/.pulumi"), 0o700); err != nil {
		t.Fatal(err)
	}
	i.Write("stacks.json.fail", "error: the token abcdef0123 is not good\n")
	d, stdout, stderr := cmdtest.InstalledDeps(t, root, i)
	if code := wire.Run(context.Background(), d, []string{"doctor", "-p", "kind", "--simulate"}); code != cmd.ExitConfig || stderr.Len() > 0 {
		t.Errorf("exit code %d: %s", code, stderr)
	}
	text := stdout.String()
	if !strings.HasPrefix(text, "kind, stack dev [SIMULATED]: what up needs\n") || !strings.Contains(text, "the token [secret] is not good") || strings.Contains(text, "\x1b") {
		t.Errorf("got %s", text)
	}
}
