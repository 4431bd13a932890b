package layout

import (
	"path/filepath"
	"strings"

	"mara/runner/internal/machine/failure"
)

// CheckLinks returns an error if a directory that the runner writes to is a symbolic
// link that leads out of the root. A repository can contain such links.
func CheckLinks(root string) error {
	resolved, err := filepath.EvalSymlinks(root)
	if err != nil {
		return nil // the code that reads the root reports it
	}
	below := strings.TrimSuffix(resolved, string(filepath.Separator)) + string(filepath.Separator)
	for _, name := range []string{
		"config", "config/pulumi", "config/pulumi/secrets", "config/environments", "config/layers",
		".runner", ".runner/state", ".runner/simulated",
	} {
		target, err := filepath.EvalSymlinks(filepath.Join(root, filepath.FromSlash(name)))
		if err != nil || target == resolved || strings.HasPrefix(target, below) {
			continue // it is missing, or below the root
		}
		return &failure.Environment{
			Text: name + " is a link to " + target + ", which is not below the root, and the runner would write there",
			Next: "make it a directory; states can be elsewhere with PULUMI_BACKEND_URL",
		}
	}
	return nil
}
