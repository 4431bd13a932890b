package fingerprint

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// ErrTooMuch is the error for folders with more files than are looked at.
var ErrTooMuch = errors.New("too many files to tell whether they have changed")

const (
	// mostFiles is how many files of one folder are looked at.
	mostFiles = 20_000
	// wholeFile is up to which size the content of a file counts; larger ones are
	// told apart by size and time.
	wholeFile = 256 << 10
)

// stats are path, size and time of files, links followed.
func stats(paths []string) ([]byte, error) {
	var text bytes.Buffer
	for _, path := range paths {
		info, err := os.Stat(path)
		if err != nil {
			return nil, err
		}
		fmt.Fprintf(&text, "%q %d %d\n", path, info.Size(), info.ModTime().UnixNano())
	}
	return text.Bytes(), nil
}

// named are the files and folders that values of the configuration name: what is
// in them counts as the value itself.
func (b Basis) named(config map[string]any) ([]byte, error) {
	var text bytes.Buffer
	for _, path := range slices.Sorted(b.paths(config)) {
		if err := addTree(&text, path, isHidden); err != nil {
			return nil, err
		}
	}
	return text.Bytes(), nil
}

// isHidden says of folders that hold nothing of a program: hidden ones, and what
// package managers have installed, which their lock files name.
func isHidden(path string) bool {
	name := filepath.Base(path)
	return strings.HasPrefix(name, ".") || name == "node_modules" || name == "__pycache__"
}

// paths yields the paths that exist among the texts in a value.
func (b Basis) paths(value any) func(yield func(string) bool) {
	return func(yield func(string) bool) {
		for text := range texts(value) {
			for _, path := range b.candidates(text) {
				if _, err := os.Stat(path); err == nil && !yield(path) {
					return
				}
			}
		}
	}
}

// candidates are the paths that a text may stand for.
func (b Basis) candidates(text string) []string {
	if text == "" || len(text) > 4096 || strings.ContainsAny(text, "\x00\n") {
		return nil
	}
	if filepath.IsAbs(text) {
		return []string{filepath.Clean(text)}
	}
	var all []string
	for _, folder := range append([]string{b.Root}, b.Folders...) {
		if path := filepath.Join(folder, text); path != filepath.Clean(folder) {
			all = append(all, path)
		}
	}
	return all
}

// texts yields all texts in a value, however deep.
func texts(value any) func(yield func(string) bool) {
	return func(yield func(string) bool) { walkTexts(value, yield) }
}

func walkTexts(value any, yield func(string) bool) bool {
	switch value := value.(type) {
	case string:
		return yield(value)
	case []any:
		for _, item := range value {
			if !walkTexts(item, yield) {
				return false
			}
		}
	case map[string]any:
		for _, item := range value {
			if !walkTexts(item, yield) {
				return false
			}
		}
	}
	return true
}

// addTree adds a file, or all files below a folder but those in folders that
// isOutside names.
func addTree(text *bytes.Buffer, root string, isOutside func(path string) bool) error {
	if resolved, err := filepath.EvalSymlinks(root); err == nil {
		root = resolved
	}
	count := 0
	return filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case entry.IsDir() && path != root && isOutside(path):
			return fs.SkipDir
		case entry.IsDir():
			return nil
		}
		if count++; count > mostFiles {
			return fmt.Errorf("%s: %w", root, ErrTooMuch)
		}
		return addFile(text, path, entry)
	})
}

// addFile adds one file. A link counts as where it leads to; what is behind it
// is a file of somebody's own, or a folder that is looked at as its size and time.
func addFile(text *bytes.Buffer, path string, entry fs.DirEntry) error {
	info, err := entry.Info()
	if err != nil {
		return err
	}
	if info.Mode()&fs.ModeSymlink != 0 {
		target, err := os.Readlink(path)
		if err != nil {
			return err
		}
		fmt.Fprintf(text, "%q -> %q\n", path, target)
		behind, err := os.Stat(path)
		if err != nil { // it leads nowhere
			return nil
		}
		if behind.IsDir() {
			return fmt.Errorf("%s is a link to a folder: %w", path, ErrTooMuch)
		}
		info = behind
	}
	if !info.Mode().IsRegular() {
		return nil
	}
	if info.Size() > wholeFile {
		fmt.Fprintf(text, "%q %v %d %d\n", path, info.Mode(), info.Size(), info.ModTime().UnixNano())
		return nil
	}
	content, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	fmt.Fprintf(text, "%q %v %x\n", path, info.Mode(), sha256.Sum256(content))
	return nil
}
