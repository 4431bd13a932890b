package tools

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"github.com/urfave/cli/v2"

	"mara/config"
	"mara/runner/internal/cli/cmd"
	"mara/runner/internal/encryption"
	"mara/runner/internal/engine"
	"mara/runner/internal/event"
	"mara/runner/internal/failure"
	"mara/runner/internal/process"
	"mara/runner/internal/session"
)

// Pulumi is `runner pulumi`.
func Pulumi(d cmd.Deps) *cli.Command {
	return &cli.Command{
		Name:      "pulumi",
		Usage:     "run any Pulumi command on one project",
		ArgsUsage: "PROJECT -- ARGS...",
		Description: "Runs Pulumi (the embedded engine, or --pulumi) with the environment's state, stack and configuration, in the\n" +
			"project's folder if there is a checkout, else in a working copy. It works on your own stack file, as plain\n" +
			"pulumi does; up and preview of a project of your own get the secrets that the runner keeps for it, and work on\n" +
			"a copy then. The programs are the built-in ones, which pulumi-language-mara serves: no Go is needed.\n\n" +
			"With --simulate the clouds are simulated while the command runs, and it works on a copy of the\n" +
			"configuration: what it writes there is lost.\n\n" +
			"Examples:\n  runner pulumi certmgr -- stack output\n  runner pulumi certmgr -s dev -- preview --diff\n" +
			"  runner pulumi aws-vpc --simulate -- stack export\n\n" +
			"Exit codes: those of the Pulumi command, and\n" + cmd.ExitText(cmd.ExitUsage, cmd.ExitConfig),
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
	s := session.New(d.Deps, o.Options)
	defer func() { err = errors.Join(err, s.Close()) }()
	dir, err := openProject(ctx, s, o.Args[0], runsProgram(o.Args[1:]))
	if err != nil {
		return err
	}
	command := exec.Command(path, o.Args[1:]...)
	command.Dir, command.Env = dir, process.Environ(s.Env)
	command.Stdin, command.Stdout, command.Stderr = d.Stdin, cmd.Direct(d.Stdout), d.Stderr
	if hasCredentials(s.Env) {
		masked := &maskedWriter{w: d.Stderr, mask: s.Masker.Mask}
		defer func() { err = errors.Join(err, masked.Close()) }()
		command.Stderr = masked
	}
	return passThrough(ctx, d, command)
}

// hasCredentials reports whether a variable is a URL with a password or token, such as a
// backend's, which Pulumi has in its errors.
func hasCredentials(env map[string]string) bool {
	for _, value := range env {
		if event.MaskURLs(value) != value {
			return true
		}
	}
	return false
}

// maskedWriter masks what a program writes. It passes on at once what has no end of a line
// yet, such as a question, unless a URL may be in it.
type maskedWriter struct {
	w    io.Writer
	mask func(string) string
	rest string // of a line with a URL
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

// Close writes the last line, if it has no end.
func (m *maskedWriter) Close() error {
	_, err := io.WriteString(m.w, m.mask(m.rest))
	m.rest = ""
	return err
}

// openProject finds the folder that Pulumi runs in. Until the session closes the
// programs are served, and simulated clouds answer.
func openProject(ctx context.Context, s *session.Session, name string, runs bool) (dir string, err error) {
	resolve := s.Resolve
	if s.Options.Simulation.On {
		resolve = s.ResolveToOperate
	}
	if err := resolve(); err != nil {
		return "", err
	}
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
	if dir, err = checkouts.Folder(project, copies); err != nil {
		return "", err
	}
	s.Env[config.StackVariable] = checkouts.Stack(project)
	return dir, s.AttachPrograms()
}

// runsProgram reports whether a Pulumi command runs the program of the project.
func runsProgram(args []string) bool {
	i := slices.IndexFunc(args, func(arg string) bool { return !strings.HasPrefix(arg, "-") })
	return i >= 0 && slices.Contains([]string{"up", "update", "preview", "pre", "watch"}, args[i])
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

// passThrough runs a command in the foreground and returns its exit code. The
// terminal sends it Ctrl-C; a signal to the runner alone is passed on, once.
func passThrough(ctx context.Context, d cmd.Deps, command *exec.Cmd) error {
	_, release := d.Interrupt.Gentle()
	defer release()
	if err := command.Start(); err != nil {
		return &failure.Environment{Text: fmt.Sprintf("starting %s: %v", command.Path, err)}
	}
	stop := context.AfterFunc(ctx, func() { _ = command.Process.Signal(syscall.SIGINT) })
	defer stop()
	err := command.Wait()
	var exit *exec.ExitError
	switch {
	case errors.As(err, &exit) && exit.Exited():
		return &cmd.Reported{Code: exit.ExitCode()}
	case errors.As(err, &exit):
		return fmt.Errorf("pulumi ended in the middle of the command: %w", err)
	}
	return err
}
