// Package tools has the commands for use with Pulumi, shells, editors and scripts:
// env, pulumi, schema, completion and version.
package tools

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"al.essio.dev/pkg/shellescape"
	"github.com/urfave/cli/v2"

	"mara/config"
	"mara/projects/model"
	"mara/runner/internal/cli/cmd"
	"mara/runner/internal/core/catalogue"
	"mara/runner/internal/core/encryption"
	"mara/runner/internal/core/environments"
	"mara/runner/internal/core/event"
)

// Env returns `runner env`.
func Env(d cmd.Deps) *cli.Command {
	return &cli.Command{
		Name: "env", Usage: "print environment variables for plain pulumi",
		Description: "Prints export statements for a shell. With them, `pulumi` in the directory of a project uses " +
			"the same backend, stack and passphrase as the runner. Secret values are never printed: comments say " +
			"where to find them.\n\n" +
			"For simulated clouds, use `runner pulumi PROJECT --simulate -- preview`: they only exist while the runner runs.\n\n" +
			"--shell direnv prints what an .envrc takes: direnv then follows the files that the variables come from.\n\n" +
			"Examples:\n  eval \"$(runner env -s dev)\"\n  cd projects/kubernetes/certmgr && pulumi stack output\n" +
			"  echo 'eval \"$(runner env -s dev --shell direnv)\"' > .envrc && direnv allow\n" +
			"  runner env -s dev -o json\n\n" +
			cmd.ExitText(cmd.ExitDone, cmd.ExitUsage, cmd.ExitConfig),
		Flags: cmd.JoinFlags([]cli.Flag{
			cmd.ChoiceFlag("shell", "print statements for `SHELL`: posix, "+shellDirenv, "posix", shellDirenv),
		}, cmd.OutputFlag("shell", "json"), cmd.EnvironmentFlags(), cmd.BaseFlags()),
		Action: cmd.CommonAction(d, parseEnv, runEnv),
	}
}

// shellDirenv is the shell of direnv's .envrc: bash with functions of direnv's.
const shellDirenv = "direnv"

type envOptions struct {
	cmd.Common
	Shell string
}

func parseEnv(c *cli.Context, d cmd.Deps) (o envOptions, err error) {
	o.Common, err = cmd.Parse(c, d)
	o.Shell = cmd.Chosen(c, "shell")
	return o, err
}

func runEnv(_ context.Context, d cmd.Deps, o envOptions) error {
	settings, err := o.Settings()
	if err != nil {
		return err
	}
	env := shellEnvironment{
		Variables: map[string]string{config.StackVariable: settings.Stack.Text}, Notes: []string{},
		settings: settings, sources: o.Sources, known: o.Known(),
	}
	env.addBackend()
	env.addPassphrase(d)
	env.noteFile(o.Shell)
	env.noteDifferences()
	text := env.text()
	if o.Shell == shellDirenv {
		text = env.watched() + text
	}
	return o.Show(d, env, text)
}

// shellEnvironment has the variables for a shell, and notes about what is not printed.
type shellEnvironment struct {
	Variables map[string]string `json:"variables"`
	Notes     []string          `json:"notes"`
	settings  config.Settings
	sources   config.Sources
	known     catalogue.Catalogue
}

func (e *shellEnvironment) note(format string, args ...any) {
	e.Notes = append(e.Notes, fmt.Sprintf(format, args...))
}

// addBackend adds the backend's URL, unless it has a password in it.
func (e *shellEnvironment) addBackend() {
	backend := e.settings.Backend
	if event.MaskURLs(backend.Text) == backend.Text {
		e.Variables[config.BackendVariable] = backend.Text
		return
	}
	e.note("%s is not printed because it contains a password; it comes from %s", config.BackendVariable, backend.Origin)
}

// addPassphrase adds the passphrase's file, or a note that says where the passphrase is set.
func (e *shellEnvironment) addPassphrase(d cmd.Deps) {
	place, found := e.find(encryption.PassphraseVariable)
	file := e.sources.Lookup(encryption.PassphraseFileVariable)
	switch {
	case found && place.Source == config.FromFile:
		e.note("the passphrase is %s; it is not printed", place)
	case found:
		e.note("the passphrase is %s, so it is exported already", place)
	case file.IsSet():
		e.Variables[encryption.PassphraseFileVariable] = d.Absolute(file.Text)
	case !strings.HasPrefix(e.settings.Backend.Text, "http"):
		e.note("no passphrase is set; pulumi asks for it, or takes it from %s or %s", encryption.PassphraseVariable,
			encryption.PassphraseFileVariable)
	}
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

// noteFile notes the names of the environment file's other variables. Their values may be secret.
func (e *shellEnvironment) noteFile(shell string) {
	var names []string
	for _, v := range e.sources.File.Variables() {
		_, isPrinted := e.Variables[v.Name]
		if !isPrinted && v.Name != encryption.PassphraseFileVariable && !strings.HasPrefix(v.Name, "RUNNER_") {
			names = append(names, v.Name)
		}
	}
	if len(names) == 0 {
		return
	}
	e.note("%s also sets %s; to set all its variables:", config.EnvironmentFile, strings.Join(names, ", "))
	statement := "set -a; . %s; set +a"
	if shell == shellDirenv {
		statement = "dotenv %s"
	}
	e.note("  "+statement, shellescape.Quote(filepath.Join(e.settings.Root, config.EnvironmentFile)))
}

// watched returns the statements by which direnv reads the variables again when a file has changed. A missing file
// counts, too.
func (e *shellEnvironment) watched() string {
	var b strings.Builder
	files := append([]string{config.EnvironmentFile, e.settings.Config.File, config.MaraFile, e.settings.Described.File},
		e.settings.Described.Layers...)
	for _, file := range environments.OwnFiles(e.settings.Root, e.settings.Stack.Text, e.known) {
		files = append(files, file.File)
	}
	for _, file := range files {
		if file != "" {
			b.WriteString("watch_file " + shellescape.Quote(filepath.Join(e.settings.Root, file)) + "\n")
		}
	}
	return b.String()
}

// noteDifferences notes what plain pulumi does not know: the provider, if the stack file does not
// have it, and layers.
func (e *shellEnvironment) noteDifferences() {
	isBuiltIn := func(p model.Project) bool { return p.Own == nil }
	if _, ok := e.settings.Config.Lookup(config.InfraType); !ok && slices.ContainsFunc(e.known.Projects, isBuiltIn) {
		e.note("%s is not in %s; the programs need it there (and in secrets/ below it) when plain pulumi runs them",
			config.InfraType, e.settings.Config.File)
	}
	if d := e.settings.Described; d.File != "" {
		e.note("plain pulumi sees nothing of %s; `runner pulumi` does", d.File)
	}
}

// text returns the statements for a shell. Comments come last: if a shell joins all lines, a
// comment would hide the exports after it.
func (e *shellEnvironment) text() string {
	var b strings.Builder
	for _, name := range []string{config.BackendVariable, config.StackVariable, encryption.PassphraseFileVariable} {
		if value, ok := e.Variables[name]; ok {
			fmt.Fprintf(&b, "export %s=%s\n", name, shellescape.Quote(value))
		}
	}
	for _, note := range e.Notes {
		b.WriteString("# " + note + "\n")
	}
	return b.String()
}
