package tools

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"github.com/urfave/cli/v2"

	"mara/config"
	"mara/config/files"
	"mara/projects/model"
	"mara/runner/internal/cli/cmd"
	"mara/runner/internal/core/encryption"
	"mara/runner/internal/core/engine"
	"mara/runner/internal/core/environments"
	"mara/runner/internal/core/event"
	"mara/runner/internal/core/operate"
	"mara/runner/internal/core/pulumicli/wire"
	"mara/runner/internal/core/request"
	"mara/runner/internal/core/session"
	"mara/runner/internal/core/stacks"
	"mara/runner/internal/core/vault"
	"mara/runner/internal/machine/failure"
	"mara/runner/internal/machine/process"
)

// Pulumi returns `runner pulumi`.
func Pulumi(d cmd.Deps) *cli.Command {
	return &cli.Command{
		Name: "pulumi", Usage: "run any Pulumi command on one project", ArgsUsage: "PROJECT -- ARGS...",
		Description: "Runs Pulumi (the embedded engine, or --pulumi) with the environment's state, stack and " +
			"configuration, in the project's directory if the root has one, or else in a working copy. It uses your " +
			"stack file, as plain pulumi does. For up and preview of your own projects it uses a copy, to which it " +
			"adds the secrets that the runner stores. Built-in programs are served by pulumi-language-mara: you " +
			"need no Go.\n\n" +
			"With --simulate, simulated clouds run as long as the command. It uses a copy of the configuration: " +
			"changes to the configuration are lost.\n\n" +
			"Examples:\n  runner pulumi certmgr -- stack output\n  runner pulumi certmgr -s dev -- preview --diff\n" +
			"  runner pulumi aws-vpc --simulate -- stack export\n\n" +
			"Exit codes: those of the Pulumi command, and\n" + cmd.ExitText(cmd.ExitUsage, cmd.ExitConfig, cmd.ExitInterrupted),
		Flags:  cmd.JoinFlags(cmd.EnvironmentFlags(), cmd.SimulationFlags(), cmd.PulumiFlags(), cmd.BaseFlags()),
		Action: cmd.Action(d, parsePulumi, runPulumi),
	}
}

func parsePulumi(_ *cli.Context, _ cmd.Deps, o cmd.Common) (cmd.Common, error) {
	if len(o.Args) < 2 {
		return o, failure.Usagef("pulumi", "name a project and a Pulumi command: `%s pulumi PROJECT -- ARGS...`", cmd.Program)
	}
	return o, nil
}

// runPulumi runs the command as a child, in the foreground.
func runPulumi(ctx context.Context, d cmd.Deps, o cmd.Common) (err error) {
	path, err := enginePath(d, o.Pulumi)
	if err != nil {
		return &failure.Environment{Text: err.Error()}
	}
	resolve := session.Resolve
	if o.Simulation.On {
		resolve = session.ResolveToOperate
	}
	o.Operates = true
	s, err := resolve(d.Deps, o.Options)
	defer func() { err = errors.Join(err, s.Close()) }()
	if err != nil {
		return err
	}
	dir, err := openProject(ctx, s, o.Args[0], runsProgram(o.Args[1:]))
	if err != nil {
		return err
	}
	if slices.Equal(o.Args[1:min(3, len(o.Args))], []string{"state", "upgrade"}) { // it refuses what it is to upgrade
		s.Env["PULUMI_DIY_BACKEND_IGNORE_DEPRECATION_ERROR"] = "1"
	}
	args := o.Args[1:]
	imports := args[0] == "import" && writesNoCode(s, o.Args[0])
	if imports && !slices.ContainsFunc(args, func(arg string) bool { return strings.HasPrefix(arg, "--generate-code") }) {
		args = slices.Insert(slices.Clone(args), 1, "--generate-code=false")
	}
	command := exec.Command(path, args...)
	command.Dir, command.Env = dir, append(process.Environ(s.Env), fmt.Sprintf("%s=%d", wire.ParentVariable, os.Getpid()))
	// Pulumi prints the URL of the backend in its errors, which may have a password or token in it.
	if slices.ContainsFunc(slices.Collect(maps.Values(s.Env)), func(v string) bool { return event.MaskURLs(v) != v }) {
		masked := &maskedWriter{w: d.Stderr, mask: s.Masker.Mask}
		defer func() { err = errors.Join(err, masked.Close()) }()
		d.Stderr = masked
	}
	if protected := s.Settings.Config.Protected(); protected != (config.Origin{}) && changes(o.Args[1:]) {
		fmt.Fprintf(d.Stderr, "note: %s is protected (%s), which Pulumi does not know: no guard of the runner holds here\n",
			s.Settings.Stack.Text, protected)
	}
	if changes(o.Args[1:]) {
		if other := operate.OtherAccounts(ctx, s, o.Args[0]); other != "" {
			fmt.Fprintf(d.Stderr, "warning: %s; no guard of the runner holds here\n", other)
		}
	}
	before := environments.OwnKeys(s.Settings.Root, s.Settings.Stack.Text, o.Known())
	began := d.Now()
	err = cmd.PassThrough(ctx, d, command)
	if imports && err == nil {
		fmt.Fprintln(d.Stderr, "note: write what was imported into the program, or else the next up deletes it, which Pulumi's protection refuses")
	}
	if changes(o.Args[1:]) {
		if unkept := keepRun(ctx, d, s, o.Args, began, err); unkept != nil {
			fmt.Fprintf(d.Stderr, "warning: this run is not in the history: %v\n", unkept)
		}
	}
	made := slices.DeleteFunc(environments.OwnKeys(s.Settings.Root, s.Settings.Stack.Text, o.Known()),
		func(key string) bool { return slices.Contains(before, key) })
	if len(made) > 0 && !s.Options.Simulation.On { // they are no sign of a deployment elsewhere
		if unkept := request.RememberKeys(s.Directory, s.Settings.Stack.Text, made...); unkept != nil {
			err = errors.Join(err, unkept)
		}
	}
	return err
}

