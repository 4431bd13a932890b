package adopt

import (
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"

	"mara/config"
)

// Find finds the projects below a root. What has a Pulumi.yaml and cannot be
// taken is told as unsure.
func Find(root string) (found []Found, unsure []string, err error) {
	err = filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case entry.IsDir() && path != root && skippedFolder(entry.Name()):
			return fs.SkipDir
		case entry.IsDir():
			return nil
		}
		relative, _ := filepath.Rel(root, filepath.Dir(path)) // it is below
		shown := filepath.ToSlash(relative)
		switch entry.Name() {
		case "Pulumi.yml", "Pulumi.json":
			unsure = append(unsure, fmt.Sprintf("%s is left out: the runner reads Pulumi.yaml; give it that name", filepath.ToSlash(filepath.Join(shown, entry.Name()))))
		case config.ManifestFile:
			manifest, err := config.ReadManifest(filepath.Dir(path), shown)
			if reason := unusable(manifest, err, found); reason != "" {
				unsure = append(unsure, fmt.Sprintf("%s is left out: %s", shown, reason))
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

// unusable says why a project cannot be adopted; "" if it can.
func unusable(manifest config.Manifest, err error, found []Found) string {
	if err != nil {
		return err.Error()
	}
	if strings.Contains(manifest.Name, "${") {
		return "it is a template"
	}
	if i := slices.IndexFunc(found, func(f Found) bool { return f.Name == manifest.Name }); i >= 0 {
		return fmt.Sprintf("it has the name %s, as %s has", manifest.Name, found[i].Path)
	}
	return ""
}
