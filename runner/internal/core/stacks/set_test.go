package stacks

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"mara/projects/model/operation"
	"mara/runner/internal/core/event"
	"mara/runner/internal/core/statefiles"
)

func TestOpenKnowsTheStacksOfTheEnvironment(t *testing.T) {
	t.Parallel()
	output := `[
  {"name":"organization/vpc/dev","updateInProgress":true,"resourceCount":7,"lastUpdate":"2026-11-20T10:00:00.000Z","current":true},
  {"name":"organization/eks/dev"},
  {"name":"organization/ecr/prod","resourceCount":1},
  {"name":"elsewhere/ecr/dev","resourceCount":1},
  {"name":"organization/deep/ecr/dev","resourceCount":1},
  {"name":"dev","resourceCount":1}
]`
	e := openWith(t, newFake(t, call{args: "stack ls --all --json", stdout: output}), nil)
	want := map[string]Summary{
		"vpc": {Exists: true, Updating: true, Resources: 7},
		"eks": {Exists: true},
		"ecr": {},
	}
	for project, summary := range want {
		if diff := cmp.Diff(summary, e.Summary(project)); diff != "" {
			t.Errorf("%s: %s", project, diff)
		}
	}
}

func TestOpenAsksNobodyAboutAnEmptyBackend(t *testing.T) {
	t.Parallel()
	e := openWith(t, newFake(t), func(o *Options) { o.Empty = true })
	if e.Summary("vpc").Exists {
		t.Error("a stack exists where nothing is")
	}
}

// TestOpenLooksIntoFiles: the backend is not asked, since it could not answer while
// the state of another environment is being written.
func TestOpenLooksIntoFiles(t *testing.T) {
	t.Parallel()
	directory := t.TempDir()
	for name, content := range map[string]string{
		"vpc/dev.json":  `{"version": 3, "checkpoint": {"latest": {"resources": [{"type": "pulumi:pulumi:Stack"}, {"type": "a:b:C"}]}}}`,
		"vpc/prod.json": "", // which another process is writing
	} {
		path := filepath.Join(directory, ".pulumi/stacks", name)
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, []byte(content), 0o600)); err != nil {
			t.Fatal(err)
		}
	}
	e := openWith(t, newFake(t), func(o *Options) {
		o.Direct, o.States = []string{"vpc", "eks"}, statefiles.Directory{Path: directory, Stack: "dev"}
	})
	if got := e.Summary("vpc"); !got.Exists || got.Resources != 2 || e.Summary("eks").Exists {
		t.Errorf("vpc %+v, eks %+v", got, e.Summary("eks"))
	}
}

// TestOpenWhileOthersWrite: a state that vanishes between the list and the look is
// written anew, and there the next time.
func TestOpenWhileOthersWrite(t *testing.T) {
	t.Parallel()
	gone := call{args: "stack ls", stderr: "error: unable to load checkpoint: blob (key \".pulumi/stacks/vpc/prod.json\") (code=NotFound): open /state/prod.json: no such file or directory\n", err: failed()}
	e := openWith(t, newFake(t, gone, gone, call{args: "stack ls", stdout: listing("organization/vpc/dev")}), nil)
	if !e.Summary("vpc").Exists {
		t.Error("the stack is not there")
	}
	calls := slices.Repeat([]call{gone}, listTries)
	if _, err := Open(t.Context(), Options{Command: newFake(t, calls...), Stack: "dev", Organization: "organization", Masker: event.NewMasker()}); err == nil || !strings.Contains(err.Error(), "listing the stacks: unable to load checkpoint") {
		t.Errorf("a state that is always gone: %v", err)
	}
}

