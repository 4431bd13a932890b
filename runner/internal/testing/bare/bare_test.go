package bare

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/pulumi/pulumi/sdk/v3"

	"mara/projects/model/operation"
	"mara/runner/internal/cli"
	"mara/runner/internal/cli/cmd"
	"mara/runner/internal/core/event"
	"mara/runner/internal/core/guard"
	"mara/runner/internal/core/session"
	"mara/runner/internal/core/stacks"
	"mara/runner/internal/core/updateplan"
	"mara/runner/internal/core/vault"
	"mara/runner/internal/testing/cmdtest"
)

// environment is a copy of examples/own.
type environment struct {
	t                *testing.T
	root, home, temp string
}

func newEnvironment(t *testing.T) environment {
	t.Helper()
	e := environment{t, t.TempDir(), t.TempDir(), t.TempDir()}
	if err := os.CopyFS(e.root, os.DirFS(filepath.Join("..", "..", "..", "..", "examples", "own"))); err != nil {
		t.Fatal(err)
	}
	return e
}

// program returns the path of a built program; make builds it.
func program(t *testing.T, name string) string {
	t.Helper()
	path, err := filepath.Abs(filepath.Join("..", "..", "..", "..", "bin", name))
	if err == nil {
		_, err = os.Stat(path)
	}
	if err != nil {
		t.Fatalf("bin/%s is not built: run `make build` first (%v)", name, err)
	}
	return path
}

// result is how a command line ended.
type result struct {
	code           int
	stdout, stderr string
}

// run runs a command line of the core in this process.
func (e environment) run(guards []guard.Maker, args ...string) result {
	e.t.Helper()
	var stdout, stderr bytes.Buffer
	code := cli.Run(e.t.Context(), cmd.Deps{
		Deps: session.Deps{
			Version:    "bare",
			Console:    vault.Console{Stdin: strings.NewReader(""), Stderr: &stderr, Dir: e.root, Now: time.Now},
			Engines:    []string{program(e.t, "mara-engine")},
			PluginDirs: []string{filepath.Dir(program(e.t, "pulumi-language-yaml")), cmdtest.ProgramHost(e.t)},
		},
		Stdout: &stdout, PulumiVersion: sdk.Version.String(), Guards: guards,
		Size: func() (width, height int) { return 0, 0 },
		Environ: []string{
			"HOME=" + e.home, "PATH=" + os.Getenv("PATH"), "TMPDIR=" + e.temp, "PULUMI_STACK=dev",
			"PULUMI_CONFIG_PASSPHRASE=correct horse",
		},
	}, nil, args)
	return result{code, stdout.String(), stderr.String()}
}

// TestWithoutBuiltIns: the core runs the projects of a user without any that are built in.
func TestWithoutBuiltIns(t *testing.T) {
	t.Parallel()
	e := newEnvironment(t)
	r := e.run(nil, "up", "--yes", "--generate-secrets")
	if r.code != 0 || !strings.Contains(r.stdout, "3 succeeded; 3 created") {
		t.Fatalf("up: exit code %d\n%s%s", r.code, r.stdout, r.stderr)
	}
	if r := e.run(nil, "outputs", "shop", "url"); r.code != 0 || !strings.Contains(r.stdout, "https://shop.example.com/") {
		t.Errorf("outputs: exit code %d\n%s%s", r.code, r.stdout, r.stderr)
	}
	if r := e.run(nil, "preview", "--simulate"); r.code != 2 || !strings.Contains(r.stderr, "this runner simulates no clouds") {
		t.Errorf("simulated: exit code %d\n%s%s", r.code, r.stdout, r.stderr)
	}
	r = e.run(nil, "destroy", "--yes")
	if r.code != 0 || !strings.Contains(r.stdout, "3 deleted") {
		t.Errorf("destroy: exit code %d\n%s%s", r.code, r.stdout, r.stderr)
	}
}

// refusing is a guard that refuses at one moment.
type refusing struct {
	guard.Silent
	guard.Nothing
	at string
}

func (g refusing) refuse(moment string) error {
	if g.at == moment {
		return errors.New("refused at " + moment)
	}
	return nil
}

func (g refusing) Judges() bool   { return true }
func (g refusing) Prepare() error { return g.refuse("prepare") }
func (g refusing) Open(context.Context, guard.Job) (guard.Watch, error) {
	return g, g.refuse("open")
}
func (g refusing) Look(context.Context, updateplan.Document, func(event.Event)) error {
	return g.refuse("look")
}
func (g refusing) Decide(func(event.Event)) error { return g.refuse("decide") }
func (g refusing) Settle(context.Context, bool) error {
	return g.refuse("settle")
}
func (g refusing) Before(_ context.Context, task stacks.Task, _ func(event.Event)) error {
	if task.Operation == operation.Preview {
		return nil
	}
	return g.refuse("before")
}

// TestRefused: an operation that a guard refuses changes nothing, at whatever moment; it leaves no lock, and a history
// that can be read.
func TestRefused(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		moment     string
		operations []string
	}{
		{"make", []string{"up", "preview"}},
		{"prepare", []string{"up", "preview"}},
		{"open", []string{"up", "preview"}},
		{"look", []string{"up", "preview"}},
		{"decide", []string{"up", "preview"}},
		{"settle", []string{"up"}},
		{"before", []string{"up"}},
	} {
		for _, operation := range test.operations {
			t.Run(test.moment+" of "+operation, func(t *testing.T) {
				t.Parallel()
				e := newEnvironment(t)
				g := refusing{at: test.moment}
				guards := []guard.Maker{func(guard.Request) (guard.Guard, error) { return g, g.refuse("make") }}
				args := []string{operation, "--yes", "--generate-secrets"}
				r := e.run(guards, args...)
				if r.code != 1 || !strings.Contains(r.stdout+r.stderr, "refused at "+test.moment) {
					t.Errorf("exit code %d\n%s%s", r.code, r.stdout, r.stderr)
				}
				for _, pattern := range []string{"state/.pulumi/stacks/*/*.json", "locks/*.lock"} {
					files, err := filepath.Glob(filepath.Join(e.root, ".runner", pattern))
					for _, file := range files {
						content, _ := os.ReadFile(file)
						if strings.HasSuffix(file, ".lock") || bytes.Contains(content, []byte("https://shop.example.com")) {
							t.Errorf("there is %s: %s", file, content)
						}
					}
					if err != nil {
						t.Error(err)
					}
				}
				if r := e.run(nil, "history"); r.code != 0 {
					t.Errorf("history: exit code %d\n%s%s", r.code, r.stdout, r.stderr)
				}
			})
		}
	}
}
