// Package pulumicli runs Pulumi commands: in warm workers of the embedded
// engine (Pool), or in processes of an installed Pulumi (Installed). Both are
// auto.PulumiCommand, so the Automation API does not know the difference, and
// both keep each process in a group of its own and interrupt it exactly once.
package pulumicli

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"slices"
)

// unknownExit is the exit code of a command that has not run to its end.
const unknownExit = -2

// ExitError says that a command ran and failed. Its output tells why.
type ExitError struct{ Code int }

func (e *ExitError) Error() string { return fmt.Sprintf("exit status %d", e.Code) }

// commandEnv returns the environment of a command: that of this process, the caller's
// additions, and variables that keep Pulumi quiet.
func commandEnv(additional []string) []string {
	return slices.Concat(os.Environ(), additional, []string{"PULUMI_AUTOMATION_API=true", "PULUMI_SKIP_UPDATE_CHECK=true"})
}

// nonInteractive makes a command fail rather than prompt.
func nonInteractive(args []string) []string {
	own := args
	if i := slices.Index(args, "--"); i >= 0 {
		own = args[:i]
	}
	if slices.Contains(own, "--non-interactive") {
		return args
	}
	return append([]string{"--non-interactive"}, args...)
}

// sinks keeps the output of a command and passes it on as it comes.
type sinks struct {
	kept bytes.Buffer // not embedded: its ReadFrom would swallow what is to be passed on
	all  io.Writer
}

func newSinks(additional []io.Writer) *sinks {
	s := &sinks{}
	s.all = io.MultiWriter(append(slices.Clone(additional), &s.kept)...)
	return s
}

// Write implements io.Writer.
func (s *sinks) Write(p []byte) (int, error) {
	if len(p) == 0 {
		return 0, nil
	}
	return s.all.Write(p)
}

// String returns everything written so far.
func (s *sinks) String() string { return s.kept.String() }
