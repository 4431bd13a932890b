// Package gomodule finds the Go modules that programs belong to.
package gomodule

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"golang.org/x/mod/modfile"

	"mara/config/files"
)

// Above returns the nearest directory, from own upward, that contains a file or directory of this
// name, or own if none does.
func Above(own, name string) (dir string, ok bool) {
	for dir := own; ; dir = filepath.Dir(dir) {
		if _, err := os.Stat(filepath.Join(dir, name)); err == nil {
			return dir, true
		}
		if dir == filepath.Dir(dir) {
			return own, false
		}
	}
}

// Of returns the directory of the module that a directory or a file belongs to, or the directory itself
// without a module.
func Of(source string) string {
	if info, err := os.Stat(source); err == nil && !info.IsDir() {
		source = filepath.Dir(source)
	}
	module, _ := Above(source, "go.mod")
	return module
}

// UsesOthers reports whether a module may be built with sources that are neither below its
// directory nor pinned by go.sum. An unreadable go.mod counts as such.
func UsesOthers(module string) bool {
	if _, workspace := Above(module, "go.work"); workspace {
		return true
	}
	path := filepath.Join(module, "go.mod")
	content, err := files.Read(path, files.Text)
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
