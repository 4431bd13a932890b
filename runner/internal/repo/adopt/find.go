package adopt

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"

	"mara/config"
)

// Find finds the projects below a root. It reports projects that cannot be adopted as unsure.
func Find(root string) (found []Found, unsure []string, err error) {
	err = filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil:
			reason, err := unreadable(root, path, err)
			unsure = append(unsure, reason)
			return err
		case entry.IsDir() && path != root && skippedDir(entry.Name()):
			return fs.SkipDir
		case entry.IsDir():
			return nil
		}
		relative, _ := filepath.Rel(root, filepath.Dir(path)) // path is below root
		shown := filepath.ToSlash(relative)
		switch entry.Name() {
		case "Pulumi.yml", "Pulumi.json":
			unsure = append(unsure, fmt.Sprintf("%s is skipped: rename it to Pulumi.yaml",
				filepath.ToSlash(filepath.Join(shown, entry.Name()))))
		case config.ManifestFile:
			manifest, err := config.ReadManifest(filepath.Dir(path), shown)
			if reason := unusable(manifest, err, found); reason != "" {
				unsure = append(unsure, fmt.Sprintf("%s is skipped: %s", shown, reason))
				return nil
			}
			found = append(found, Found{Name: manifest.Name, Path: shown, Dir: filepath.Dir(path), Backend: manifest.Backend})
		}
		return nil
	})
	for i := range found {
		for _, other := range found {
			if strings.HasPrefix(other.Dir, found[i].Dir+string(filepath.Separator)) {
				found[i].Nested = append(found[i].Nested, other.Dir)
			}
		}
	}
	return found, unsure, err
}

// unreadable says that a directory, such as the data of a container, is skipped because it cannot be read. It returns
// the error if the directory is the root.
func unreadable(root, path string, err error) (string, error) {
	if path == root {
		return "", err
	}
	relative, _ := filepath.Rel(root, path) // path is below root
	if failed, ok := errors.AsType[*fs.PathError](err); ok {
		err = failed.Err
	}
	return fmt.Sprintf("%s is skipped, with any projects in it: it cannot be read (%v)", filepath.ToSlash(relative), err),
		nil
}

// unusable returns why a project cannot be adopted, or "".
func unusable(manifest config.Manifest, err error, found []Found) string {
	if err != nil {
		return err.Error()
	}
	if strings.Contains(manifest.Name, "${") {
		return "it is a template"
	}
	if i := slices.IndexFunc(found, func(f Found) bool { return f.Name == manifest.Name }); i >= 0 {
		return fmt.Sprintf("its name %s is also the name of %s", manifest.Name, found[i].Path)
	}
	return ""
}
