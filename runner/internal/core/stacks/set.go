// Package stacks does one Pulumi operation on one stack, and answers questions
// about an environment's stacks. It is the only importer of the Automation API
// and the only place that reads the text of Pulumi's errors.
//
// Every operation works on a working copy, a directory of the run with a Pulumi.yaml
// and a copy of the stack file. So the runner never changes which stack the user
// has selected, and Pulumi never rewrites the user's files. Every project is a
// directory whose Pulumi.yaml names a runtime; its program is run by a language host.
package stacks

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"regexp"
	"strings"
	"sync"
	"time"

	"github.com/pulumi/pulumi/sdk/v3/go/auto"

	"mara/config"
	"mara/projects/model"
	"mara/runner/internal/core/event"
	"mara/runner/internal/core/pulumicli/wire"
	"mara/runner/internal/core/statefiles"
	"mara/runner/internal/core/updateplan"
	"mara/runner/internal/machine/process"
)

// Command runs Pulumi's commands.
type Command = auto.PulumiCommand

// Options is what Open needs to know about an environment.
type Options struct {
	Command      Command
	Stack        string            // the name of the environment, and of its stacks
	Names        model.StackNames  // of projects whose stacks are not named as the environment
	Projects     []string          // of the environment; nil for all with a stack of its name
	Organization string            // "organization" on self-managed backends
	WorkDir      string            // directory for working copies, private to the run
	StackFile    []byte            // content of the shared stack file
	SecretsFile  []byte            // content of the secrets project's stack file
	Env          map[string]string // environment of Pulumi, its plugins and language hosts
	// Directories has the projects with a directory of their own; the others are built in.
	Directories map[string]Directory
	Plugins     map[string]string    // resource provider -> directory with its program
	Masker      *event.Masker        // learns the secret values that come by
	States      statefiles.Directory // of a file backend, where states are read without a command
	Service     Service              // Pulumi Cloud; nil for other backends
	UpdatesDir  string               // where workers write down the updates that they begin at a service
	// Sealed returns what the shared files hold, encrypted with the key of another stack at the service.
	Sealed func(context.Context) (Sealed, error)
	Empty  bool // the backend has no stacks yet; it is not asked
	// Elsewhere are the backends of projects whose states are not in that of Env.
	Elsewhere config.Elsewhere
	// Direct are projects whose states are read from files. Asking the backend would
	// read the states of all environments, and fails while another process writes one
	// of them. Nil asks the backend.
	Direct []string
	// Standings are how the stacks stand that there are, by project; the backend is
	// not asked then, and their states are not read again.
	Standings map[string]Standing
}

// Set is all stacks that share a stack name, on one backend.
type Set struct {
	copies

	mu        sync.Mutex // guards what follows
	summaries map[string]Summary
	unreached *UnreachedError           // nil if all backends have answered
	seen      map[string]seen           // by project, from the last preview
	outputs   map[string]map[string]any // by project, from the last up of this run
	previews  map[string]updateplan.Project

	patience time.Duration // with the events of an operation that has ended; only tests change it
}

// Summary is what the backend's list says about a project's stack.
type Summary struct {
	Exists    bool
	Resources int
	Updating  bool // an update is running or was cut off; self-managed backends never say so
}

// Open asks the backend once which of the environment's stacks exist.
func Open(ctx context.Context, options Options) (*Set, error) {
	e := &Set{copies: newCopies(options), summaries: map[string]Summary{}, seen: map[string]seen{},
		outputs: map[string]map[string]any{}, previews: map[string]updateplan.Project{}, patience: patience}
	if options.Standings != nil {
		e.summaries = summariesOf(options.Standings)
		return e, nil
	}
	if options.Empty {
		return e, nil
	}
	return e, e.List(ctx)
}

