package files

import (
	"os"
	"path/filepath"
	"strings"
)

// LinksVariable names directories outside of a repository to which its links may lead. Only the process can set it: a
// repository must not allow its own links.
const LinksVariable = "RUNNER_LINKS"

// ReadCommitted reads as Read does a file that a repository may have brought with it. A link that leads out of the
// repository is an error: a stranger's could lead to a file of the user, and what is read here is shown.
func ReadCommitted(path string, most int64) ([]byte, error) {
	if err := staysInside(path); err != nil {
		return nil, err
	}
	return Read(path, most)
}

func staysInside(path string) error {
	absolute, err := filepath.Abs(path)
	if err != nil {
		return nil //nolint:nilerr // who reads the file reports it
	}
	target, err := filepath.EvalSymlinks(absolute)
	if err != nil || target == absolute {
		return nil //nolint:nilerr // who reads the file reports it
	}
	top := repositoryOf(filepath.Dir(absolute))
	if top == "" || isIn(target, top) {
		return nil
	}
	for _, allowed := range filepath.SplitList(os.Getenv(LinksVariable)) {
		if filepath.IsAbs(allowed) && isIn(target, allowed) {
			return nil
		}
	}
	return wrong(path, "is a link to %s, which is outside of %s: the link of a repository is followed inside of it only; if "+
		"this one is yours, set %s=%s", target, top, LinksVariable, filepath.Dir(target))
}

// isIn reports whether a path without links is in a directory.
func isIn(path, directory string) bool {
	if resolved, err := filepath.EvalSymlinks(directory); err == nil {
		directory = resolved
	}
	below, err := filepath.Rel(directory, path)
	return err == nil && filepath.IsLocal(below)
}

// repositoryOf returns the outermost directory around a directory that looks like a repository, or "". A home is none: with
// its settings in git it would be around everything.
func repositoryOf(directory string) (top string) {
	home, _ := os.UserHomeDir()
	for ; directory != filepath.Dir(directory); directory = filepath.Dir(directory) {
		if home != "" && strings.HasPrefix(home+string(filepath.Separator), directory+string(filepath.Separator)) {
			return top
		}
		for _, mark := range []string{".git", "mara.yaml", "config/pulumi", "Pulumi.yaml"} {
			if _, err := os.Lstat(filepath.Join(directory, filepath.FromSlash(mark))); err == nil {
				top = directory
			}
		}
	}
	return top
}
