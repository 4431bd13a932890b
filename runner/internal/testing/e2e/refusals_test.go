package e2e

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"mara/providers"
	"mara/runner/internal/core/encryption"
	"mara/runner/internal/testing/scripttest"
)

// TestRefusals tries wrong inputs. Each gets one message, on stderr, and the
// documented exit code, before anything is written.
func TestRefusals(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("a", 200)
	for _, test := range []struct {
		name    string
		prepare func(t *testing.T, e *environment)
		args    string
		code    int
		want    []string // all in the message
	}{
		{"unknown provider", nil, "up -p mars --simulate", 2, []string{"mars", strings.Join(providers.Names(), ", ")}},
		{"provider nearly right", nil, "plan -p knd", 2, []string{`"kind"`}},
		{"no provider", nil, "up --simulate", 2, []string{"--provider", "kubernetes:infra_type"}},
		{"unknown flag", nil, "up --frobnicate", 2, []string{"--frobnicate"}},
		{"unknown command", nil, "upp", 2, []string{"upp", `"up"`}},
		{"unknown format", nil, "plan -p kind -o xml", 2, []string{"tree"}},
		{"superfluous argument", nil, "up now", 2, []string{"now"}},
		{"an organization without Pulumi Cloud", unnamed, "up -p kind -s a/b", 2, []string{"names the organization a", "only Pulumi Cloud"}},
		{"stack name of 200 characters", unnamed, "up -p kind --simulate -s " + long, 2, []string{"200", "100"}},
		{"another stack in the process than in the environment file", func(_ *testing.T, e *environment) {
			e.env = append(e.env, "PULUMI_STACK=prod")
		}, "destroy -p kind --yes --simulate", 3, []string{"PULUMI_STACK in the process environment", "prod", "config/pulumi/environment:1", "dev"}},
		{"no stack", unnamed, "up -p kind --simulate", 2, []string{"-s NAME"}},
		{"parallel 0", nil, "up -p kind --simulate --parallel 0", 2, []string{"--parallel"}},
		{"bad fault", nil, "up -p kind --simulate --simulate-fail =", 2, []string{"--simulate-fail"}},
		{"fault without simulation", nil, "up -p kind --simulate-fail x", 2, []string{"--simulate"}},
		{"destroy without a terminal", nil, "destroy -p kind --simulate", 2, []string{"--yes"}},
		{"up without secrets and a terminal", passphrase("x"), "up -p kind --yes", 3, []string{
			"config/pulumi/secrets/Pulumi.dev.yaml: prometheus:admin_password is missing", "bank-of-anthos:jwt_private_key is missing",
			"runner secrets set bank-of-anthos:ledger_db_password -s dev", "--secret bank-of-anthos:ledger_db_password=env:NAME", "--generate-secrets",
		}},
		{"no root", func(t *testing.T, e *environment) { e.root = t.TempDir() }, "up -p kind -s dev", 3, []string{"runner init"}},
		{"malformed environment file", func(_ *testing.T, e *environment) {
			e.write("config/pulumi/environment", "PULUMI_STACK=dev\nthis is no assignment\n")
		}, "up -p kind --simulate", 3, []string{"config/pulumi/environment", "2"}},
		{"unreadable environment file", func(t *testing.T, e *environment) {
			replaceByDir(t, filepath.Join(e.root, "config/pulumi/environment"))
		}, "up -p kind --simulate -s dev", 3, []string{"config/pulumi/environment"}},
		{"malformed stack file", func(_ *testing.T, e *environment) {
			e.write("config/pulumi/Pulumi.dev.yaml", "config:\n  a: [1\n")
		}, "up -p kind --simulate", 3, []string{"config/pulumi/Pulumi.dev.yaml"}},
		{"unknown key", func(_ *testing.T, e *environment) {
			e.write("config/pulumi/Pulumi.dev.yaml", "config:\n  certmgr:chart_versoin: v1\n")
		}, "up -p kind --simulate", 3, []string{"Pulumi.dev.yaml:2", "certmgr:chart_versoin", "certmgr:chart_version"}},
		{"missing pulumi", nil, "up -p kind --simulate --pulumi /nowhere/pulumi", 3, []string{"/nowhere/pulumi"}},
		{"old pulumi", func(t *testing.T, e *environment) {
			scripttest.Write(t, filepath.Join(e.root, "old"), "echo v3.100.0")
		}, "up -p kind --simulate --pulumi ./old", 3, []string{"3.100.0", "too old"}},
		{"no passphrase", nil, "up -p kind --yes", 3, []string{"PULUMI_CONFIG_PASSPHRASE"}},
		{"missing passphrase file", func(_ *testing.T, e *environment) {
			e.env = append(e.env, "PULUMI_CONFIG_PASSPHRASE_FILE=/nowhere/passphrase")
		}, "up -p kind --yes", 3, []string{"/nowhere/passphrase"}},
		{"wrong passphrase", func(t *testing.T, e *environment) {
			key, err := encryption.NewKey("right")
			if err != nil {
				t.Fatal(err)
			}
			e.write("config/pulumi/Pulumi.dev.yaml", "encryptionsalt: "+key.Salt()+"\n")
			passphrase("wrong")(t, e)
		}, "up -p kind --simulate", 3, []string{"passphrase", "Pulumi.dev.yaml"}},
		{"directory that cannot be written", func(_ *testing.T, e *environment) {
			e.write(".runner", "a file where a directory has to be")
		}, "up -p kind --simulate", 3, []string{".runner", "--root"}},
		{"outputs of an unknown project", nil, "outputs bank-of-athens -p kind --simulate", 2, []string{"bank-of-athens", `"bank-of-anthos"`}},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			e := newEnvironment(t, embedded)
			if test.prepare != nil {
				test.prepare(t, e)
			}
			r := e.run(strings.Fields(test.args)...)
			if r.code != test.code || r.stdout != "" {
				t.Errorf("exit code %d, want %d; stdout %q", r.code, test.code, r.stdout)
			}
			if n := strings.Count(r.stderr, "error: "); n != 1 {
				t.Errorf("%d errors, want one:\n%s", n, r.stderr)
			}
			for _, want := range test.want {
				if !strings.Contains(r.stderr, want) {
					t.Errorf("the message does not say %q:\n%s", want, r.stderr)
				}
			}
			for _, never := range []string{"goroutine ", "panic:", "exit status"} {
				if strings.Contains(r.stderr, never) {
					t.Errorf("the message has %q:\n%s", never, r.stderr)
				}
			}
			if _, err := os.Stat(filepath.Join(e.root, ".runner/simulated/state/.pulumi")); err == nil {
				t.Error("something was deployed")
			}
		})
	}
}

