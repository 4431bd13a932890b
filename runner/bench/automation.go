package main

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"time"

	"github.com/pulumi/pulumi/sdk/v3/go/auto"
	"github.com/pulumi/pulumi/sdk/v3/go/auto/optup"
	"github.com/pulumi/pulumi/sdk/v3/go/pulumi"

	"mara/config"
	"mara/projects"
	"mara/projects/model"
	"mara/projects/programs"
	"mara/runner/internal/core/encryption"
	"mara/runner/internal/core/plan"
	"mara/runner/internal/feature/simulate"
	"mara/runner/internal/feature/simulate/clouds"
	"mara/runner/internal/machine/layout"
)

// yardstick is the Automation API as its documentation shows it, with the stock
// CLI: one project after the other, UpsertStackInlineSource and then Up.
type yardstick struct {
	*environment
	copies encryption.Copies
	clouds *simulate.Clouds
	env    map[string]string
	dir    string
}

// newYardstick serves the clouds of an environment that the runner has made.
func newYardstick(ctx context.Context, e *environment) (*yardstick, error) {
	y := &yardstick{environment: e, dir: filepath.Join(e.root, "yardstick")}
	var err error
	if y.copies, err = e.copies(); err != nil {
		return nil, err
	}
	simulated := layout.Of(e.root, true)
	y.clouds, err = simulate.Start(ctx, clouds.Packages(), simulate.Options{Speed: 0, Dir: simulated.Clouds(stack)})
	if err != nil {
		return nil, err
	}
	y.env = map[string]string{
		"PULUMI_BACKEND_URL":            "file://" + string(simulated.State()),
		"PULUMI_HOME":                   simulated.PulumiHome(),
		"PULUMI_CONFIG_PASSPHRASE_FILE": e.passphraseFile(),
		"PULUMI_SKIP_UPDATE_CHECK":      "true",
	}
	maps.Copy(y.env, y.copies.Env)
	maps.Copy(y.env, y.clouds.Env())
	// The Automation API takes the pulumi that is on PATH.
	bin := filepath.Join(y.dir, "bin")
	if err := os.MkdirAll(bin, 0o700); err != nil {
		return nil, err
	}
	if err := os.Symlink(filepath.Join(e.bin, "pulumi"), filepath.Join(bin, "pulumi")); err != nil {
		return nil, err
	}
	return y, os.Setenv("PATH", bin+string(os.PathListSeparator)+os.Getenv("PATH"))
}

func (y *yardstick) close() { _ = y.clouds.Close() }

// copies returns the stack files as the runner passes them to Pulumi.
func (e *environment) copies() (encryption.Copies, error) {
	read := func(path string) config.StackFile {
		content, _ := os.ReadFile(path) // one that is missing is empty
		return config.StackFile{File: path, Content: content}
	}
	var keys []config.Key
	var secrets []model.Secret
	for _, step := range e.plan.Steps {
		keys, secrets = append(keys, step.Project.Keys...), append(secrets, step.Project.Secrets...)
	}
	directory := filepath.Join(e.root, "config", "pulumi")
	return encryption.Prepare(encryption.Options{
		Stack:    read(filepath.Join(directory, "Pulumi."+stack+".yaml")),
		Secrets:  read(filepath.Join(directory, "secrets", "Pulumi."+stack+".yaml")),
		Provider: e.provider,
		Env:      map[string]string{"PULUMI_CONFIG_PASSPHRASE_FILE": e.passphraseFile()},
		Simulate: &encryption.ThrowAway{
			Keys: keys, Secrets: secrets, File: layout.Of(e.root, true).Secrets(stack),
		},
	})
}

// once does all projects. Whatever changes something would compare nothing.
func (y *yardstick) once(ctx context.Context) (measured, error) {
	began := time.Now()
	for _, step := range y.plan.Steps {
		if err := y.up(ctx, step); err != nil {
			return measured{}, fmt.Errorf("up of %s: %w", step.Project.Name, err)
		}
	}
	return measured{wall: time.Since(began)}, nil
}

func (y *yardstick) up(ctx context.Context, step plan.Step) error {
	project := step.Project.Name
	program, ok := programs.ByName(project)
	if !ok {
		return errors.New("there is no program")
	}
	dir, err := y.workingCopy(project)
	if err != nil {
		return err
	}
	name := auto.FullyQualifiedStackName("organization", project, stack)
	s, err := auto.UpsertStackInlineSource(ctx, name, project, func(p *pulumi.Context) error {
		return program(p.WithValue(projects.RootKey{}, y.root))
	}, auto.WorkDir(dir), auto.EnvVars(y.env))
	if err != nil {
		return err
	}
	result, err := s.Up(ctx, optup.SuppressProgress())
	if err != nil {
		return err
	}
	for operation, n := range *result.Summary.ResourceChanges {
		if operation != "same" && n > 0 {
			return fmt.Errorf("%d resources: %s; this was to change nothing", n, operation)
		}
	}
	return nil
}

// workingCopy creates a directory with the project's stack file.
func (y *yardstick) workingCopy(project string) (string, error) {
	dir := filepath.Join(y.dir, project)
	content := y.copies.Stack
	if project == projects.Secrets().Name {
		content = y.copies.Secrets
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return "", err
	}
	return dir, os.WriteFile(filepath.Join(dir, "Pulumi."+stack+".yaml"), content, 0o600)
}
