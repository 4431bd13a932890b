package process

import (
	"bytes"
	"strings"
	"sync"
)

// Lines is a writer that tells each line that is written to it, such as the output
// of a program. Blank lines are left out.
type Lines struct {
	Tell func(line string) // without its end

	mu   sync.Mutex // guards rest
	rest []byte
}

// Write implements io.Writer.
func (l *Lines) Write(text []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.rest = append(l.rest, text...)
	for {
		line, rest, whole := bytes.Cut(l.rest, []byte("\n"))
		if !whole {
			return len(text), nil
		}
		l.rest = bytes.Clone(rest)
		l.tell(line)
	}
}

// Close tells a last line without an end.
func (l *Lines) Close() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.tell(l.rest)
	l.rest = nil
}

func (l *Lines) tell(text []byte) {
	if line := strings.TrimRight(string(text), "\r\n"); strings.TrimSpace(line) != "" {
		l.Tell(line)
	}
}
