package cli_test

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"mara/runner/internal/cli/cmd"
	"mara/runner/internal/testing/cmdtest"
	"mara/runner/internal/wire"
)

// fleetRoot returns a root with these files below config.
func fleetRoot(t *testing.T, files map[string]string) string {
	t.Helper()
	root := cmdtest.Root(t, map[string]string{"environment": "PULUMI_CONFIG_PASSPHRASE=swordfish\n"})
	for name, content := range files {
		cmdtest.WriteFile(t, filepath.Join(root, "config", name), content)
	}
	return root
}

// small returns a fleet of two environments.
func small() map[string]string {
	return map[string]string{
		"layers/base.yaml":       "values:\n  runner: {provider: kind}\n  pulumiConfig:\n    logstore:storage_size: 10Gi\n    logstore:values: {a: {b: 1}}\n",
		"layers/prod.yaml":       "imports: [base]\nvalues:\n  runner: {labels: {stage: prod}, protected: true, backend: \"file://./state/prod\"}\n  pulumiConfig:\n    logstore:storage_size: 50Gi\n",
		"environments/test.yaml": "imports: [base]\nvalues:\n  runner: {labels: {stage: test}}\n",
		"environments/eu-1.yaml": "imports: [prod]\nvalues:\n  runner: {labels: {region: eu}}\n  pulumiConfig:\n    logstore:values: {a: {c: 2}}\n",
		"rollout.yaml":           "waves:\n  - {name: test, match: {stage: test}}\n  - {name: prod, match: {stage: prod}}\n",
	}
}

// runFleet runs a command in a root.
func runFleet(t *testing.T, root, args string) (stdout, stderr string, code int) {
	t.Helper()
	d, out, errs := cmdtest.Deps(t)
	d.Dir = root
	code = wire.Run(context.Background(), d, strings.Fields(args))
	return out.String(), errs.String(), code
}

func TestFleet(t *testing.T) {
	t.Parallel()
	root := fleetRoot(t, small())
	for _, test := range []struct {
		args string
		code int
		want string
	}{
		{"fleet list", 0, "ENVIRONMENT  PROVIDER  WAVE  LABELS                LAST RUN\n" +
			"eu-1         kind      prod  region=eu,stage=prod  -\n" +
			"test         kind      test  stage=test            -\n"},
		{"fleet list -l stage!=prod", 0, "ENVIRONMENT  PROVIDER  WAVE  LABELS      LAST RUN\ntest         kind      test  stage=test  -\n"},
		{"fleet plan", 0, "Wave test: 1 environment\n  test\nWave prod: 1 environment, after test\n  eu-1\n"},
		{"fleet plan -o mermaid", 0, "---\ntitle: \"2 environments in waves, in the order of up\"\n---\nflowchart TD\n  subgraph phase_0 [\"test\"]\n    p0[\"test\"]\n"},
		{"fleet plan -o dot --destroy", 0, "digraph \"fleet\" {\n  label=\"2 environments in waves, in the order of destroy\";\n"},
		{"fleet plan -o svg", 0, "<svg class=\"graph\" xmlns"},
		{"fleet plan -o html", 0, "<!doctype html>"},
		{"fleet plan --destroy", 0, "Wave prod: 1 environment, after test\n  eu-1\nWave test: 1 environment\n  test\n"},
		{"fleet plan --affected --why", 0, "Wave test: 1 environment\n  test: has never been rolled out\nWave prod: 1 environment, after test\n  eu-1: has never been rolled out\n"},
		{"fleet check", 0, "config/pulumi/Pulumi.test.yaml: warning: test and eu-1 want the same ports"},
		{"check eu-1 --simulate", 0, "1 environment checked, no problems\n"},
		{"fleet get logstore:storage_size", 0, "VALUE  COUNT  ENVIRONMENTS  ORIGIN\n" +
			"50Gi   1      eu-1          config/layers/prod.yaml:5\n10Gi   1      test          config/layers/base.yaml:4\n"},
		{"fleet get certmgr:helm_timeout --all", 0, "VALUE  COUNT  ENVIRONMENTS  ORIGIN\n600    2      eu-1, test    default\n"},
		{"config explain logstore:storage_size -s eu-1", 0, "logstore:storage_size\n  value      50Gi (config/layers/prod.yaml:5)\n  overrides  10Gi (config/layers/base.yaml:4)\n" +
			"  overrides  10Gi (default)\n"},
		{"config get logstore:values -s eu-1", 0, "{a: {b: 1, c: 2}}\n"},
		{"config diff test eu-1", 0, "KEY                    test                              eu-1\n" +
			"logstore:storage_size  10Gi (config/layers/base.yaml:4)  50Gi (config/layers/prod.yaml:5)\n" +
			"logstore:values        {a: {b: 1}} (config/layers/base.yaml:5)  {a: {b: 1, c: 2}} (config/environments/eu-1.yaml:5)\n" +
			"runner:protect         false (default)                   true (config/layers/prod.yaml:3)\n"},
		{"env -s eu-1", 0, "export PULUMI_BACKEND_URL=file://" + root + "/state/prod\n"},
		{"env -s test", 0, "export PULUMI_BACKEND_URL=file://" + root + "/.runner/state\n"},
	} {
		t.Run(test.args, func(t *testing.T) {
			stdout, stderr, code := runFleet(t, root, test.args)
			if strings.HasPrefix(test.args, "config diff") { // the widths of columns do not matter
				stdout, test.want = strings.Join(strings.Fields(stdout), " "), strings.Join(strings.Fields(test.want), " ")
			}
			if code != test.code || !strings.HasPrefix(stdout, test.want) {
				t.Errorf("exit code %d: %s%s", code, cmp.Diff(test.want, stdout), stderr)
			}
		})
	}
}

