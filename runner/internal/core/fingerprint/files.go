package fingerprint

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"fmt"
	"hash"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// ErrTooMuch is the error for directories with more files than are looked at.
var ErrTooMuch = errors.New("too many files to tell whether they have changed")

const (
	// mostFiles is how many files of one directory are looked at.
	mostFiles = 20_000
	// wholeFile is the size up to which the content of a file counts. Larger files
	// are compared by size and time.
	wholeFile = 256 << 10
	// searched is the size up to which a file is searched for the names of variables. A larger one may name any.
	searched = 64 << 20
)

// stats returns path, size and time of files, links followed.
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

// named digests the files and directories that values of the configuration name:
// what is in them counts as the value itself.
func (b Basis) named(config map[string]any, source *Source) (*tree, error) {
	bases := append([]string{b.Root}, b.Directories...)
	if source != nil {
		bases = append(bases, source.Dir)
	}
	found := newTree(b.Root, b.Contents)
	for _, text := range texts(config) {
		for _, path := range candidates(text, bases) {
			if err := found.addNamed(path, b.Root); err != nil {
				return nil, err
			}
		}
	}
	return found, nil
}

// isKept reports whether a directory is Git's or the runner's own, which change
// with every command.
func isKept(path string) bool {
	name := filepath.Base(path)
	return name == ".git" || name == ".runner"
}

// candidates returns the paths that a string may stand for.
func candidates(text string, bases []string) []string {
	if text == "" || len(text) > 4096 || strings.ContainsAny(text, "\x00\n") {
		return nil
	}
	if filepath.IsAbs(text) {
		return []string{filepath.Clean(text)}
	}
	var all []string
	for _, directory := range bases {
		if path := filepath.Join(directory, text); path != filepath.Clean(directory) {
			all = append(all, path)
		}
	}
	return all
}

// texts returns all texts in a value, however deep.
func texts(value any) (found []string) {
	switch value := value.(type) {
	case string:
		return []string{value}
	case []any:
		for _, item := range value {
			found = append(found, texts(item)...)
		}
	case map[string]any:
		for _, item := range value {
			found = append(found, texts(item)...)
		}
	}
	return found
}

// tree digests files, each once.
type tree struct {
	root     string // of the repository; links followed
	files    map[string]string
	variable []string        // volatile variables to look for
	names    map[string]bool // of the variables that were found
	contents bool            // large files count by their content, too
	places   []place         // where files would count that are not there
}

func newTree(root string, contents bool, variables ...string) *tree {
	if resolved, err := filepath.EvalSymlinks(root); err == nil {
		root = resolved
	}
	return &tree{root, map[string]string{}, variables, map[string]bool{}, contents, nil}
}

// content returns a line for each file, sorted. Files of the repository have the path below its root, so that
// clones of one repository have the same content.
func (t *tree) content() []byte {
	var text bytes.Buffer
	for _, path := range slices.Sorted(maps.Keys(t.files)) {
		fmt.Fprintf(&text, "%q %s\n", t.shown(path), t.files[path])
	}
	return text.Bytes()
}

// shown returns the path of a file below the root of the repository, or its whole path.
func (t *tree) shown(path string) string {
	if isBelow(path, t.root) {
		path, _ = filepath.Rel(t.root, path)
	}
	return filepath.ToSlash(path)
}

// addNamed adds a path that a value names, if it exists. A directory counts only
// below the root: "/" and "/tmp" are ordinary values, and mean a directory in a
// container or on another machine.
func (t *tree) addNamed(path, root string) error {
	info, err := os.Stat(path)
	if err != nil || !info.Mode().IsRegular() && (!info.IsDir() || !isBelow(path, root)) {
		if err != nil && isBelow(path, root) {
			t.places = append(t.places, place{t.resolved(path, root), isKept})
		}
		return nil // it is no path, or none of this repository
	}
	return t.add(path, isKept)
}

