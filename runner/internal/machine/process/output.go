package process

import (
	"bytes"
	"strings"
	"sync"
)

// mostOutput bounds what Output keeps.
const mostOutput = 16 * 1024

// Output keeps the beginning of what a process writes to its stderr, which is
// where the Go runtime reports a crash.
type Output struct {
	mu  sync.Mutex // guards buf
	buf bytes.Buffer
}

// Write implements io.Writer.
func (o *Output) Write(p []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if room := mostOutput - o.buf.Len(); room > 0 {
		o.buf.Write(p[:min(room, len(p))])
	}
	return len(p), nil
}

// Note returns the first line in parentheses, for the end of an error message.
func (o *Output) Note() string {
	o.mu.Lock()
	defer o.mu.Unlock()
	line, _, _ := strings.Cut(strings.TrimSpace(o.buf.String()), "\n")
	if line == "" {
		return ""
	}
	return " (" + line + ")"
}