func TestFleetRefusals(t *testing.T) {
	t.Parallel()
	root := fleetRoot(t, small())
	for _, test := range []struct {
		args string
		code int
		want string
	}{
		{"fleet up", 2, "which environments? name them, or use -l SELECTOR or --all"},
		{"fleet up --all test", 2, "--all chooses every environment"},
		{"fleet up eu-2 --yes", 2, `no environment "eu-2"; did you mean "eu-1"?`},
		{"fleet up eu-1 --yes", 3, "config/rollout.yaml:2: test comes before, and test has never been rolled out"},
		{"fleet destroy test", 2, "fleet destroy needs confirmation, and this is not a terminal"},
		{"fleet list -l stag=prod", 2, `no environment has a label "stag"; did you mean "stage"?`},
		{"fleet get logstore:storage_size test --all", 2, "--all chooses every environment"},
		{"fleet get logstore:storge_size", 2, `logstore:storge_size is read by no project; did you mean "logstore:storage_size"?`},
		{"fleet new x", 2, "--from: name the environment to copy"},
		{"fleet new test --from eu-1", 3, "config/environments/test.yaml exists already"},
		{"fleet up --resume --yes", 3, "nothing to resume: there has been no up of fleet/fleet"},
		{"config unset logstore:storage_size -s eu-1", 3, "config/layers/prod.yaml:5: logstore:storage_size is set in a layer"},
	} {
		t.Run(test.args, func(t *testing.T) {
			if _, stderr, code := runFleet(t, root, test.args); code != test.code || !strings.Contains(stderr, test.want) {
				t.Errorf("exit code %d, %s", code, stderr)
			}
		})
	}
}

// TestFleetCheck: problems of a layer are reported once, with the problems of environments.
func TestFleetCheck(t *testing.T) {
	t.Parallel()
	files := small()
	files["layers/base.yaml"] = "values:\n  runner: {provider: kind}\n  pulumiConfig:\n    logstore:storage_size: much\n    logstore:storge_size: 1Gi\n"
	files["environments/dev.yaml"] = "imports: [base]\nvalues:\n  runner: {projects: {skip: [logstre]}}\n"
	stdout, stderr, code := runFleet(t, fleetRoot(t, files), "fleet check --simulate")
	want := `config/pulumi/Pulumi.eu-1.yaml: warning: eu-1 and dev want the same ports of this machine (80, 443, 5001): only one of the two can run on it (in eu-1)
config/pulumi/Pulumi.test.yaml: warning: test and dev want the same ports of this machine (80, 443, 5001): only one of the two can run on it (in test)
config/environments/dev.yaml: error: dev is in no wave of config/rollout.yaml: its labels are environment=dev,provider=kind; give it a label that a wave matches, or add a wave (in dev)
config/environments/dev.yaml:3: error: runner.projects.skip names "logstre", which is no project of kind; did you mean "logstore"? (in dev)
config/layers/base.yaml:4: error: logstore:storage_size is "much", which is not a size such as 10Gi; if it is right, write  runner:accept: ["logstore:storage_size"] (in test)
config/layers/base.yaml:5: error: logstore:storge_size is read by no project; did you mean "logstore:storage_size"?; if it is right, write  runner:accept: ["logstore:storge_size"] (in 2 environments)
3 environments checked, 4 problems, 2 warnings
`
	if code != cmd.ExitConfig || stdout != want || stderr != "" {
		t.Errorf("exit code %d: %s%s", code, cmp.Diff(want, stdout), stderr)
	}
}

