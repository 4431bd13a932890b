package request

import (
	"os"
	"path/filepath"

	"mara/config"
	"mara/runner/internal/machine/atomicfile"
	"mara/runner/internal/machine/failure"
)

// Write replaces a file below config/pulumi atomically, and creates its directory: a root may
// have only a mara.yaml. Only the user can read a new environment file, because it may
// contain credentials.
func Write(root, file string, content []byte) error {
	mode := os.FileMode(0o644)
	if file == config.EnvironmentFile {
		mode = 0o600
	}
	if err := atomicfile.WriteDeep(filepath.Join(root, file), content, mode, 0o755); err != nil {
		return &failure.Environment{Text: err.Error(), Next: "nothing was changed; " + failure.WriteRemedy(err,
			"the directory")}
	}
	return nil
}
