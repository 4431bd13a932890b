package process

import (
	"bytes"
	"strings"
	"sync"
)

// Lines is a writer that calls Emit for each line written to it, such as the output
// of a program. It skips blank lines.
type Lines struct {
	Emit func(line string) // without its end

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
		l.emit(line)
	}
}

// Close emits a last line that has no end.
func (l *Lines) Close() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.emit(l.rest)
	l.rest = nil
}

func (l *Lines) emit(text []byte) {
	if line := strings.TrimRight(string(text), "\r\n"); strings.TrimSpace(line) != "" {
		l.Emit(line)
	}
}
