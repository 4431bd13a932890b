package journal

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
)

const outputsFile = "outputs.json"

// Outputs are the outputs of projects, by project and name. They have no secret
// values: a placeholder says that a value is secret.
type Outputs map[string]map[string]any

// KeepOutputs puts the outputs beside the run; none leave no file.
func (j *Journal) KeepOutputs(outputs Outputs) error {
	if len(outputs) == 0 {
		return nil
	}
	return writeJSON(filepath.Join(j.dir, outputsFile), outputs)
}

// Outputs reads the stored outputs; none if the run reported no outputs.
func (r Run) Outputs() (Outputs, error) {
	var outputs Outputs
	err := readJSON(filepath.Join(r.Dir, outputsFile), &outputs)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("reading run %s: %s: %w", r.ID, outputsFile, err)
	}
	return outputs, nil
}