// maskedWriter masks the output of a program. It writes incomplete lines, such as questions,
// at once unless they may contain a URL.
type maskedWriter struct {
	w    io.Writer
	mask func(string) string
	rest string // an incomplete line with a URL
}

// Write implements io.Writer.
func (m *maskedWriter) Write(text []byte) (int, error) {
	whole := m.rest + string(text)
	end := strings.LastIndexByte(whole, '\n') + 1
	if !strings.Contains(whole[end:], "://") {
		end = len(whole)
	}
	m.rest = whole[end:]
	_, err := io.WriteString(m.w, m.mask(whole[:end]))
	return len(text), err
}

// Close writes an incomplete last line.
func (m *maskedWriter) Close() error {
	_, err := io.WriteString(m.w, m.mask(m.rest))
	m.rest = ""
	return err
}

// openProject returns the directory to run Pulumi in. It serves the programs and starts simulated
// clouds until the session closes.
func openProject(ctx context.Context, s *session.Resolved, name string, runs bool) (dir string, err error) {
	project, err := s.Plan.Project(name)
	if err != nil {
		return "", err
	}
	if err := s.StartPrograms(); err != nil {
		return "", err
	}
	checkouts := s.Checkouts()
	var copies encryption.Copies
	if s.Options.Simulation.On {
		if copies, err = s.Vault.Copies(ctx, nil); err != nil {
			return "", err
		}
		if err := s.SimulateClouds(ctx); err != nil {
			return "", err
		}
	} else if checkouts.NeedsCopies(project, runs) {
		if copies, err = s.Vault.CopiesToRead(ctx, nil); err != nil {
			return "", err
		}
	}
	if dir, err = checkouts.Directory(project, copies); err != nil {
		return "", err
	}
	if len(copies.Stack) > 0 {
		if err := sealCopy(ctx, s, project.Name, filepath.Join(dir, "Pulumi."+checkouts.Stack(project)+".yaml")); err != nil {
			return "", err
		}
	}
	if s.Env[config.StackVariable], err = stackVariable(ctx, s, checkouts.Stack(project)); err != nil {
		return "", err
	}
	maps.Copy(s.Env, checkouts.ProjectEnv(project))
	return dir, s.AttachPrograms()
}

// stackVariable returns the stack for Pulumi's commands. At Pulumi Cloud it has the organization: Pulumi looks for the
// name alone in the user's own organization, whatever the default one is.
func stackVariable(ctx context.Context, s *session.Resolved, stack string) (string, error) {
	if !s.Settings.Managed() || s.Options.Simulation.On {
		return stack, nil
	}
	organization, err := s.Organization(ctx, s.Settings.Root)
	return organization + "/" + stack, err
}

// sealCopy encrypts what a project reads of the shared files with the key of its stack, in a copy of its stack file.
// Elsewhere than at Pulumi Cloud it does nothing.
func sealCopy(ctx context.Context, s *session.Resolved, project, path string) error {
	service, err := session.Service(ctx, s, s.Settings.Root)
	if err != nil || service == nil || project == model.SecretsProject {
		return err
	}
	sealed, err := vault.Sealed(ctx, s.Vault)
	if err != nil || len(sealed) == 0 {
		return err
	}
	organization, err := s.Organization(ctx, s.Settings.Root)
	if err != nil {
		return err
	}
	content, err := files.Read(path, files.Text)
	if err != nil {
		return err
	}
	stack := organization + "/" + project + "/" + s.Options.Known().StackNames().Of(project, s.Settings.Stack.Text)
	if content, err = stacks.SealFor(ctx, service, stack, content, sealed); err != nil {
		return err
	}
	return os.WriteFile(path, content, 0o600)
}

// writesNoCode reports whether the language of a project has no generator of programs, without which an import would
// fail after it has succeeded.
func writesNoCode(s *session.Resolved, name string) bool {
	project, err := s.Plan.Project(name)
	return err == nil && (project.Own == nil || project.Own.Runtime == "yaml")
}

// words returns what arguments of Pulumi say besides flags: the command, and what follows it.
func words(args []string) []string {
	return slices.DeleteFunc(slices.Clone(args), func(arg string) bool { return strings.HasPrefix(arg, "-") })
}

// changes reports whether a Pulumi command changes resources or a state.
func changes(args []string) bool {
	words := words(args)
	if len(words) == 0 || slices.Contains(args, "--help") || slices.Contains(args, "-h") {
		return false
	}
	switch words[0] {
	case "up", "update", "destroy", "down", "refresh", "import", "watch", "state":
		return true
	case "stack":
		return len(words) > 1 && slices.Contains([]string{"rm", "import", "rename"}, words[1])
	}
	return false
}

// runsProgram reports whether a Pulumi command runs the program of the project.
func runsProgram(args []string) bool {
	words := words(args)
	return len(words) > 0 && slices.Contains([]string{"up", "update", "preview", "pre", "watch"}, words[0])
}

func enginePath(d cmd.Deps, installed string) (string, error) {
	found, err := engine.Find(d.Engines, installed)
	if err != nil {
		return "", err
	}
	path, err := exec.LookPath(found.Path)
	if err != nil {
		return "", fmt.Errorf("no pulumi at %s: %w", found.Path, err)
	}
	return filepath.Abs(path)
}
