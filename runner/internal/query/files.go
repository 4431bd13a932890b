package query

import (
	"embed"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// File is a file with jq, in a folder of users or in the runner.
type File struct {
	Name   string // without .jq
	Path   string // "" for one that ships with the runner
	Source string
	Err    error // why it cannot be read
}

// Files are those in a folder, which may be missing, and then those that ship with
// the runner, except where a file in the folder has the same name. "" is no
// folder.
func Files(folder string, shipped embed.FS, below string) ([]File, error) {
	var all []File
	if folder != "" {
		own, err := filesIn(os.DirFS(folder), ".")
		if err != nil {
			return nil, err
		}
		for _, file := range own {
			file.Path = filepath.Join(folder, file.Name+".jq")
			all = append(all, file)
		}
	}
	ours, err := filesIn(shipped, below)
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

func filesIn(folder fs.FS, below string) ([]File, error) {
	folder, err := fs.Sub(folder, below)
	if err != nil {
		return nil, err
	}
	entries, err := fs.ReadDir(folder, ".")
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err // whatever is in it must not pass for nothing
	}
	var all []File
	for _, entry := range entries {
		name, isQuery := strings.CutSuffix(entry.Name(), ".jq")
		if !isQuery {
			continue
		}
		source, err := fs.ReadFile(folder, entry.Name())
		all = append(all, File{Name: name, Source: string(source), Err: err})
	}
	return all, nil
}