// List asks the backend again which of the environment's stacks exist.
func (e *Set) List(ctx context.Context) error {
	summaries, err := e.look(ctx)
	unreached, partly := errors.AsType[*UnreachedError](err)
	if err != nil && !partly {
		return err
	}
	if summaries == nil {
		summaries = map[string]Summary{}
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	e.summaries, e.unreached = summaries, unreached
	return nil
}

// look finds the environment's stacks.
func (e *Set) look(ctx context.Context) (map[string]Summary, error) {
	if e.options.Direct != nil {
		standings, err := e.options.StandingsIn(e.options.Direct)
		return summariesOf(standings), err
	}
	all, err := e.list(ctx)
	if err == nil && e.options.Service != nil {
		err = e.countAtService(ctx, all[e.options.Stack])
	}
	return all[e.options.Stack], err
}

// ListAll asks the backend which stacks exist. It returns them by environment and
// then by project. Options need no stack. Of several backends some may not answer: the error
// is an *UnreachedError then, and the stacks in the others are returned.
func ListAll(ctx context.Context, options Options) (map[string]map[string]Summary, error) {
	if options.Empty {
		return nil, nil
	}
	return newCopies(options).list(ctx)
}

// Incomplete returns an error where some of several backends have not answered.
func (e *Set) Incomplete() error {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.unreached == nil {
		return nil
	}
	return e.unreached
}

// Reach returns why nothing is known of a project's stack, where its backend has not answered.
func (e *Set) Reach(project string) error { return e.ReachBackend(e.options.Elsewhere[project]) }

// ReachBackend returns why nothing is known of the stacks in a backend, where it has not answered; one that is not set is
// that of most projects.
func (e *Set) ReachBackend(backend config.Value) error {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.unreached == nil {
		return nil
	}
	return e.unreached.Of[backend.Text]
}

// vanished is what Pulumi says of a state that is being written, or removed, while
// it lists them.
var vanished = regexp.MustCompile(`code=NotFound|no such file or directory|unexpected end of JSON input`)

// listTries is how often the stacks are listed while others write states.
const listTries = 5

// listIn asks a backend for the stacks of the organization, by environment and
// then by project.
func (c copies) listIn(ctx context.Context, env map[string]string) (map[string]map[string]Summary, error) {
	output, err := "", error(nil)
	for range listTries {
		output, err = c.execute(ctx, c.options.WorkDir, nil, env, "stack", "ls", "--all", "--json")
		if err == nil || !vanished.MatchString(err.Error()) {
			break
		}
	}
	if err != nil {
		return nil, withAdvice(fmt.Errorf("listing the stacks: %w", err), "")
	}
	var listed []struct {
		Name             string `json:"name"`
		UpdateInProgress bool   `json:"updateInProgress"`
		ResourceCount    int    `json:"resourceCount"`
	}
	if err := json.Unmarshal([]byte(output), &listed); err != nil {
		return nil, fmt.Errorf("listing the stacks: pulumi answered with something else than JSON: %w", err)
	}
	all := map[string]map[string]Summary{}
	for _, entry := range listed {
		project, environment, ok := c.split(entry.Name)
		if !ok {
			continue
		}
		if all[environment] == nil {
			all[environment] = map[string]Summary{}
		}
		summary := Summary{Exists: true, Updating: entry.UpdateInProgress, Resources: entry.ResourceCount}
		all[environment][project] = summary
	}
	return all, nil
}

// Organization asks for the organization of a Pulumi Cloud user: the default set
// with `pulumi org set-default`, else the user's own. A server that does not answer has said neither: the stacks of
// another organization would look as if nothing was deployed.
func Organization(ctx context.Context, command Command, dir string, env map[string]string) (string, error) {
	c := newCopies(Options{Command: command, Env: env})
	organization, err := c.run(ctx, dir, "org", "get-default")
	if organization = strings.TrimSpace(organization); err == nil && organization != "" && !strings.Contains(organization, " ") {
		return organization, nil
	}
	if err != nil && !hasNoDefault.MatchString(err.Error()) {
		return "", withAdvice(fmt.Errorf("asking the backend for the default organization: %w", err), "")
	}
	user, err := c.run(ctx, dir, "whoami")
	if err != nil {
		return "", withAdvice(fmt.Errorf("asking the backend who is logged in: %w", err), "")
	}
	return strings.TrimSpace(user), nil
}

// hasNoDefault is what an older Pulumi, and one at an older backend, says in place of a default organization.
var hasNoDefault = regexp.MustCompile(`unknown command|unsupported|does not support organizations`)

// ProjectOf returns the project of the environment whose stack has that full name:
// organization/project/stack.
func (c copies) ProjectOf(qualified string) (project string, ours bool) {
	project, environment, ok := c.split(qualified)
	return project, ok && environment == c.options.Stack
}

// Organization returns the first part of the full names of the stacks.
func (c copies) Organization() string { return c.options.Organization }

// split splits the full name of a stack: organization/project/stack. The
// stack tells the environment.
func (c copies) split(qualified string) (project, environment string, ok bool) {
	parts := strings.Split(qualified, "/")
	if len(parts) != 3 || parts[0] != c.options.Organization {
		return "", "", false
	}
	environment, ok = c.options.Names.Environment(parts[1], parts[2])
	return parts[1], environment, ok
}

// stackOf returns the name of a project's stack.
func (c copies) stackOf(project string) string { return c.options.Names.Of(project, c.options.Stack) }

// Summary returns what the backend's list said about a project's stack, updated by
// the changes of this run.
func (e *Set) Summary(project string) Summary {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.summaries[project]
}

// IsDeployed reports whether a project has resources.
func (e *Set) IsDeployed(project string) bool { return e.Summary(project).Resources > 0 }

func (e *Set) remember(project string, change func(*Summary)) {
	e.mu.Lock()
	defer e.mu.Unlock()
	summary := e.summaries[project]
	change(&summary)
	e.summaries[project] = summary
}

// qualified returns the fully qualified name of a project's stack, as stack
// references use it.
func (c copies) qualified(project string) string {
	return auto.FullyQualifiedStackName(c.options.Organization, project, c.stackOf(project))
}

// run runs one Pulumi command outside the Automation API and returns what it
// wrote to stdout.
func (c copies) run(ctx context.Context, dir string, args ...string) (string, error) {
	return c.execute(ctx, dir, nil, c.options.Env, args...)
}

// execute runs one Pulumi command with an input and an environment of its own.
func (c copies) execute(ctx context.Context, dir string, stdin io.Reader, env map[string]string,
	args ...string) (string, error) {
	stdout, stderr, _, err := c.options.Command.Run(ctx, dir, stdin, nil, nil, process.Environ(env), args...)
	switch {
	case err == nil:
		return stdout, nil
	case ctx.Err() != nil:
		return "", context.Cause(ctx)
	}
	return "", c.explain(err, stderr)
}

// environOf returns the process environment of commands on a project, as a copy.
func (c copies) environOf(project string) map[string]string {
	env := c.environIn(c.options.Elsewhere[project])
	maps.Copy(env, c.options.Directories[project].Env)
	return env
}

// runOn runs one Pulumi command on a project's stack, in its working copy.
func (c copies) runOn(ctx context.Context, project string, args ...string) (string, error) {
	return c.executeOn(ctx, project, nil, nil, args...)
}

// executeOn works as runOn, with an input and additions to the environment.
func (c copies) executeOn(ctx context.Context, project string, stdin io.Reader, env map[string]string,
	args ...string) (string, error) {
	dir, err := c.workingCopy(project)
	if err != nil {
		return "", err
	}
	merged := c.environOf(project)
	maps.Copy(merged, env)
	if !wire.ReadsOnly(args) {
		defer c.read.forget(project)
	}
	return c.execute(ctx, dir, stdin, merged, append(args, "--stack", c.qualified(project))...)
}
