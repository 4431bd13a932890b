package process

import (
	"fmt"
	"os/exec"
	"path/filepath"
	"strings"
)

// Find finds a program by its name on path, which need not be this process's PATH,
// or by its file, which may be relative to dir.
func Find(name, dir, path string) (string, error) {
	if strings.ContainsRune(name, '/') || strings.ContainsRune(name, filepath.Separator) {
		file := name
		if !filepath.IsAbs(file) {
			file = filepath.Join(dir, file)
		}
		found, err := exec.LookPath(file)
		if err != nil {
			return "", fmt.Errorf("there is no program %s", file)
		}
		return found, nil
	}
	for _, directory := range filepath.SplitList(path) {
		file := filepath.Join(directory, name)
		if found, err := exec.LookPath(file); err == nil && filepath.IsAbs(found) {
			return found, nil
		}
	}
	return "", fmt.Errorf("there is no %s on the PATH", name)
}
