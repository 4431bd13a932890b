package config

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
)

// Unread returns a problem for each file or directory below a root that nearly has the name of one that is read:
// another ending, capitals, one letter. A guard whose file has such a name would be no guard. A name with a slash at
// its end is a directory's; it is only missed if files with one of the endings are in it.
func Unread(root string, names []string, endings ...string) (problems []Problem) {
	for _, name := range names {
		wanted := strings.TrimSuffix(name, "/")
		entries, _ := os.ReadDir(filepath.Join(root, filepath.FromSlash(path.Dir(wanted)))) // missing, or another's to report
		for _, entry := range entries {
			file := path.Join(path.Dir(wanted), entry.Name())
			isMeant := isNear(entry.Name(), path.Base(wanted))
			switch {
			case !isMeant:
			case wanted == name && !entry.IsDir():
				why := "because of its name"
				if strings.HasSuffix(file, ".yml") {
					why = "because its name ends in .yml"
				}
				problems = append(problems, Problem{File: file, Text: "is not read, " + why + "; rename it to " + wanted})
			case wanted != name && entry.IsDir() && hasFiles(filepath.Join(root, filepath.FromSlash(file)), endings):
				text := "is not read, because of its name; rename the directory to " + wanted
				problems = append(problems, Problem{File: file, Text: text})
			}
		}
	}
	return problems
}

// isNear reports whether a name is not another one, but was certainly meant to be.
func isNear(name, wanted string) bool {
	if name == wanted {
		return false
	}
	a, b := stem(name), stem(wanted)
	const long = 6 // from which one letter does not make another word
	sameEnding := path.Ext(wanted) == strings.ReplaceAll(path.Ext(name), "yml", "yaml")
	return a == b || len(b) >= long && sameEnding && editDistance(a, b) == 1
}

// stem returns a name in small letters, without the ending of YAML and the one of a plural.
func stem(name string) string {
	name = strings.ToLower(name)
	for _, ending := range []string{".yaml", ".yml"} {
		name = strings.TrimSuffix(name, ending)
	}
	if singular, ok := strings.CutSuffix(name, "ies"); ok {
		return singular + "y"
	}
	return strings.TrimSuffix(name, "s")
}

// hasFiles reports whether a directory has files with one of the endings, at any depth of two.
func hasFiles(dir string, endings []string) bool {
	for _, pattern := range []string{"*", "*/*"} {
		files, _ := filepath.Glob(filepath.Join(dir, pattern))
		if slices.ContainsFunc(files, func(file string) bool { return slices.Contains(endings, path.Ext(file)) }) {
			return true
		}
	}
	return false
}

// UnreadIn returns a problem for each file with an ending that is not directly in a directory, or has the ending in
// capitals: only DIRECTORY/*ENDING is read. It reports a directory that is a link to nowhere as well.
func UnreadIn(root, directory, ending string) (problems []Problem) {
	top := filepath.Join(root, filepath.FromSlash(directory))
	if _, err := readFile(top); err != nil && isDangling(top) {
		return []Problem{{File: directory, Text: reason(err)}}
	}
	_ = filepath.WalkDir(top, func(file string, entry fs.DirEntry, err error) error {
		if err != nil {
			return nil // another's to report
		}
		below, relErr := filepath.Rel(top, file)
		below = filepath.ToSlash(below)
		name := path.Base(below)
		isRead := below == name && path.Ext(name) == ending
		isMeant := !entry.IsDir() && !strings.HasPrefix(name, ".") && strings.EqualFold(path.Ext(name), ending)
		if relErr != nil || isRead || !isMeant {
			return nil
		}
		want := strings.TrimSuffix(name, path.Ext(name)) + ending
		problems = append(problems, Problem{File: path.Join(directory, below),
			Text: fmt.Sprintf("is not read: only %s/*%s is; rename it to %s", directory, ending, path.Join(directory, want))})
		return nil
	})
	return problems
}

// isDangling reports whether a path is a link to something that is not there.
func isDangling(name string) bool {
	_, err := os.Stat(name)
	info, linkErr := os.Lstat(name)
	return errors.Is(err, fs.ErrNotExist) && linkErr == nil && info.Mode()&fs.ModeSymlink != 0
}
