package tools

import (
	"context"
	"os/exec"
	"regexp"

	"github.com/urfave/cli/v2"

	"mara/config"
	"mara/runner/internal/cli/cmd"
	"mara/runner/internal/machine/process"
)

// Extension returns the program of a command that is not built in: for the first argument NAME, runner-NAME in an
// absolute directory of the PATH. It returns "" for built-in commands and for names without a program.
func Extension(d cmd.Deps, all []*cli.Command, args []string) (program string) {
	if len(args) == 0 || !regexp.MustCompile(`^[A-Za-z0-9][\w-]*$`).MatchString(args[0]) || args[0] == "help" {
		return ""
	}
	if _, builtIn := cmd.FindCommand(all, args[0]); builtIn {
		return ""
	}
	path := config.Sources{Process: d.Environ}.Lookup("PATH")
	program, _ = process.Find(cmd.Program+"-"+args[0], d.Dir, path.Text)
	return program
}

// RunExtension runs a program in the foreground, with the arguments after its name as they were typed.
func RunExtension(ctx context.Context, d cmd.Deps, program string, args []string) error {
	command := exec.Command(program, args[1:]...)
	command.Env, command.Dir = d.Environ, d.Dir
	return cmd.PassThrough(ctx, d, command)
}
