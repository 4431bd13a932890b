// Package pulumicli runs Pulumi commands: in warm workers of the embedded engine (Pool), or
// in processes of an installed Pulumi (Installed). Both implement auto.PulumiCommand, give each
// process its own process group, and interrupt it exactly once.
package pulumicli

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"slices"
)

// unknownExit is the exit code of a command that did not exit by itself.
const unknownExit = -2

// ExitError is the error of a command that ran and failed. Its output has the reason.
type ExitError struct{ Code int }

func (e *ExitError) Error() string { return fmt.Sprintf("exit status %d", e.Code) }

// commandEnv returns the environment of a command: the environment of this process, the
// caller's additions, and variables that silence Pulumi's notices. What is confirmed is said by flags: a user's
// PULUMI_SKIP_CONFIRMATIONS would contradict the preview of a refresh.
func commandEnv(additional []string) []string {
	return slices.Concat(os.Environ(), additional, []string{
		"PULUMI_AUTOMATION_API=true", "PULUMI_SKIP_UPDATE_CHECK=true", "PULUMI_SKIP_CONFIRMATIONS=false",
	})
}

// nonInteractive adds the flag that makes a command fail instead of prompting.
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

// sinks stores the output of a command and forwards it to writers.
type sinks struct {
	kept bytes.Buffer // not embedded: its ReadFrom would bypass the writers
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