// resolved returns a path below the root as it is if links on the way to the root are followed.
func (t *tree) resolved(path, root string) string {
	relative, err := filepath.Rel(root, path)
	if err != nil {
		return path
	}
	return filepath.Join(t.root, relative)
}

// add adds a file, or all files below a directory except those in directories that
// isOutside names, and files that it names.
func (t *tree) add(root string, isOutside func(path string) bool) error {
	if resolved, err := filepath.EvalSymlinks(root); err == nil {
		root = resolved
	}
	t.places = append(t.places, place{root, isOutside})
	count := 0
	return filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case path != root && isOutside(path):
			if entry.IsDir() {
				return fs.SkipDir
			}
			return nil
		case entry.IsDir():
			return nil
		}
		if count++; count > mostFiles {
			return fmt.Errorf("%s: %w", root, ErrTooMuch)
		}
		return t.addFile(path, entry)
	})
}

// addFile adds one file. A link counts as where it leads to, and as the file there.
func (t *tree) addFile(path string, entry fs.DirEntry) error {
	if _, ok := t.files[path]; ok {
		return nil
	}
	info, err := entry.Info()
	if err != nil {
		return err
	}
	link := ""
	if info.Mode()&fs.ModeSymlink != 0 {
		if link, info, err = follow(path); err != nil {
			return err
		}
	}
	content, err := t.describe(path, info)
	if err == nil && link+content != "" {
		t.files[path] = link + content
	}
	return err
}

// follow returns the target of a link and what is there; nil where it leads nowhere.
func follow(path string) (string, fs.FileInfo, error) {
	target, err := os.Readlink(path)
	if err != nil {
		return "", nil, err
	}
	info, err := os.Stat(path)
	if err != nil {
		return "-> " + target, nil, nil
	}
	if info.IsDir() {
		return "", nil, fmt.Errorf("%s is a link to a directory: %w", path, ErrTooMuch)
	}
	return "-> " + target + " ", info, nil
}

// describe returns mode and digest of a regular file, or size and time of a large one.
func (t *tree) describe(path string, info fs.FileInfo) (string, error) {
	if info == nil || !info.Mode().IsRegular() {
		return "", nil
	}
	sum := sha256.New()
	isWhole := info.Size() <= wholeFile || t.contents
	if err := t.scan(path, info.Size(), isWhole, sum); err != nil {
		return "", err
	}
	if !isWhole {
		return fmt.Sprintf("%v %d %d", info.Mode(), info.Size(), info.ModTime().UnixNano()), nil
	}
	return fmt.Sprintf("%v %x", info.Mode(), sum.Sum(nil)), nil
}

// scan notes which variables a file names, and writes it to sum if its content counts.
func (t *tree) scan(path string, size int64, isWhole bool, sum hash.Hash) error {
	missing := slices.DeleteFunc(slices.Clone(t.variable), func(name string) bool { return t.names[name] })
	if size > searched {
		for _, name := range missing {
			t.names[name] = true
		}
		missing = nil
	}
	if len(missing) == 0 && !isWhole {
		return nil
	}
	file, err := os.Open(path)
	if err != nil {
		return err
	}
	defer file.Close()
	overlap := 0 // of two pieces, so that a name across their border is found
	for _, name := range missing {
		overlap = max(overlap, len(name)-1)
	}
	buffer := make([]byte, overlap+int(min(size+1, 1<<20)))
	kept := 0
	for {
		n, err := io.ReadFull(file, buffer[kept:])
		sum.Write(buffer[kept : kept+n])
		piece := buffer[:kept+n]
		for _, name := range missing {
			if !t.names[name] && bytes.Contains(piece, []byte(name)) {
				t.names[name] = true
			}
		}
		if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
			return nil
		}
		if err != nil {
			return err
		}
		kept = copy(buffer, piece[len(piece)-overlap:])
	}
}

func isBelow(path, directory string) bool {
	relative, err := filepath.Rel(directory, path)
	return err == nil && filepath.IsLocal(relative)
}
