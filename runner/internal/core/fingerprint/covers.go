package fingerprint

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// Files are the files that a project consists of: those that its fingerprint is made of.
type Files struct{ tree *tree }

// place is a directory, or a file, all of which counts but for what isOutside names.
type place struct {
	path      string // links followed
	isOutside func(path string) bool
}

// ProgramFiles finds the files of a program.
func (s Source) ProgramFiles() (Files, error) {
	found := newTree(s.Root, false)
	return Files{found}, s.addAll(found)
}

// NamedFiles finds the files that values of a project's configuration name.
func (b Basis) NamedFiles(s Subject) (Files, error) {
	found, err := b.named(s.Config, s.Source)
	return Files{found}, err
}

// Has reports whether a file counts. One that does not exist any more counts where it would if it did.
func (f Files) Has(path string) bool {
	if _, counts := f.tree.files[path]; counts {
		return true
	}
	info, err := os.Lstat(path)
	if err == nil && !info.IsDir() {
		return false
	}
	if err == nil { // a repository in the repository, of which git names the directory
		for file := range f.tree.files {
			if strings.HasPrefix(file, path+string(filepath.Separator)) {
				return true
			}
		}
		return false
	}
	isThere := func(p place) bool { return isBelow(path, p.path) && !isOutsideOf(p, path) }
	return slices.ContainsFunc(f.tree.places, isThere)
}

// isOutsideOf reports whether a path below a place is, or is in, one of those that do not count.
func isOutsideOf(p place, path string) bool {
	for ; path != p.path; path = filepath.Dir(path) {
		if p.isOutside(path) {
			return true
		}
	}
	return false
}
