package stacks

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"sync"
	"testing"

	"github.com/blang/semver"
	"github.com/pulumi/pulumi/sdk/v3"
	"github.com/pulumi/pulumi/sdk/v3/go/common/apitype"
	pulumirpc "github.com/pulumi/pulumi/sdk/v3/proto/go"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"

	"mara/projects/model"
	"mara/projects/model/needs"
	"mara/runner/internal/core/event"
	"mara/runner/internal/core/plan"
	"mara/runner/internal/core/pulumicli"
)

// call is a command that the fake expects, and its answer.
type call struct {
	args           string // what the arguments begin with
	stdout, stderr string
	err            error // the command failed
	events         []apitype.EngineEvent
	check          func(dir string, env, args []string)
}

// fakePulumi answers commands in order. An unexpected one, and one that never
// comes, fail the test.
type fakePulumi struct {
	t *testing.T

	mu    sync.Mutex // guards calls
	calls []call
	input string // what the last command has read
}

func newFake(t *testing.T, calls ...call) *fakePulumi {
	t.Helper()
	f := &fakePulumi{t: t, calls: calls}
	t.Cleanup(func() {
		for _, c := range f.calls {
			t.Errorf("`pulumi %s` was expected and never ran", c.args)
		}
	})
	return f
}

// Version implements auto.PulumiCommand.
func (f *fakePulumi) Version() semver.Version { return sdk.Version }

// Run implements auto.PulumiCommand.
func (f *fakePulumi) Run(ctx context.Context, dir string, stdin io.Reader, _, _ []io.Writer,
	env []string, args ...string,
) (string, string, int, error) {
	line := strings.Join(args, " ")
	c, ok := f.next(line)
	if !ok {
		f.t.Errorf("unexpected command: pulumi %s", line)
		return "", "error: unexpected command\n", 255, &pulumicli.ExitError{Code: 255}
	}
	if c.check != nil {
		c.check(dir, env, args)
	}
	if stdin != nil {
		content, err := io.ReadAll(stdin)
		if err != nil {
			f.t.Error(err)
		}
		f.input = string(content)
	}
	if c.events != nil {
		f.stream(ctx, flag(args, "--event-log"), c.events)
	}
	if c.err != nil {
		return c.stdout, c.stderr, 255, c.err
	}
	return c.stdout, c.stderr, 0, nil
}

func (f *fakePulumi) next(line string) (call, bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if len(f.calls) == 0 || !strings.HasPrefix(line, f.calls[0].args) {
		return call{}, false
	}
	c := f.calls[0]
	f.calls = f.calls[1:]
	return c, true
}

// stream sends events the way Pulumi's engine does.
func (f *fakePulumi) stream(ctx context.Context, address string, events []apitype.EngineEvent) {
	connection, err := grpc.NewClient(strings.TrimPrefix(address, "tcp://"), grpc.WithTransportCredentials(insecure.NewCredentials()))
	if err != nil {
		f.t.Error(err)
		return
	}
	defer func() { _ = connection.Close() }()
	stream, err := pulumirpc.NewEventsClient(connection).StreamEvents(ctx)
	if err != nil {
		f.t.Error(err)
		return
	}
	for _, e := range events {
		content, err := json.Marshal(e)
		if err == nil {
			err = stream.Send(&pulumirpc.EventRequest{Event: string(content)})
		}
		if err != nil {
			f.t.Error(err)
		}
	}
	if _, err := stream.CloseAndRecv(); err != nil {
		f.t.Error(err)
	}
}

// flag returns the value of a flag among arguments.
func flag(args []string, name string) string {
	for i, arg := range args {
		if arg == name && i+1 < len(args) {
			return args[i+1]
		}
	}
	return ""
}

// failed returns the error of a command that failed.
func failed() error { return &pulumicli.ExitError{Code: 255} }

// step returns a step of a plan.
func step(name string, reads ...string) plan.Step {
	return plan.Step{Project: model.Project{Name: name, Title: strings.ToUpper(name)}, Needs: needs.Needs{Reads: reads}}
}

// listing returns the output of `pulumi stack ls --all --json` for stacks with
// resources.
func listing(stacks ...string) string {
	var entries []string
	for _, name := range stacks {
		entries = append(entries, fmt.Sprintf(`{"name":%q,"current":false,"updateInProgress":false,"resourceCount":3,"lastUpdate":"2026-11-20T10:00:00.000Z"}`, name))
	}
	return "[" + strings.Join(entries, ",") + "]"
}

// open opens the environment dev with these stacks, all with resources. The
// calls are what comes after the listing.
func open(t *testing.T, stacks []string, calls ...call) *Set {
	t.Helper()
	var names []string
	for _, project := range stacks {
		names = append(names, "organization/"+project+"/dev")
	}
	first := call{args: "stack ls --all --json", stdout: listing(names...)}
	return openWith(t, newFake(t, append([]call{first}, calls...)...), nil)
}

func openWith(t *testing.T, command Command, change func(*Options)) *Set {
	t.Helper()
	options := Options{
		Command: command, Stack: "dev", Organization: "organization", WorkDir: t.TempDir(),
		StackFile: []byte("config: {}\n"), SecretsFile: []byte("config: {}\n"),
		Env:    map[string]string{"NAME": "value"},
		Masker: event.NewMasker(),
	}
	if change != nil {
		change(&options)
	}
	e, err := Open(t.Context(), options)
	if err != nil {
		t.Fatal(err)
	}
	return e
}

// record keeps events as lines that are easy to compare.
type record struct {
	mu    sync.Mutex // guards lines
	lines []string
}

func (r *record) emit(e event.Event) {
	r.mu.Lock()
	defer r.mu.Unlock()
	words := []string{string(e.Type), e.Resource.String(), string(e.Action), string(e.Status), string(e.Severity), e.Message}
	r.lines = append(r.lines, strings.Join(strings.Fields(strings.Join(words, " ")), " "))
}

// Run interrupts itself, and fails the way Pulumi does then.
func (c cutOff) Run(context.Context, string, io.Reader, []io.Writer, []io.Writer, []string, ...string) (string, string, int, error) {
	c.interrupt()
	return "", "error: update canceled\n", 255, failed()
}
