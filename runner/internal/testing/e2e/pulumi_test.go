package e2e

import (
	"bytes"
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"mara/projects"
)

// TestPulumiOnSimulatedClouds runs Pulumi's own commands on one project of a
// simulated environment, also commands that execute its program.
func TestPulumiOnSimulatedClouds(t *testing.T) {
	t.Parallel()
	long(t)
	eachEngine(t, []string{embedded, stock}, func(t *testing.T, e *environment) {
		e.simulate(0, "up", "-p", "kind", "--only", few)
		for _, call := range []struct {
			args string
			want string // in stdout
		}{
			{"stack output cluster_issuer", "mara\n"},
			{"stack export", `"organization/kubeconfig/dev"`},
			{"config", "kubernetes:infra_type"},
			{"preview --diff --non-interactive", "5 unchanged"},
			{"up --yes --non-interactive", "5 unchanged"},
			{"refresh --yes --non-interactive --run-program", "5 unchanged"},
			{"destroy --yes --non-interactive", "5 deleted"},
			{"up --yes --non-interactive -m again", "5 created"},
		} {
			r := e.run(append([]string{"pulumi", "certmgr", "--simulate", "--simulate-speed", "100000", "--"}, strings.Fields(call.args)...)...)
			if r.code != 0 || !strings.Contains(r.stdout, call.want) {
				t.Errorf("pulumi %s: exit code %d, want %q in\n%s%s", call.args, r.code, call.want, r.stdout, r.stderr)
			}
		}
		var past []struct{ Operation, Result, Message string }
		if err := json.Unmarshal([]byte(e.run("history", "--simulate", "-o", "json", "--limit", "4").stdout), &past); err != nil {
			t.Fatal(err)
		}
		kept := []struct{ Operation, Result, Message string }{
			{"pulumi up", "succeeded", "again"}, {"pulumi destroy", "succeeded", ""}, {"pulumi refresh", "succeeded", ""}, {"pulumi up", "succeeded", ""},
		}
		if diff := cmp.Diff(kept, past); diff != "" {
			t.Errorf("history (-want +got):\n%s", diff)
		}
		if names := changed(e.simulate(0, "up", "--only", few)); len(names) > 0 {
			t.Errorf("up after Pulumi's own changed %v", names)
		}
		if _, err := os.Stat(filepath.Join(e.root, "config/pulumi/Pulumi.dev.yaml")); err == nil {
			t.Error("a simulation wrote a stack file into the user's configuration")
		}
	})
}

// TestPulumiPassesThrough holds stdin, stdout, stderr and the exit code, on the
// user's own state and stack file.
func TestPulumiPassesThrough(t *testing.T) {
	t.Parallel()
	eachEngine(t, []string{embedded}, func(t *testing.T, e *environment) {
		e.env = append(e.env, "PULUMI_CONFIG_PASSPHRASE=secret")
		e.write("config/pulumi/Pulumi.dev.yaml", "# mine\nconfig:\n  kubernetes:infra_type: kind\n")
		e.pulumi(0, "certmgr", "", "stack", "init", "dev")
		e.pulumi(0, "certmgr", "", "config", "set", "certmgr:replicas", "3")
		content, err := os.ReadFile(filepath.Join(e.root, "config/pulumi/Pulumi.dev.yaml"))
		if err != nil || !strings.Contains(string(content), `certmgr:replicas: "3"`) || !strings.HasPrefix(string(content), "# mine\n") {
			t.Errorf("config set did not change the stack file: %v\n%s", err, content)
		}
		e.pulumi(0, "certmgr", "hunter2", "config", "set", "--secret", "certmgr:test")
		if r := e.pulumi(0, "certmgr", "", "config", "get", "certmgr:test"); r.stdout != "hunter2\n" {
			t.Errorf("stdin did not arrive: %q", r.stdout)
		}
		if r := e.pulumi(1, "certmgr", "", "nonsense"); !strings.Contains(r.stderr, `unknown command "nonsense"`) {
			t.Errorf("stderr: %q", r.stderr)
		}
		if r := e.pulumi(2, "certmg", "", "stack"); !strings.Contains(r.stderr, `did you mean "certmgr"?`) {
			t.Errorf("an unknown project: %q", r.stderr)
		}
		e.env = append(e.env, "PULUMI_BACKEND_URL=postgres://runner:pgNEEDLE77pw@127.0.0.1:1/pulumi")
		r := e.finish(e.command("pulumi", "certmgr", "--", "stack", "ls"), "")
		if r.code == 0 || strings.Contains(r.stdout+r.stderr, "pgNEEDLE77pw") || !strings.Contains(r.stderr, "***") {
			t.Errorf("a backend with a password: exit code %d\n%s%s", r.code, r.stdout, r.stderr)
		}
		e.env = e.env[:len(e.env)-1]
		e.pulumi(0, "secrets", "", "stack", "init", "dev")
		if _, err := os.Stat(filepath.Join(e.root, "config/pulumi/secrets/Pulumi.dev.yaml")); err != nil {
			t.Errorf("the secrets project has its own stack file: %v", err)
		}
	})
}

