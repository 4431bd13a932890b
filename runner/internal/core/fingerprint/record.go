package fingerprint

import (
	"encoding/json"
	"path/filepath"

	"mara/config/files"
	"mara/runner/internal/machine/atomicfile"
)

// format is the version of a record. One of another version does not count.
const format = 2

// Record is what the last success of a project depended on, and what it has left.
type Record struct {
	Format int `json:"format"`
	// Run is the run in which the project ran; "" if it must run again in any case.
	Run string `json:"run,omitempty"`
	// Done is the run in which the project ran, even if Run is empty. A resumed run skips projects that were
	// done while the parts are the same. Without parts nothing can be compared.
	Done  string      `json:"done,omitempty"`
	Parts Fingerprint `json:"parts,omitempty"`
	State string      `json:"state"` // digest of the state
	// Variables are hints by which a variable that has changed is named.
	Variables map[string]string `json:"variables,omitempty"`
	// Details are hints by which a file, a key or an output that has changed is named.
	Details map[string]string `json:"details,omitempty"`
	// Again says why the project must run again in any case.
	Again string `json:"again,omitempty"`
	// OutputsDigest is a digest of the outputs in that state, secrets included. It
	// stays the same when unchanged secrets are encrypted anew.
	OutputsDigest string `json:"outputsDigest"`
	// Outputs are the outputs that the run has reported, without secrets.
	Outputs map[string]any `json:"outputs,omitempty"`
}

// Records is the directory with the records of an environment.
type Records string

func (r Records) file(project string) string {
	return filepath.Join(string(r), project+".json")
}

// Load reads the record of a project. An unreadable record counts as
// missing: the project is run.
func (r Records) Load(project string) (Record, bool) {
	content, err := files.Read(r.file(project), files.Data)
	if err != nil {
		return Record{}, false
	}
	var record Record
	if json.Unmarshal(content, &record) != nil || record.Format != format {
		return Record{}, false
	}
	return record, true
}

// Keep writes the record of a project.
func (r Records) Keep(project string, record Record) error {
	record.Format = format
	content, err := json.MarshalIndent(record, "", "  ")
	if err != nil {
		return err
	}
	return atomicfile.WriteDeep(r.file(project), append(content, '\n'), 0o600, 0o700)
}

// Invalidate makes the next up run a project. The record keeps the digest of the
// outputs, so that the readers of the project need not run as well.
func (r Records) Invalidate(project string) error {
	record, ok := r.Load(project)
	if !ok {
		return nil
	}
	record.Run, record.Done = "", ""
	return r.Keep(project, record)
}

// Forget removes the record of a project, before it is run: whatever becomes of
// that, the last success is not its last run any more.
func (r Records) Forget(project string) error { return atomicfile.Remove(r.file(project)) }
