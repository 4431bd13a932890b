// Package prompttest gives tests a terminal and a fake user who types.
package prompttest

import (
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"golang.org/x/sys/unix"
	"golang.org/x/term"
)

// patience bounds the wait for a text on the screen.
const patience = 2 * time.Minute

// Terminal is a terminal with a person in front of it.
type Terminal struct {
	t      testing.TB
	person *os.File
	typed  chan string
	closed chan struct{}
	asked  int // how often the program has asked where the cursor is; watch owns it

	mu     sync.Mutex // guards screen
	screen strings.Builder
	more   chan struct{} // has a value when there is more on the screen
}

// Open opens a terminal; side is what a program has for stdin and stderr.
func Open(t testing.TB) (terminal *Terminal, side *os.File) {
	t.Helper()
	person, side, err := open()
	if err != nil {
		t.Skipf("no terminal can be made here: %v", err)
	}
	if err := unix.IoctlSetWinsize(int(side.Fd()), unix.TIOCSWINSZ, &unix.Winsize{Row: 40, Col: 120}); err != nil {
		t.Fatal(err)
	}
	terminal = &Terminal{
		t: t, person: person, typed: make(chan string, 8), closed: make(chan struct{}), more: make(chan struct{}, 1),
	}
	var watching sync.WaitGroup
	watching.Go(terminal.watch)
	t.Cleanup(func() {
		// The program's side is left to the garbage collector: a question that
		// was given up may still use it.
		close(terminal.closed)
		_ = person.Close()
		watching.Wait()
	})
	return terminal, side
}

// watch reads what the program writes and answers its questions.
func (t *Terminal) watch() {
	buffer := make([]byte, 4096)
	for {
		n, err := t.person.Read(buffer)
		if err != nil {
			return
		}
		for range t.show(string(buffer[:n])) {
			t.answer()
		}
	}
}

// show puts a text on the screen and returns how often it asks for the
// position of the cursor.
func (t *Terminal) show(text string) (questions int) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.screen.WriteString(text)
	select {
	case t.more <- struct{}{}:
	default:
	}
	return strings.Count(text, "\x1b[6n")
}

// answer says where the cursor is, as every terminal does. survey asks that
// twice before it reads a line. It keeps what was typed before an answer, and
// may lose what comes right after it: so the person types before the second.
func (t *Terminal) answer() {
	typed := ""
	if t.asked++; t.asked%2 == 0 {
		select {
		case typed = <-t.typed:
		case <-t.closed:
		}
	}
	_, _ = t.person.WriteString(typed + "\x1b[1;1R")
}

// Screen returns everything written so far.
func (t *Terminal) Screen() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.screen.String()
}

// Expect waits until a text is on the screen.
func (t *Terminal) Expect(text string) {
	t.t.Helper()
	timeout := time.After(patience)
	for !strings.Contains(t.Screen(), text) {
		select {
		case <-t.more:
		case <-timeout:
			t.t.Fatalf("%q never came; on the screen is %q", text, t.Screen())
		}
	}
}

// Type types the answer to one question; "\r" is the enter key and "\x03"
// Ctrl-C.
func (t *Terminal) Type(text string) { t.typed <- text }

// Press presses keys at once, whatever the program does.
func (t *Terminal) Press(keys string) {
	t.t.Helper()
	if _, err := t.person.WriteString(keys); err != nil {
		t.t.Errorf("pressing %q: %v", keys, err)
	}
}

// HangUp closes the terminal, as a window that is closed or a connection that
// is lost. Nothing can be typed or read any more.
func (t *Terminal) HangUp() {
	t.t.Helper()
	if err := t.person.Close(); err != nil {
		t.t.Error(err)
	}
}

// State returns the terminal's state, for comparison.
func State(t testing.TB, side *os.File) term.State {
	t.Helper()
	state, err := term.GetState(int(side.Fd()))
	if err != nil {
		t.Fatal(err)
	}
	return *state
}
