package stacks

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"regexp"

	"github.com/pulumi/pulumi/sdk/v3/go/auto"
	"github.com/pulumi/pulumi/sdk/v3/go/common/tokens"
	"github.com/pulumi/pulumi/sdk/v3/go/common/workspace"
	"gopkg.in/yaml.v3"

	"mara/config/lists"
	"mara/projects/model"
	"mara/runner/internal/core/pulumicli/wire"
)

// copies are the working copies of the projects of an environment, in which
// Pulumi's commands run. What they know is in the options.
type copies struct {
	options Options
	read    *readings // of a Service
}

func newCopies(o Options) copies { return copies{options: o, read: &readings{}} }

// Directory is a project that has a directory of its own, with a Pulumi.yaml.
type Directory struct {
	Path      string            // absolute
	Root      string            // of the repository; messages name files from there
	StackFile []byte            // content of the copy of its stack file
	Env       map[string]string // of its commands alone, for example its own passphrase
}

// place is where Pulumi works on a project's stack.
type place struct {
	auto.Stack
	stackFile string // the copy
}

// placeOf prepares the working copy of a project, and its stack, which it
// creates if there is none. A project with a directory of its own runs there, so
// that all that its program and its Pulumi.yaml refer to is where they say; of
// the working copy it takes the stack file. Operations on the stack run with command.
func (e *Set) placeOf(ctx context.Context, project string, command Command, events *arrival, ahead *Ahead) (place, error) {
	dir, err := e.workingCopy(project)
	if err == nil && !e.Summary(project).Exists {
		err = e.create(ctx, project)
	}
	if err != nil {
		return place{}, err
	}
	if err := (AtService{e}).sealCopy(ctx, project, filepath.Join(dir, e.stackFileName(project))); err != nil {
		return place{}, err
	}
	p, _, err := e.workspaceOf(ctx, project, command, events, ahead)
	return p, err
}

// workspaceOf returns the place of a stack that may not exist yet, and the environment of its commands.
func (e *Set) workspaceOf(ctx context.Context, project string, command Command, events *arrival, ahead *Ahead) (
	p place, given map[string]string, err error) {
	dir, err := e.workingCopy(project)
	if err != nil {
		return p, nil, err
	}
	p.stackFile = filepath.Join(dir, e.stackFileName(project))
	env := e.environOf(project)
	if file := e.begunFile(project); file != "" {
		env[wire.UpdateVariable] = file
	}
	env[wire.QuestionsVariable] = filepath.Join(dir, questionsFile)
	if directory, ok := e.options.Directories[project]; ok {
		dir, env[wire.RootVariable] = directory.Path, directory.Root
	}
	given = maps.Clone(env)
	ahead.attach(env)
	ws, err := auto.NewLocalWorkspace(ctx, auto.Pulumi(frugal{command, events}), auto.WorkDir(dir), auto.EnvVars(env))
	if err == nil {
		p.Stack, err = auto.SelectStack(ctx, e.qualified(project), ws)
	}
	if err != nil {
		return place{}, nil, fmt.Errorf("preparing the working copy: %w", err)
	}
	return p, given, nil
}

// stackExists is what Pulumi says of a stack that is there.
var stackExists = regexp.MustCompile(`stack '\S+' already exists`)

// create creates the stack of a project, and does not select it. A worker of a run
// that was killed may have created it since the stacks were listed.
func (e *Set) create(ctx context.Context, project string) error {
	args := []string{"stack", "init", "--no-select"}
	if provider := e.secretsProvider(project); provider != "" {
		args = append(args, "--secrets-provider", provider)
	}
	if _, err := e.runOn(ctx, project, args...); err != nil && !stackExists.MatchString(err.Error()) {
		return err
	}
	e.remember(project, func(s *Summary) { s.Exists = true })
	return nil
}

// workingCopy writes a directory in which Pulumi finds the project's name and a copy
// of its stack file. For the built-in projects it is all that they need.
func (c copies) workingCopy(project string) (string, error) {
	dir := filepath.Join(c.options.WorkDir, project)
	if _, err := os.Stat(filepath.Join(dir, "Pulumi.yaml")); !errors.Is(err, fs.ErrNotExist) {
		return dir, err
	}
	settings, err := json.Marshal(workspace.Project{
		Name:    tokens.PackageName(project),
		Runtime: workspace.NewProjectRuntimeInfo(model.Runtime, nil),
		Plugins: c.plugins(),
	})
	if err != nil {
		return "", err
	}
	if err = os.MkdirAll(dir, 0o700); err == nil {
		err = os.WriteFile(filepath.Join(dir, c.stackFileName(project)), c.stackFile(project), 0o600)
	}
	if err == nil { // Pulumi.yaml comes last: where it is, the working copy is complete. JSON is YAML.
		err = os.WriteFile(filepath.Join(dir, "Pulumi.yaml"), settings, 0o600)
	}
	if err != nil {
		return "", fmt.Errorf("preparing the working copy: %w", err)
	}
	return dir, nil
}

// plugins says where the resource providers are that Pulumi cannot download.
func (c copies) plugins() *workspace.Plugins {
	if len(c.options.Plugins) == 0 {
		return nil
	}
	return &workspace.Plugins{
		Providers: lists.Map(lists.Keys(c.options.Plugins), func(name string) workspace.PluginOptions {
			return workspace.PluginOptions{Name: name, Path: c.options.Plugins[name]}
		}),
	}
}

func (c copies) stackFileName(project string) string { return "Pulumi." + c.stackOf(project) + ".yaml" }

func (c copies) stackFile(project string) []byte {
	if directory, ok := c.options.Directories[project]; ok {
		return directory.StackFile
	}
	if project == model.SecretsProject {
		return c.options.SecretsFile
	}
	return c.options.StackFile
}

// secretsProvider returns the key provider that the stack file names, "" for the
// default.
func (c copies) secretsProvider(project string) string {
	var file struct {
		SecretsProvider string `yaml:"secretsprovider"`
	}
	_ = yaml.Unmarshal(c.stackFile(project), &file) // it was checked when it was read
	return file.SecretsProvider
}

// Install installs what a project's program depends on, in its directory.
func Install(ctx context.Context, command Command, dir string, env map[string]string, flags ...string) error {
	args := append([]string{"install", "--non-interactive"}, flags...)
	_, err := newCopies(Options{Command: command, Env: env}).run(ctx, dir, args...)
	if err != nil && ctx.Err() == nil {
		err = fmt.Errorf("`pulumi install` in %s: %w", dir, err)
	}
	return err
}
