// Package files reads what a repository names. A stranger may have written it: links to devices, pipes and endless files
// must not hang the runner or fill its memory.
package files

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"syscall"
)

// The sizes up to which files are read, by their kind.
const (
	Text    = 8 << 20   // what people write: YAML, rules, queries, programs
	Data    = 512 << 20 // what tools write: plans, schemas, lock files
	State   = 4 << 30   // states, which may be large
	Summary = 64 << 20  // records of runs
)

// Read reads a regular file of up to most bytes, links followed. It reports a dangling link as an error, not as a missing
// file. Its errors are of the type *fs.PathError.
func Read(path string, most int64) ([]byte, error) {
	file, size, err := Open(path)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	if size > most {
		return nil, tooLarge(path, size, most)
	}
	content := make([]byte, 0, size+1)
	for { // as io.ReadAll does, with room for what is expected
		if len(content) == cap(content) {
			content = append(content, 0)[:len(content)]
		}
		n, err := file.Read(content[len(content):cap(content)])
		content = content[:len(content)+n]
		switch {
		case int64(len(content)) > most: // it grows, or does not tell its size
			return nil, tooLarge(path, int64(len(content)), most)
		case errors.Is(err, io.EOF):
			return content, nil
		case err != nil:
			return nil, err
		}
	}
}

// Open opens a regular file to read it, and returns its size. It waits for nobody: a pipe without a writer is refused.
func Open(path string) (*os.File, int64, error) {
	file, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if target, link := os.Readlink(path); link == nil && errors.Is(err, fs.ErrNotExist) {
		return nil, 0, wrong(path, "is a link to %s, which does not exist", target)
	}
	if errors.Is(err, syscall.ENXIO) {
		return nil, 0, wrong(path, "is a socket, not a file")
	}
	if err != nil {
		return nil, 0, err
	}
	info, err := file.Stat()
	switch {
	case err != nil:
	case info.IsDir():
		err = wrong(path, "is a directory")
	case !info.Mode().IsRegular():
		err = wrong(path, "is a %s, not a file", kindOf(info.Mode()))
	}
	if err != nil {
		file.Close()
		return nil, 0, err
	}
	return file, info.Size(), nil
}

// kindOf names what is no regular file.
func kindOf(mode fs.FileMode) string {
	switch {
	case mode&fs.ModeNamedPipe != 0:
		return "pipe"
	case mode&fs.ModeSocket != 0:
		return "socket"
	}
	return "device"
}

func tooLarge(path string, size, most int64) error {
	if most < 1<<20 {
		return wrong(path, "has %d bytes or more; up to %d are read", size, most)
	}
	return wrong(path, "has %d MiB or more; up to %d MiB are read", size>>20, most>>20)
}

func wrong(path, format string, args ...any) error {
	return &fs.PathError{Op: "reading", Path: path, Err: fmt.Errorf(format, args...)}
}
