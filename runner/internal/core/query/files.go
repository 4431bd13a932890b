package query

import (
	"embed"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"mara/config/files"
)

// File is a jq file of the user or of the runner.
type File struct {
	Name   string // without .jq
	Path   string // "" for a shipped file
	Source string
	Err    error // why it cannot be read
}

// Files lists the files in the user's directory, if it exists, and then the shipped files that
// they do not override by name. The directory may be "".
func Files(dir string, shipped embed.FS, below string) ([]File, error) {
	var all []File
	if dir != "" {
		own, err := filesIn(os.DirFS(dir), func(name string) ([]byte, error) {
			return files.ReadCommitted(filepath.Join(dir, name), files.Text)
		})
		if err != nil {
			return nil, err
		}
		for _, file := range own {
			file.Path = filepath.Join(dir, file.Name+".jq")
			all = append(all, file)
		}
	}
	ours, err := filesOf(shipped, below)
	if err != nil {
		return nil, err
	}
	for _, file := range ours {
		if !slices.ContainsFunc(all, func(own File) bool { return own.Name == file.Name && own.Err == nil }) {
			all = append(all, file)
		}
	}
	return all, nil
}

func filesOf(shipped embed.FS, below string) ([]File, error) {
	dir, err := fs.Sub(shipped, below)
	if err != nil {
		return nil, err
	}
	return filesIn(dir, func(name string) ([]byte, error) { return fs.ReadFile(dir, name) })
}

func filesIn(dir fs.FS, read func(name string) ([]byte, error)) ([]File, error) {
	entries, err := fs.ReadDir(dir, ".")
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err // an unreadable directory is not an empty one
	}
	var all []File
	for _, entry := range entries {
		name, isQuery := strings.CutSuffix(entry.Name(), ".jq")
		if !isQuery {
			continue
		}
		source, err := read(entry.Name())
		all = append(all, File{Name: name, Source: string(source), Err: err})
	}
	return all, nil
}
