// Package gomodule finds the Go modules that programs belong to.
package gomodule

import (
	"os"
	"path/filepath"
	"strings"
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
// below its folder nor pinned by go.sum.
func UsesOthers(module string) bool {
	_, workspace := Above(module, "go.work")
	content, _ := os.ReadFile(filepath.Join(module, "go.mod"))
	return workspace || strings.Contains(string(content), "=> .") || strings.Contains(string(content), "=> /")
}
