// Package gomodule finds the Go modules that programs belong to.
package gomodule

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"golang.org/x/mod/modfile"
)

// Above is the nearest folder, from one upward, that has something of a name; that
// folder itself where none has.
func Above(own, name string) (folder string, ok bool) {
	for folder := own; ; folder = filepath.Dir(folder) {
		if _, err := os.Stat(filepath.Join(folder, name)); err == nil {
			return folder, true
		}
		if folder == filepath.Dir(folder) {
			return own, false
		}
	}
}

// Of is the folder of the module that a folder or a file belongs to, else its own
// folder.
func Of(source string) string {
	if info, err := os.Stat(source); err == nil && !info.IsDir() {
		source = filepath.Dir(source)
	}
	module, _ := Above(source, "go.mod")
	return module
}

// UsesOthers reports whether a module may be built with sources that are neither
// below its folder nor pinned by go.sum. One whose go.mod cannot be read may.
func UsesOthers(module string) bool {
	if _, workspace := Above(module, "go.work"); workspace {
		return true
	}
	path := filepath.Join(module, "go.mod")
	content, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return false
	}
	if err != nil {
		return true
	}
	file, err := modfile.Parse(path, content, nil)
	if err != nil {
		return true
	}
	return slices.ContainsFunc(file.Replace, func(r *modfile.Replace) bool { return r.New.Version == "" })
}
