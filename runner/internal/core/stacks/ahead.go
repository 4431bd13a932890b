package stacks

import (
	"context"
	"errors"
	"io"
	"maps"
	"slices"

	"github.com/pulumi/pulumi/sdk/v3/go/auto"
	"github.com/pulumi/pulumi/sdk/v3/go/auto/events"

	"mara/runner/internal/core/pulumicli"
)

// languagesVariable names the language hosts to which an engine attaches.
const languagesVariable = "PULUMI_DEBUG_LANGUAGES"

// AheadStarter is a command that can start the program of a project before its turn, as mara-engine can and an
// installed Pulumi cannot.
type AheadStarter interface {
	StartAhead(dir string, env, args []string) (*pulumicli.Ahead, error)
}

// Ahead is a program that waits for its turn.
type Ahead struct {
	*pulumicli.Ahead
	env map[string]string // of the command that the program was started for
}

// errNotAhead is the error of a program that only its own operation can start.
var errNotAhead = errors.New("it cannot be started ahead")

// StartAhead starts the program of an up or a preview that is to follow, and touches nothing else. The program is held
// at the first thing that it asks of the engine, until Operate takes it over.
func (e *Set) StartAhead(ctx context.Context, task Task) (*Ahead, error) {
	starter, ok := e.options.Command.(AheadStarter)
	if !ok {
		return nil, errNotAhead
	}
	project := task.Step.Project.Name
	if e.options.Service != nil && e.options.Sealed != nil {
		if sealed, err := e.options.Sealed(ctx); err != nil || len(sealed) > 0 {
			return nil, errors.Join(errNotAhead, err) // its stack has the key of its configuration
		}
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	captured := &capture{Command: e.options.Command}
	at, env, err := e.workspaceOf(ctx, project, captured, nil, nil)
	if err != nil {
		return nil, err
	}
	// The command ends before it has sent an event.
	if err := perform(ctx, task, at, nil, make(chan events.EngineEvent)); captured.args == nil {
		return nil, errors.Join(errNotAhead, err)
	}
	started, err := starter.StartAhead(captured.dir, captured.env, captured.args)
	if err != nil {
		return nil, err
	}
	return &Ahead{started, env}, nil
}

// attach has a command with an environment take over the program, if that still waits and was started for the same.
func (a *Ahead) attach(env map[string]string) {
	if a == nil || !maps.Equal(a.env, env) {
		return
	}
	entry, ok := a.Attach()
	if !ok {
		return
	}
	if others := env[languagesVariable]; others != "" {
		entry += "," + others
	}
	env[languagesVariable] = entry
}

// capture is a command that only notes how it is called.
type capture struct {
	Command
	dir       string
	env, args []string
}

// errCaptured is the error of a command that was not to run.
var errCaptured = errors.New("the command was not to run")

// Run implements auto.PulumiCommand.
func (c *capture) Run(_ context.Context, dir string, _ io.Reader, _, _ []io.Writer, env []string, args ...string) (
	string, string, int, error) {
	c.dir, c.env, c.args = dir, slices.Clone(env), args
	return "", "", -1, errCaptured
}

var _ auto.PulumiCommand = (*capture)(nil)