// unnamed leaves the stack without a name.
func unnamed(_ *testing.T, e *environment) { e.write("config/pulumi/environment", "# nothing\n") }

func passphrase(text string) func(*testing.T, *environment) {
	return func(_ *testing.T, e *environment) { e.env = append(e.env, "PULUMI_CONFIG_PASSPHRASE="+text) }
}

func replaceByDir(t *testing.T, path string) {
	t.Helper()
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(path, 0o755); err != nil {
		t.Fatal(err)
	}
}

// TestToleratedInputs checks inputs that look wrong and are not.
func TestToleratedInputs(t *testing.T) {
	t.Parallel()
	for _, test := range []struct{ name, environment, stack, args string }{
		{"capitals in the stack name", "", "", "-s DEV"},
		{"comment-only files", "# only\n", "# a comment\n", "-s dev"},
		{"empty files", "", "", "-s dev"},
		{"quotes, export, CRLF and no newline at the end", "export PULUMI_STACK=\"dev\"\r\nOTHER='100%'", "config:\n", ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			e := newEnvironment(t, embedded)
			e.write("config/pulumi/environment", test.environment)
			e.write("config/pulumi/Pulumi.dev.yaml", test.stack)
			e.simulate(0, "up", append([]string{"-p", "kind", "--only", few}, strings.Fields(test.args)...)...)
		})
	}
}