// TestFleetCheckWithoutSecrets: CI has neither a passphrase nor secrets; secrets that
// are not set are reported in one line, and plain-text secrets are errors.
func TestFleetCheckWithoutSecrets(t *testing.T) {
	t.Parallel()
	files := small()
	root := fleetRoot(t, files)
	stdout, stderr, code := runFleet(t, root, "fleet check")
	const sound = `config/pulumi/Pulumi.test.yaml: warning: test and eu-1 want the same ports of this machine (80, 443, 5001): only one of the two can run on it (in test)
2 environments checked, no problems, 1 warning
`
	want := sound + "not checked: 4 secrets missing in 2 environments (bank-of-anthos:accounts_db_password, bank-of-anthos:jwt_private_key, " +
		"bank-of-anthos:ledger_db_password, prometheus:admin_password); --secrets makes them errors\n"
	if code != 0 || stderr != "" || stdout != want {
		t.Errorf("exit code %d: %s%s", code, stderr, cmp.Diff(want, stdout))
	}
	if stdout, _, code := runFleet(t, root, "fleet check test -o json"); code != 0 || !strings.Contains(stdout, `"missing_secrets": [`) {
		t.Errorf("exit code %d: %s", code, stdout)
	}
	stdout, _, code = runFleet(t, root, "fleet check --secrets")
	if code != cmd.ExitConfig || !strings.Contains(stdout, "prometheus:admin_password is missing") || strings.Contains(stdout, "not checked") {
		t.Errorf("--secrets: exit code %d: %s", code, stdout)
	}
	files["pulumi/secrets/Pulumi.test.yaml"] = "config:\n  prometheus:admin_password: hunter22hunter22\n"
	stdout, _, code = runFleet(t, fleetRoot(t, files), "fleet check")
	if code != cmd.ExitConfig || !strings.Contains(stdout, "Pulumi.test.yaml:2: error: prometheus:admin_password is in plain text") {
		t.Errorf("plain text: exit code %d: %s", code, stdout)
	}
}

// TestFleetNew: a copy has the same values, encrypted with a key of its own.
func TestFleetNew(t *testing.T) {
	t.Parallel()
	files := small()
	files["pulumi/Pulumi.eu-1.yaml"] = "config:\n  # why\n  logstore:replicas: 2\n"
	root := fleetRoot(t, files)
	cmdtest.WriteFile(t, filepath.Join(root, "value"), "hunter22")
	if _, stderr, code := runFleet(t, root, "secrets set prometheus:admin_password @"+filepath.Join(root, "value")+" -s eu-1"); code != 0 {
		t.Fatal(stderr)
	}
	stdout, stderr, code := runFleet(t, root, "fleet new eu-2 --from eu-1")
	if code != 0 || !strings.Contains(stdout, "wrote config/environments/eu-2.yaml\n") {
		t.Fatalf("exit code %d: %s%s", code, stdout, stderr)
	}
	read := func(name string) string {
		content, err := os.ReadFile(filepath.Join(root, "config", name))
		if err != nil {
			t.Error(err)
		}
		return string(content)
	}
	if read("environments/eu-2.yaml") != files["environments/eu-1.yaml"] || !strings.Contains(read("pulumi/Pulumi.eu-2.yaml"), "# why\n  logstore:replicas: 2\n") {
		t.Errorf("%s\n%s", read("environments/eu-2.yaml"), read("pulumi/Pulumi.eu-2.yaml"))
	}
	salt, _, _ := strings.Cut(read("pulumi/secrets/Pulumi.eu-1.yaml"), "config:")
	if copied := read("pulumi/secrets/Pulumi.eu-2.yaml"); strings.HasPrefix(copied, salt) || strings.Contains(copied, "hunter22") {
		t.Errorf("the copy has no key of its own:\n%s", copied)
	}
	file := filepath.Join(root, "exported")
	if _, stderr, code := runFleet(t, root, "secrets export -s eu-2 --to-file "+file); code != 0 {
		t.Fatal(stderr)
	}
	if exported, _ := os.ReadFile(file); !strings.Contains(string(exported), "hunter22") {
		t.Errorf("exported %s", exported)
	}
}