// pulumi runs a Pulumi command through the runner.
func (e *environment) pulumi(want int, project, input string, args ...string) result {
	e.t.Helper()
	cmd := e.command(append([]string{"pulumi", project, "--"}, args...)...)
	r := e.finish(cmd, input)
	if r.code != want {
		e.t.Fatalf("pulumi %s: exit code %d, want %d\n%s%s", strings.Join(args, " "), r.code, want, r.stdout, r.stderr)
	}
	return r
}

// finish runs a command with an input.
func (e *environment) finish(cmd *exec.Cmd, input string) result {
	e.t.Helper()
	var stdout, stderr bytes.Buffer
	cmd.Stdin, cmd.Stdout, cmd.Stderr = strings.NewReader(input), &stdout, &stderr
	var exit *exec.ExitError
	if err := cmd.Run(); err != nil && !errors.As(err, &exit) {
		e.t.Fatal(err)
	}
	return result{code: cmd.ProcessState.ExitCode(), stdout: stdout.String(), stderr: stderr.String()}
}

// TestEnv evaluates what `runner env` prints, and runs plain pulumi in the
// directory of a project.
func TestEnv(t *testing.T) {
	t.Parallel()
	e := newEnvironment(t, embedded)
	e.env = append(e.env, "TERM=dumb")
	e.write("config/pulumi/environment", "PULUMI_STACK=dev\nPULUMI_CONFIG_PASSPHRASE_FILE="+filepath.Join(e.root, "it's secret")+"\nLINODE_TOKEN=hunter2\n")
	e.write("it's secret", "passphrase\n")
	e.write("config/pulumi/Pulumi.dev.yaml", "config:\n  kubernetes:infra_type: kind\n  certmgr:replicas: \"7\"\n")
	manifest, err := os.ReadFile(filepath.Join("..", "..", "..", "..", "projects", projects.CertManager().Path, "Pulumi.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	e.write("projects/kubernetes/certmgr/Pulumi.yaml", string(manifest))

	e.pulumi(0, "certmgr", "", "stack", "init", "dev") // in the project's directory
	printed := e.run("env")
	if printed.code != 0 || strings.Contains(printed.stdout, "hunter2") || !strings.Contains(printed.stdout, "LINODE_TOKEN") {
		t.Errorf("env: exit code %d, want the name LINODE_TOKEN without its value:\n%s%s", printed.code, printed.stdout, printed.stderr)
	}
	const script = `eval "$("$RUNNER" env)" && cd projects/kubernetes/certmgr && "$PULUMI" config get certmgr:replicas && "$PULUMI" stack export`
	cmd := exec.CommandContext(t.Context(), "sh", "-c", script)
	cmd.Dir = e.root
	cmd.Env = append(e.command().Env, "RUNNER="+program(t, "runner"), "PULUMI="+program(t, "pulumi"), "PULUMI_SKIP_UPDATE_CHECK=true")
	r := e.finish(cmd, "")
	number, state, _ := strings.Cut(r.stdout, "\n")
	var exported struct{ Version int }
	if err := json.Unmarshal([]byte(state), &exported); r.code != 0 || err != nil || exported.Version != 3 || number != "7" {
		t.Errorf("plain pulumi: exit code %d, %v\n%s%s", r.code, err, r.stdout, r.stderr)
	}
}