func TestOpenFails(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name string
		call call
		want string
	}{
		{"no JSON", call{stdout: "Welcome to Pulumi!"}, "listing the stacks: pulumi answered with something else than JSON"},
		{"nothing", call{}, "listing the stacks: pulumi answered with something else than JSON"},
		{"an error", call{stderr: "warning: x\nerror: could not open bucket\n", err: failed()}, "listing the stacks: could not open bucket"},
		{"several errors, numbered", call{stderr: "error: 2 errors occurred:\n    1) no such host\n    2) no analyzer plugin\n\n", err: failed()}, "listing the stacks: 2 errors occurred: no such host, no analyzer plugin"},
		{"several errors", call{stderr: "error: 2 errors occurred:\n\t* EOF\n\t* no such bucket\n\n", err: failed()}, "listing the stacks: 2 errors occurred: EOF, no such bucket"},
		{"a silent error", call{err: failed()}, "listing the stacks: pulumi ended with exit status 255 and no message"},
		{"no engine", call{err: errors.New("the engine is closed")}, "listing the stacks: the engine is closed"},
		{"a secret in the error", call{stderr: "error: token hunter2-hunter2 is bad", err: failed()}, "listing the stacks: token [secret] is bad"},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			test.call.args = "stack ls"
			_, err := Open(t.Context(), Options{
				Command: newFake(t, test.call), Stack: "dev", Organization: "organization", Masker: event.NewMasker("hunter2-hunter2"),
			})
			if err == nil || !strings.HasPrefix(err.Error(), test.want) {
				t.Errorf("got %v, want %s", err, test.want)
			}
		})
	}
}

// TestInterruptionsStayInterruptions: whatever Pulumi says when it is cut off,
// the user did it.
func TestInterruptionsStayInterruptions(t *testing.T) {
	t.Parallel()
	interrupted := errors.New("interrupted by the user")
	for name, do := range map[string]func(ctx context.Context, e *Set) error{
		"listing": func(ctx context.Context, e *Set) error {
			_, err := Open(ctx, e.options)
			return err
		},
		"outputs": func(ctx context.Context, e *Set) error {
			_, err := e.Outputs(ctx, "vpc", false)
			return err
		},
		"history": func(ctx context.Context, e *Set) error {
			_, _, err := e.LastUpdate(ctx, "vpc")
			return err
		},
		"creating a stack": func(ctx context.Context, e *Set) error {
			_, err := e.Operate(ctx, Task{Operation: operation.Up, Step: step("new")}, func(event.Event) {})
			return err
		},
		"operation": func(ctx context.Context, e *Set) error {
			_, err := e.Operate(ctx, Task{Operation: operation.Up, Step: step("vpc")}, func(event.Event) {})
			return err
		},
		"who is logged in": func(ctx context.Context, e *Set) error {
			_, err := Organization(ctx, e.options.Command, "", nil)
			return err
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			ctx, cancel := context.WithCancelCause(t.Context())
			e := open(t, []string{"vpc"})
			e.options.Command = cutOff{newFake(t), func() { cancel(interrupted) }}
			if err := do(ctx, e); !errors.Is(err, interrupted) {
				t.Errorf("got %v", err)
			}
		})
	}
}

// cutOff is a Pulumi that the user interrupts.
type cutOff struct {
	Command
	interrupt func()
}

func TestOrganization(t *testing.T) {
	t.Parallel()
	const ask, user = "org get-default", "whoami"
	for _, test := range []struct {
		name  string
		calls []call
		want  string
	}{
		{"chosen", []call{{args: ask, stdout: "acme\n"}}, "acme"},
		{"none chosen", []call{{args: ask, stdout: "\n"}, {args: user, stdout: "jane\n"}}, "jane"},
		{"said in words", []call{{args: ask, stdout: "No Default Organization set\n"}, {args: user, stdout: "jane\n"}}, "jane"},
		{"old backend", []call{{args: ask, stderr: "error: unsupported", err: failed()}, {args: user, stdout: "jane\n"}}, "jane"},
		{"not logged in", []call{{args: ask, stderr: "error: PULUMI_ACCESS_TOKEN must be set\n", err: failed()}},
			"error: asking the backend for the default organization: PULUMI_ACCESS_TOKEN must be set"},
		{"no answer", []call{{args: ask, stderr: "error: [503] Service Unavailable\n", err: failed()}}, // and not the organization jane
			"error: asking the backend for the default organization: [503] Service Unavailable"},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			got, err := Organization(t.Context(), newFake(t, test.calls...), t.TempDir(), map[string]string{"A": "b"})
			if err != nil {
				got = "error: " + err.Error()
			}
			if got != test.want {
				t.Errorf("got %q, want %q", got, test.want)
			}
		})
	}
}

