package cli_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"mara/projects"
	"mara/runner/internal/cli/cmd"
	"mara/runner/internal/testing/cmdtest"
	"mara/runner/internal/testing/scripttest"
	"mara/runner/internal/wire"
)

// fakePulumi returns a program that prints how it was called, and a given answer.
func fakePulumi(t *testing.T, body string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "pulumi")
	scripttest.Write(t, path, body)
	return path
}

// pulumiRoot returns a root for the stack dev on kind.
func pulumiRoot(t *testing.T) string {
	t.Helper()
	return cmdtest.Root(t, map[string]string{"Pulumi.dev.yaml": "config:\n  kubernetes:infra_type: kind\n"})
}

func TestPulumiRunsInAWorkingCopy(t *testing.T) {
	t.Parallel()
	root := pulumiRoot(t)
	d, stdout, stderr := cmdtest.Deps(t)
	d.Stdin = strings.NewReader("input")
	d.Environ = []string{"PATH=" + os.Getenv("PATH")}
	fake := fakePulumi(t, `echo "$@"; cat Pulumi.yaml; echo "$PULUMI_STACK $PULUMI_BACKEND_URL"; cat; echo oops >&2; exit 42`)
	code := wire.Run(context.Background(), d, []string{"pulumi", "--root", root, "-s", "dev", "--pulumi", fake, "secrets", "--", "config", "-s", "other"})
	if code != 42 || stderr.String() != "oops\n" {
		t.Errorf("exit code %d, stderr %q", code, stderr)
	}
	lines := strings.Split(stdout.String(), "\n")
	if lines[0] != "config -s other" || !strings.HasSuffix(stdout.String(), "\ndev file://"+filepath.ToSlash(root)+"/.runner/state\ninput") {
		t.Errorf("stdout:\n%s", stdout)
	}
	if !strings.Contains(stdout.String(), "name: secrets\n") || !strings.Contains(stdout.String(), filepath.Join("config", "pulumi", "secrets")) {
		t.Errorf("the working copy does not lead to the stack file:\n%s", stdout)
	}
}