// TestFleetWithoutEnvironments: a root without environments is no error for commands that
// only read; operations say how to create the first environment.
func TestFleetWithoutEnvironments(t *testing.T) {
	t.Parallel()
	root := fleetRoot(t, nil)
	for _, args := range []string{"fleet status -o json", "fleet list -o json"} {
		if stdout, stderr, code := runFleet(t, root, args); code != cmd.ExitDone || stdout != "[]\n" {
			t.Errorf("%s: exit code %d, %q, %s", args, code, stdout, stderr)
		}
	}
	for _, args := range []string{"fleet reap --yes", "fleet up --all --yes"} {
		_, stderr, code := runFleet(t, root, args)
		if code != cmd.ExitConfig || !strings.Contains(stderr, "there are no environments here") || !strings.Contains(stderr, "config/environments/NAME.yaml") {
			t.Errorf("%s: exit code %d, %s", args, code, stderr)
		}
	}
}

// TestFleetViewsBrokenFiles: what can be read is shown although other files are broken, with every problem once and
// exit code 3. What changes something is refused.
func TestFleetViewsBrokenFiles(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name, file, content string
		want                string // on stderr
		unknown             bool   // an environment is
	}{
		{"a missing layer", "environments/bad.yaml", "imports: [nowhere]\n", `imports "nowhere", but there is no file config/layers/nowhere.yaml`, true},
		{"a wave without environments", "rollout.yaml", "waves:\n  - {name: test, match: {stage: test}}\n  - {name: prod, match: {stage: prod}}\n  - {name: x, match: {stage: none}}\n",
			"config/rollout.yaml:4: x matches no environment", false},
		{"an environment in .yml", "environments/bad.yml", "values: {}\n", "config/environments/bad.yml: is not read, because its name ends in .yml; rename it to bad.yaml", false},
		{"a stack file in .yml", "pulumi/Pulumi.bad.yml", "config: {}\n", "config/pulumi/Pulumi.bad.yml: is not read", false},
		{"a layer in .yml", "layers/other.yml", "values: {}\n", "", false},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			files := small()
			files[test.file] = test.content
			root := fleetRoot(t, files)
			for _, command := range []string{"fleet list", "fleet status"} {
				stdout, stderr, code := runFleet(t, root, command)
				if want := map[bool]int{true: cmd.ExitConfig}[test.want != ""]; code != want || strings.Count(stderr, test.want) != 1 && want != 0 {
					t.Errorf("%s: exit code %d, %s", command, code, stderr)
				}
				if !strings.Contains(stdout, "eu-1 ") || !strings.Contains(stdout, "test ") || strings.Contains(stdout, "unknown") != test.unknown {
					t.Errorf("%s: %s", command, stdout)
				}
			}
			if _, stderr, code := runFleet(t, root, "fleet plan"); (code != cmd.ExitDone) != (test.want != "") {
				t.Errorf("fleet plan: exit code %d, %s", code, stderr)
			}
		})
	}
	files := small()
	delete(files, "rollout.yaml")
	files["rollout.yml"], files["layers/prod.yaml"] = "waves: []\n", "imports: [base, other]\nvalues:\n  runner: {labels: {stage: prod}}\n"
	files["environments/eu-2.yaml"], files["layers/other.yml"] = files["environments/eu-1.yaml"], "values: {}\n"
	root := fleetRoot(t, files)
	if stdout, stderr, code := runFleet(t, root, "fleet check"); code != cmd.ExitConfig ||
		strings.Count(stdout, `config/layers/prod.yaml:1: error: imports "other", but config/layers/other.yml is not read`) != 1 {
		t.Errorf("a broken layer of two environments: exit code %d, %s", code, stderr)
	}
	files["layers/other.yaml"] = "values: {}\n"
	if stdout, stderr, code := runFleet(t, fleetRoot(t, files), "fleet check"); code != cmd.ExitConfig ||
		!strings.Contains(stdout, "config/rollout.yml: error: is not read, because its name ends in .yml; rename it to config/rollout.yaml") {
		t.Errorf("waves in .yml: exit code %d, %s", code, stderr)
	}
}

// TestFleetMetrics: fleet status prints the same states as metrics.
func TestFleetMetrics(t *testing.T) {
	t.Parallel()
	stdout, stderr, code := runFleet(t, fleetRoot(t, small()), "fleet status -o prometheus")
	for _, want := range []string{`mara_environment_state{environment="eu-1",state="never rolled out"} 1`, `mara_environment_info{environment="test",provider="kind",wave="test",protected="false"} 1`} {
		if code != 0 || !strings.Contains(stdout, want) {
			t.Errorf("exit code %d, no %s in\n%s%s", code, want, stdout, stderr)
		}
	}
}