func TestOutputs(t *testing.T) {
	t.Parallel()
	const start = "stack output --json"
	for _, test := range []struct {
		name    string
		secrets bool
		call    call
		want    map[string]any
		err     string
	}{
		{"hidden", false, call{args: start, stdout: `{"id":"x","key":"[secret]","n":2}`}, map[string]any{"id": "x", "key": "[secret]", "n": 2.0}, ""},
		{"shown", true, call{args: start + " --show-secrets", stdout: `{"key":"k"}`}, map[string]any{"key": "k"}, ""},
		{"no JSON", true, call{args: start, stdout: `key k`}, nil, "reading the outputs of vpc: pulumi answered with something else than JSON"},
		{"wrong passphrase", true, call{args: start, stderr: "error: failed to decrypt: incorrect passphrase, please set PULUMI_CONFIG_PASSPHRASE to the correct passphrase or set it\n", err: failed()}, nil,
			"reading the outputs of vpc: " + ErrPassphrase.Error()},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			test.call.check = func(dir string, env, args []string) {
				if !slices.Contains(env, "NAME=value") {
					t.Errorf("the environment is %v", env)
				}
				if _, err := os.Stat(filepath.Join(dir, "Pulumi.yaml")); err != nil {
					t.Error(err)
				}
				if slices.Contains(args, "--show-secrets") != test.secrets {
					t.Errorf("the arguments are %v", args)
				}
			}
			got, err := open(t, []string{"vpc"}, test.call).Outputs(t.Context(), "vpc", test.secrets)
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Error(diff)
			}
			if test.err != "" && (err == nil || err.Error() != test.err) || test.err == "" && err != nil {
				t.Errorf("got %v", err)
			}
		})
	}
	if got, err := open(t, nil).Outputs(t.Context(), "vpc", true); got != nil || err != nil {
		t.Errorf("of a stack that does not exist: %v, %v", got, err)
	}
}

func TestLastUpdate(t *testing.T) {
	t.Parallel()
	at := time.Date(2026, 11, 20, 10, 0, 0, 0, time.UTC)
	for _, test := range []struct {
		name, stdout string
		want         Update
		ok           bool
	}{
		{"update", `[{"kind":"update","result":"succeeded","startTime":"2026-11-20T10:00:00.000Z","endTime":"2026-11-20T10:01:00.000Z"}]`,
			Update{Operation: "up", Result: "succeeded", Start: at, End: at.Add(time.Minute)}, true},
		{"destroy", `[{"kind":"destroy","result":"failed","startTime":"2026-11-20T10:00:00.000Z","endTime":"2026-11-20T10:00:00.000Z"}]`,
			Update{Operation: "destroy", Result: "failed", Start: at, End: at}, true},
		{"going on", `[{"kind":"refresh","result":"in-progress","startTime":"2026-11-20T10:00:00.000Z"}]`,
			Update{Operation: "refresh", Result: "in-progress", Start: at}, true},
		{"none", `[]`, Update{}, false},
		{"null", `null`, Update{}, false},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			e := open(t, []string{"vpc"}, call{args: "stack history --json --page-size 1 --page 1 --stack organization/vpc/dev", stdout: test.stdout})
			got, ok, err := e.LastUpdate(t.Context(), "vpc")
			if diff := cmp.Diff(test.want, got); diff != "" || ok != test.ok || err != nil {
				t.Errorf("%v, %v: %s", ok, err, diff)
			}
		})
	}
	if _, ok, err := open(t, nil).LastUpdate(t.Context(), "vpc"); ok || err != nil {
		t.Errorf("of a stack that does not exist: %v, %v", ok, err)
	}
	e := open(t, []string{"vpc"}, call{args: "stack history", stdout: "garbage"})
	if _, _, err := e.LastUpdate(t.Context(), "vpc"); err == nil || !strings.Contains(err.Error(), "reading the history of vpc") {
		t.Errorf("garbage: %v", err)
	}
}
