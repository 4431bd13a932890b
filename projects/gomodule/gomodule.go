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

// Above returns the nearest folder, from own upward, that contains a file or folder of this
// name, or own if none does.
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

// Of returns the folder of the module that a folder or a file belongs to, or the folder itself
// without a module.
func Of(source string) string {
	if info, err := os.Stat(source); err == nil && !info.IsDir() {
		source = filepath.Dir(source)
	}
	module, _ := Above(source, "go.mod")
	return module
}

// UsesOthers reports whether a module may be built with sources that are neither below its
// folder nor pinned by go.sum. An unreadable go.mod counts as such.
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
