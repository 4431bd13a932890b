package e2e

import (
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/term"

	"mara/runner/internal/testing/prompttest"
)

// reply is a question on a terminal and what the user does.
type reply struct {
	question, keys string
	pressed        bool // single keys: it is a choice
}

func typed(question, answer string) reply { return reply{question: question, keys: answer + "\r"} }
func chosen(question, keys string) reply  { return reply{question: question, keys: keys, pressed: true} }

// ctrlC returns the same question, with Ctrl-C for an answer.
func (r reply) ctrlC() reply {
	r.keys = "\x03"
	return r
}

// sitting is the runner at work on a terminal, with a person in front of it.
type sitting struct {
	*prompttest.Terminal
	t      *testing.T
	cmd    *exec.Cmd
	side   *os.File
	before term.State
}

// sit starts the runner on a terminal, as its foreground process.
func (e *environment) sit(args ...string) *sitting {
	e.t.Helper()
	terminal, side := prompttest.Open(e.t)
	s := &sitting{Terminal: terminal, t: e.t, cmd: e.command(args...), side: side, before: prompttest.State(e.t, side)}
	s.cmd.Env = append(s.cmd.Env, "TERM=xterm-256color", "NO_COLOR=1")
	s.cmd.Stdin, s.cmd.Stdout, s.cmd.Stderr = side, side, side
	s.cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true}
	if err := s.cmd.Start(); err != nil {
		e.t.Fatal(err)
	}
	return s
}

// answer does what the replies say, each when its question is on the screen.
func (s *sitting) answer(replies ...reply) {
	s.t.Helper()
	for _, r := range replies {
		s.Expect(r.question)
		if r.pressed {
			s.Press(r.keys)
			continue
		}
		s.Type(r.keys)
	}
}

// end waits for the end, and returns what was on the screen. Whatever happened,
// the terminal is as it was: what is typed shows again.
func (s *sitting) end(want int) string {
	s.t.Helper()
	code, screen := s.wait()
	if code != want {
		s.t.Errorf("exit code %d, want %d:\n%s", code, want, screen)
	}
	return screen
}

// wait works as end for a run whose exit code the test checks.
func (s *sitting) wait() (code int, screen string) {
	s.t.Helper()
	_ = s.cmd.Wait() // an exit code is no surprise
	if prompttest.State(s.t, s.side) != s.before {
		s.t.Error("the terminal is not what it was")
	}
	const farewell = "[it has ended]" // comes to the screen behind everything else
	if _, err := s.side.WriteString(farewell); err != nil {
		s.t.Fatal(err)
	}
	s.Expect(farewell)
	return s.cmd.ProcessState.ExitCode(), strings.TrimSuffix(s.Screen(), farewell)
}
