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
	"slices"

	"github.com/pulumi/pulumi/sdk/v3/go/auto"
	"github.com/pulumi/pulumi/sdk/v3/go/common/tokens"
	"github.com/pulumi/pulumi/sdk/v3/go/common/workspace"
	"github.com/pulumi/pulumi/sdk/v3/go/pulumi"
	"gopkg.in/yaml.v3"

	"mara/projects"
)

// stackOf prepares the working copy of a project and returns its stack, which it
// creates if there is none.
func (e *Set) stackOf(ctx context.Context, project string) (auto.Stack, error) {
	program, ok := e.options.Programs(project)
	if !ok {
		return auto.Stack{}, fmt.Errorf("this runner has no program for the project %s", project)
	}
	dir, err := e.workingCopy(project)
	if err != nil {
		return auto.Stack{}, err
	}
	ws, err := auto.NewLocalWorkspace(ctx,
		auto.Pulumi(frugal{e.options.Command}),
		auto.WorkDir(dir),
		auto.Program(e.learnSecrets(project, program)),
		auto.EnvVars(e.options.Env),
		auto.SecretsProvider(e.secretsProvider(project)),
	)
	if err != nil {
		return auto.Stack{}, fmt.Errorf("preparing the working copy: %w", err)
	}
	name := e.qualified(project)
	if e.Summary(project).Exists {
		return auto.SelectStack(ctx, name, ws)
	}
	stack, err := auto.NewStack(ctx, name, ws)
	if err != nil && ctx.Err() != nil {
		return auto.Stack{}, context.Cause(ctx)
	}
	if err != nil {
		return auto.Stack{}, e.explain(err, "")
	}
	e.remember(project, func(s *Summary) { s.Exists = true })
	return stack, nil
}

// workingCopy writes a folder in which Pulumi finds the project's settings and
// a copy of its stack file.
func (e *Set) workingCopy(project string) (string, error) {
	dir := filepath.Join(e.options.WorkDir, project)
	if _, err := os.Stat(filepath.Join(dir, "Pulumi.yaml")); !errors.Is(err, fs.ErrNotExist) {
		return dir, err
	}
	settings, err := json.Marshal(workspace.Project{
		Name:    tokens.PackageName(project),
		Runtime: workspace.NewProjectRuntimeInfo("go", nil),
		Plugins: e.plugins(),
	})
	if err != nil {
		return "", err
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return "", fmt.Errorf("preparing the working copy: %w", err)
	}
	// Pulumi.yaml comes last: where it is, the working copy is complete.
	for _, file := range []struct {
		name    string
		content []byte
	}{
		{"Pulumi." + e.options.Stack + ".yaml", e.stackFile(project)},
		{"Pulumi.yaml", settings}, // JSON is YAML
	} {
		if err := os.WriteFile(filepath.Join(dir, file.name), file.content, 0o600); err != nil {
			return "", fmt.Errorf("preparing the working copy: %w", err)
		}
	}
	return dir, nil
}

// plugins says where the resource providers are that Pulumi cannot download.
func (e *Set) plugins() *workspace.Plugins {
	if len(e.options.Plugins) == 0 {
		return nil
	}
	var plugins workspace.Plugins
	for _, name := range slices.Sorted(maps.Keys(e.options.Plugins)) {
		plugins.Providers = append(plugins.Providers, workspace.PluginOptions{Name: name, Path: e.options.Plugins[name]})
	}
	return &plugins
}

func (e *Set) stackFile(project string) []byte {
	if project == projects.SecretsProject {
		return e.options.SecretsFile
	}
	return e.options.StackFile
}

// secretsProvider is the key provider the stack file names, "" for the default.
func (e *Set) secretsProvider(project string) string {
	var file struct {
		SecretsProvider string `yaml:"secretsprovider"`
	}
	_ = yaml.Unmarshal(e.stackFile(project), &file) // it was checked when it was read
	return file.SecretsProvider
}

// learnSecrets gives the secret configuration values to the masker as soon as
// they are decrypted, which is when the program starts.
func (e *Set) learnSecrets(project string, program pulumi.RunFunc) pulumi.RunFunc {
	keys := secureKeys(e.stackFile(project))
	return func(ctx *pulumi.Context) error {
		for _, key := range keys {
			if value, ok := ctx.GetConfig(key); ok {
				e.options.Masker.Add(value)
			}
		}
		return program(ctx)
	}
}

// secureKeys lists the top-level configuration keys with secret values.
func secureKeys(stackFile []byte) []string {
	var file struct {
		Config map[string]yaml.Node `yaml:"config"`
	}
	_ = yaml.Unmarshal(stackFile, &file) // it was checked when it was read
	var keys []string
	for key, node := range file.Config {
		var value struct {
			Secure string `yaml:"secure"`
		}
		if node.Kind == yaml.MappingNode && node.Decode(&value) == nil && value.Secure != "" {
			keys = append(keys, key)
		}
	}
	return keys
}
