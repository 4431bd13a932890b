// Package tools has the commands for use with Pulumi, shells, editors and scripts:
// env, pulumi, schema, completion and version.
package tools

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"

	"al.essio.dev/pkg/shellescape"
	"github.com/urfave/cli/v2"

	"mara/config"
	"mara/runner/internal/cli/cmd"
	"mara/runner/internal/repo/layers"
	"mara/runner/internal/run/event"
	"mara/runner/internal/secrets/encryption"
)

// Env returns `runner env`.
func Env(d cmd.Deps) *cli.Command {
	return &cli.Command{
		Name:  "env",
		Usage: "print environment variables for plain pulumi",
		Description: "Prints export statements for a shell. With them, `pulumi` in the directory of a project uses the " +
			"same backend,\n" +
			"stack and passphrase as the runner. Secret values are never printed: comments say where to find them.\n\n" +
			"For simulated clouds, use `runner pulumi --simulate`: they only exist while the runner runs.\n\n" +
			"Example:\n  eval \"$(runner env -s dev)\"\n  cd projects/kubernetes/certmgr && pulumi stack output\n\n" +
			cmd.ExitText(cmd.ExitDone, cmd.ExitUsage, cmd.ExitConfig),
		Flags:  cmd.JoinFlags(cmd.OutputFlag("shell", "json"), cmd.EnvironmentFlags(), cmd.BaseFlags()),
		Action: cmd.CommonAction(d, cmd.Parse, runEnv),
	}
}

func runEnv(_ context.Context, d cmd.Deps, o cmd.Common) error {
	if o.Root == "" {
		return o.NoRoot
	}
	settings, err := config.Resolve(config.Request{Root: o.Root, Stack: o.Stack, Provider: o.Provider, Sources: o.Sources,
		Describe: layers.Read})
	if err != nil {
		return err
	}
	env := shellEnvironment{settings: settings, sources: o.Sources, absolute: d.Absolute}
	env.backend()
	env.export(config.StackVariable, settings.Stack.Text)
	env.passphrase()
	env.fileVariables()
	env.provider()
	env.layers()
	return o.Show(d, env.document(), env.text())
}

// shellEnvironment has the exports for a shell, and comments about values that are not
// exported. Comments come last: if a shell joins all lines, a comment would hide the
// exports after it.
type shellEnvironment struct {
	settings config.Settings
	sources  config.Sources
	absolute func(path string) string
	exports  []variableValue
	comments []string
}

type variableValue struct{ name, value string }

func (e *shellEnvironment) export(name, value string) {
	e.exports = append(e.exports, variableValue{name, value})
}

func (e *shellEnvironment) comment(format string, args ...any) {
	e.comments = append(e.comments, fmt.Sprintf(format, args...))
}

// backend exports the backend's URL, unless it has a password in it.
func (e *shellEnvironment) backend() {
	backend := e.settings.Backend
	if event.MaskURLs(backend.Text) != backend.Text {
		e.comment("%s is not printed because it contains a password; it comes from %s", config.BackendVariable,
			backend.Origin)
		return
	}
	e.export(config.BackendVariable, backend.Text)
}

// passphrase exports the passphrase's file, or adds a comment that says where the passphrase is set.
func (e *shellEnvironment) passphrase() {
	switch place, found := e.find(encryption.PassphraseVariable); {
	case found && place.Source == config.FromFile:
		e.comment("the passphrase is %s; it is not printed", place)
	case found:
		e.comment("the passphrase is %s, so it is exported already", place)
	default:
		e.passphraseFile()
	}
}

func (e *shellEnvironment) passphraseFile() {
	file := e.sources.Lookup(encryption.PassphraseFileVariable)
	if !file.IsSet() {
		if !strings.HasPrefix(e.settings.Backend.Text, "http") {
			e.comment("no passphrase is set; pulumi asks for it, or takes it from %s or %s", encryption.PassphraseVariable,
				encryption.PassphraseFileVariable)
		}
		return
	}
	e.export(encryption.PassphraseFileVariable, e.absolute(file.Text))
}

// find finds a variable, even an empty one: a passphrase may be empty.
func (e *shellEnvironment) find(name string) (config.Origin, bool) {
	for _, v := range e.sources.File.Variables() {
		if v.Name == name {
			return config.Origin{Source: config.FromFile, Name: name, File: config.EnvironmentFile, Line: v.Line}, true
		}
	}
	for _, entry := range e.sources.Process {
		if strings.HasPrefix(entry, name+"=") {
			return config.Origin{Source: config.FromProcess, Name: name}, true
		}
	}
	return config.Origin{}, false
}

// fileVariables adds a comment with the names of the file's other variables. Their values may be secret.
func (e *shellEnvironment) fileVariables() {
	var names []string
	for _, v := range e.sources.File.Variables() {
		switch {
		case v.Name == config.StackVariable, v.Name == encryption.PassphraseFileVariable,
			strings.HasPrefix(v.Name, "RUNNER_"):
		case v.Name == config.BackendVariable && len(e.exports) > 0 && e.exports[0].name == v.Name:
		default:
			names = append(names, v.Name)
		}
	}
	if len(names) == 0 {
		return
	}
	e.comment("%s also sets %s; to set all its variables:", config.EnvironmentFile, strings.Join(names, ", "))
	e.comment("  set -a; . %s; set +a", shellescape.Quote(filepath.Join(e.settings.Root, config.EnvironmentFile)))
}

// provider adds a comment if plain pulumi cannot know the provider.
func (e *shellEnvironment) provider() {
	if _, ok := e.settings.Config.Lookup(config.InfraType); ok {
		return
	}
	e.comment("%s is not in %s; the programs need it there (and in secrets/ below it) when plain pulumi runs them",
		config.InfraType, e.settings.Config.File)
}

// layers warns that plain pulumi does not read layers.
func (e *shellEnvironment) layers() {
	if d := e.settings.Described; d.File != "" {
		e.comment("plain pulumi sees nothing of %s; `runner pulumi` does", d.File)
	}
}

func (e *shellEnvironment) text() string {
	var lines []string
	for _, v := range e.exports {
		lines = append(lines, "export "+v.name+"="+shellescape.Quote(v.value))
	}
	for _, comment := range e.comments {
		lines = append(lines, "# "+comment)
	}
	return strings.Join(lines, "\n") + "\n"
}

type environmentDocument struct {
	Variables map[string]string `json:"variables"`
	Notes     []string          `json:"notes"` // about what is not printed
}

func (e *shellEnvironment) document() environmentDocument {
	document := environmentDocument{Variables: map[string]string{}, Notes: append([]string{}, e.comments...)}
	for _, v := range e.exports {
		document.Variables[v.name] = v.value
	}
	return document
}