func TestPulumiRunsInTheProjectsDir(t *testing.T) {
	t.Parallel()
	root := pulumiRoot(t)
	directory := filepath.Join(root, "projects/kubernetes/certmgr")
	if err := os.MkdirAll(directory, 0o755); err != nil {
		t.Fatal(err)
	}
	manifest, err := os.ReadFile(filepath.Join("..", "..", "..", "projects", projects.CertManager().Path, "Pulumi.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(directory, "Pulumi.yaml"), manifest, 0o600); err != nil {
		t.Fatal(err)
	}
	d, stdout, stderr := cmdtest.Deps(t)
	d.Environ = []string{"PATH=" + os.Getenv("PATH")}
	if code := wire.Run(context.Background(), d, []string{"pulumi", "--root", root, "-s", "dev", "--pulumi", fakePulumi(t, "pwd -P"), "certmgr", "stack"}); code != cmd.ExitDone {
		t.Fatalf("exit code %d: %s", code, stderr)
	}
	want, err := filepath.EvalSymlinks(directory)
	if err != nil {
		t.Fatal(err)
	}
	if got := strings.TrimSpace(stdout.String()); got != want {
		t.Errorf("ran in %s, want %s", got, want)
	}
}

// TestPulumiServesTheProgram checks that commands learn where programs are
// served, besides what the user's own language hosts are.
func TestPulumiServesTheProgram(t *testing.T) {
	t.Parallel()
	for _, test := range []struct{ env, want string }{
		{"", "mara:4242\n"},
		{"yaml:1,go:2", "mara:4242,yaml:1,go:2\n"},
	} {
		d, stdout, stderr := cmdtest.Deps(t)
		d.Environ = []string{"PATH=" + os.Getenv("PATH"), "PULUMI_DEBUG_LANGUAGES=" + test.env}
		args := []string{"pulumi", "--root", pulumiRoot(t), "-s", "dev", "--pulumi", fakePulumi(t, `echo "$PULUMI_DEBUG_LANGUAGES"`), "certmgr", "--", "up", "--yes"}
		if code := wire.Run(context.Background(), d, args); code != cmd.ExitDone || stdout.String() != test.want {
			t.Errorf("exit code %d, got %q, want %q: %s", code, stdout, test.want, stderr)
		}
	}
}

// TestPulumiIsInTheHistory: whoever changed a state by a command of Pulumi's is in the history, with the reason and
// without the arguments. Commands that only look are not.
func TestPulumiIsInTheHistory(t *testing.T) {
	t.Parallel()
	root := pulumiRoot(t)
	run := func(want int, args ...string) (stdout, stderr string) {
		t.Helper()
		d, out, errs := cmdtest.Deps(t)
		d.Environ = []string{"PATH=" + os.Getenv("PATH")}
		if code := wire.Run(context.Background(), d, append([]string{"--root", root, "-s", "dev"}, args...)); code != want {
			t.Fatalf("%v: exit code %d, want %d: %s", args, code, want, errs)
		}
		return out.String(), errs.String()
	}
	pulumi := func(want int, args string) (stdout, stderr string) {
		fake := fakePulumi(t, fmt.Sprintf(`echo "$@"; exit %d`, want))
		return run(want, append([]string{"pulumi", "--pulumi", fake, "certmgr", "--"}, strings.Fields(args)...)...)
	}
	pulumi(0, "stack output")
	pulumi(0, "preview")
	pulumi(0, "up --help")
	pulumi(0, "up --yes --message=because")
	pulumi(42, "state delete urn:planted-argument -y")
	if stdout, stderr := pulumi(0, "import a:b:C d e --yes"); stdout != "import --generate-code=false a:b:C d e --yes\n" || !strings.Contains(stderr, "write what was imported into the program") {
		t.Errorf("an import into a project whose language has no generator: %s%s", stdout, stderr)
	}
	if stdout, _ := pulumi(0, "import a:b:C d e --generate-code=true"); stdout != "import a:b:C d e --generate-code=true\n" {
		t.Errorf("an import with its own flag: %s", stdout)
	}
	type past struct{ Operation, Result, Message string }
	var found []past
	history, _ := run(0, "history", "-o", "json")
	if err := json.Unmarshal([]byte(history), &found); err != nil {
		t.Fatal(err)
	}
	want := []past{
		{"pulumi import", "succeeded", ""}, {"pulumi import", "succeeded", ""}, {"pulumi state delete", "failed", ""}, {"pulumi up", "succeeded", "because"},
	}
	inAnyOrder := cmpopts.SortSlices(func(a, b past) bool { return a.Operation < b.Operation }) // the clock stands still
	if diff := cmp.Diff(want, found, inAnyOrder); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if err := filepath.WalkDir(filepath.Join(root, ".runner"), func(path string, entry fs.DirEntry, err error) error {
		if content, _ := os.ReadFile(path); strings.Contains(string(content), "planted-argument") {
			t.Errorf("%s has the arguments", path)
		}
		return err
	}); err != nil {
		t.Fatal(err)
	}
}

// TestPulumiWithoutTheHost says what is missing.
func TestPulumiWithoutTheHost(t *testing.T) {
	t.Parallel()
	d, _, stderr := cmdtest.Deps(t)
	d.PluginDirs = nil
	args := []string{"pulumi", "--root", pulumiRoot(t), "-s", "dev", "--pulumi", fakePulumi(t, "exit 1"), "certmgr", "--", "up"}
	if code := wire.Run(context.Background(), d, args); code != cmd.ExitConfig || !strings.Contains(stderr.String(), "there is no pulumi-language-mara") {
		t.Errorf("exit code %d: %s", code, stderr)
	}
}

func TestPulumiRefuses(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name, args string
		code       int
		stderr     string
	}{
		{"nothing", "pulumi -s dev", cmd.ExitUsage, "error: name a project and a Pulumi command"},
		{"no command", "pulumi certmgr -s dev", cmd.ExitUsage, "error: name a project and a Pulumi command"},
		{"unknown project", "pulumi certmg -s dev -- stack", cmd.ExitUsage, `error: no project "certmg" in the plan of kind; did you mean "certmgr"?`},
		{"project of another provider", "pulumi aws-vpc -s dev -- stack", cmd.ExitUsage, `error: no project "aws-vpc" in the plan of kind`},
		{"flag without --", "pulumi certmgr -s dev stack output --json", cmd.ExitUsage, "error: unknown flag --json"},
		{"no such pulumi", "pulumi certmgr -s dev --pulumi /nowhere/pulumi -- stack", cmd.ExitConfig, "error: no pulumi at /nowhere/pulumi"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			d, _, stderr := cmdtest.Deps(t)
			d.Environ = []string{"RUNNER_PULUMI=" + fakePulumi(t, "exit 1")}
			code := wire.Run(context.Background(), d, append([]string{"--root", pulumiRoot(t)}, strings.Fields(tt.args)...))
			if code != tt.code || !strings.HasPrefix(stderr.String(), tt.stderr) {
				t.Errorf("exit code %d, want %d: %s", code, tt.code, stderr)
			}
		})
	}
}

// TestPulumiPassesAnInterruptOn cancels the runner alone: the command gets one
// SIGINT and ends by itself.
func TestPulumiPassesAnInterruptOn(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	d, _, _ := cmdtest.Deps(t)
	d.Environ = []string{"PATH=" + os.Getenv("PATH")}
	d.Stdout = writerFunc(func(p []byte) (int, error) { cancel(); return len(p), nil })
	fake := fakePulumi(t, "trap 'exit 7' INT\necho ready\nwhile :; do sleep 0.05; done\n")
	if code := wire.Run(ctx, d, []string{"pulumi", "--root", pulumiRoot(t), "-s", "dev", "--pulumi", fake, "certmgr", "--", "stack"}); code != 7 {
		t.Errorf("exit code %d, want that of the command", code)
	}
}

type writerFunc func([]byte) (int, error)

func (f writerFunc) Write(p []byte) (int, error) { return f(p) }
