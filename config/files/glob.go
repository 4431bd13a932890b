package files

import (
	"io/fs"
	"os"
	"path"
	"path/filepath"
)

// Glob returns the paths below a directory that match a pattern with slashes, sorted. Unlike filepath.Glob of the joined
// path it takes no character of the directory's own name for a pattern.
func Glob(dir, pattern string) ([]string, error) {
	names, err := fs.Glob(os.DirFS(dir), path.Clean(filepath.ToSlash(pattern)))
	for i, name := range names {
		names[i] = filepath.Join(dir, filepath.FromSlash(name))
	}
	return names, err
}
