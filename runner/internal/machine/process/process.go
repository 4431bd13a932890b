// Package process finds, starts and ends other programs. Each leads its own process
// group: a Ctrl-C on the terminal reaches only the runner, and a process can be ended
// together with its children.
//
// The files for each operating system hold what differs between them.
package process

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"

	"mara/config/lists"
)

// Environ returns the variables as sorted NAME=VALUE strings.
func Environ(variables map[string]string) []string {
	return lists.Map(lists.Keys(variables), func(name string) string { return name + "=" + variables[name] })
}

// Find finds a program by its name on path, which need not be this process's PATH,
// or by its file, which may be relative to dir.
func Find(name, dir, path string) (string, error) {
	if strings.ContainsRune(name, '/') || strings.ContainsRune(name, filepath.Separator) {
		file := name
		if !filepath.IsAbs(file) {
			file = filepath.Join(dir, file)
		}
		found, err := exec.LookPath(file)
		if errors.Is(err, fs.ErrPermission) {
			return "", fmt.Errorf("%s is not executable: `chmod +x %s`", file, file)
		}
		if err != nil {
			return "", fmt.Errorf("there is no program %s", file)
		}
		return found, nil
	}
	for _, directory := range filepath.SplitList(path) {
		file := filepath.Join(directory, name)
		if found, err := exec.LookPath(file); err == nil && filepath.IsAbs(found) {
			return found, nil
		}
	}
	return "", fmt.Errorf("there is no %s on the PATH", name)
}

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
