package stacks

import (
	"context"
	"errors"
	"io"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/pulumi/pulumi/sdk/v3/go/auto"
)

// frugal answers the Automation API's bookkeeping commands without running
// Pulumi. Around each operation the API selects the stack and asks for outputs,
// secret outputs and history: five commands besides the one that does the work.
// None of them has to run: the runner has listed the stacks, must not change
// which one the user has selected, and takes results from the event stream.
type frugal struct {
	auto.PulumiCommand
	events *arrival
}

// arrival is whether the events of an operation arrive.
type arrival struct {
	begun    chan struct{} // closed when the first has come
	patience time.Duration
	never    bool // the operation has succeeded without any
}

// patience is how long to wait for the first event of an operation that has
// succeeded. Pulumi ends after its events have arrived, so the wait is rarely
// used.
const patience = 10 * time.Second

// errSilent is the error of an operation whose events have not arrived: what it
// has done is not known.
var errSilent = errors.New("pulumi exited successfully but sent no events; its result is unknown")

// Run implements auto.PulumiCommand.
func (f frugal) Run(ctx context.Context, dir string, stdin io.Reader, stdout, stderr []io.Writer,
	env []string, args ...string,
) (string, string, int, error) {
	switch strings.Join(args[:min(2, len(args))], " ") {
	case "stack select":
		return "", "", 0, nil
	case "stack output":
		return "{}", "", 0, nil
	case "stack history":
		return "[]", "", 0, nil
	}
	out, errs, code, err := f.PulumiCommand.Run(ctx, dir, stdin, stdout, stderr, env, reachable(args)...)
	if err == nil && slices.Contains(args, "--event-log") {
		err = f.events.await(ctx)
	}
	return out, errs, code, err
}

// await fails if no event has come. The Automation API would wait for them for
// ever.
func (a *arrival) await(ctx context.Context) error {
	select {
	case <-a.begun:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	case <-time.After(a.patience):
	}
	a.never = true
	return errSilent
}

// reachable has Pulumi send its events to the address that the Automation API
// listens on. The API names it "localhost"; where no file of hosts knows that
// name, in a bare container, Pulumi would go on without sending any.
func reachable(args []string) []string {
	args = slices.Clone(args)
	for i, arg := range args {
		// The Automation API quotes a message as for a shell, and no shell takes the quotes off.
		if quoted, ok := strings.CutPrefix(arg, "--message="); ok {
			if text, err := strconv.Unquote(quoted); err == nil {
				args[i] = "--message=" + text
			}
		}
		if port, ok := strings.CutPrefix(arg, "tcp://localhost:"); ok && i > 0 && args[i-1] == "--event-log" {
			args[i] = "tcp://127.0.0.1:" + port
		}
	}
	return args
}
