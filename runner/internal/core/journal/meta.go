package journal

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"

	"mara/projects/model/operation"
	"mara/runner/internal/core/event"
	"mara/runner/internal/core/fingerprint"
)

// MetaFormat is the version of meta.json. It grows when a field changes its
// meaning or goes away.
const MetaFormat = 1

// Meta is what is known about a run before its first event, and is no event:
// who runs it, and what it stands on. It holds no secrets.
type Meta struct {
	Format    int                 `json:"format"` // set by Create
	Operation operation.Operation `json:"operation"`
	Environment
	Simulated bool `json:"simulated,omitempty"`
	// Selection are the flags that chose the projects, for people to read.
	Selection []string `json:"selection,omitempty"`
	// Resumes is the ID of the run that this run resumes.
	Resumes string `json:"resumes,omitempty"`
	// Rollout is the id of the run on many environments that this one was a part of.
	Rollout string `json:"rollout,omitempty"`
	// Force is true where projects ran that had not changed; what resumes the run does the same.
	Force bool `json:"force,omitempty"`
	// Limited is true where only some resources of a project were touched. Nothing resumes such a run.
	Limited bool `json:"limited,omitempty"`
	// Commit is what the root was at in git, marked if files differed from it.
	Commit string `json:"commit,omitempty"`
	// Message says why it was run.
	Message string `json:"message,omitempty"`
	// Fingerprint is that of the configuration.
	Fingerprint fingerprint.Fingerprint `json:"fingerprint,omitempty"`

	User   string `json:"user"`
	Host   string `json:"host"`
	PID    int    `json:"pid"`
	Runner string `json:"runner"` // version
}

// Origin returns who runs it, at which commit and why, as far as that is known.
func (m Meta) Origin() event.Origin {
	o := event.Origin{Commit: m.Commit, Message: m.Message}
	if m.User != "" {
		o.By = m.User + "@" + m.Host
	}
	return o
}

// Environment names what runs are about: a run resumes only an earlier run of the
// same environment.
type Environment struct {
	Provider string `json:"provider"`
	Stack    string `json:"stack"`
}

// Has says whether a run was about the environment.
func (e Environment) Has(run *event.Summary) bool {
	return run.Provider == e.Provider && run.Stack == e.Stack
}

// String returns provider and stack.
func (e Environment) String() string { return e.Provider + "/" + e.Stack }

// Meta returns what was known about the run when it began. It is zero for a run
// that was killed before it could write that down; such a run has done nothing.
func (r Run) Meta() (Meta, error) {
	var m Meta
	err := r.read(metaFile, &m)
	if err == nil && m.Format > MetaFormat {
		err = fmt.Errorf("reading run %s: %s: format %d is newer than %d, which this runner reads; use a newer runner", r.ID,
			metaFile, m.Format, MetaFormat)
	}
	if err != nil {
		return Meta{}, err
	}
	return m, nil
}

const outputsFile = "outputs.json"

// Outputs are the outputs of projects, by project and name. They have no secret
// values: a placeholder says that a value is secret.
type Outputs map[string]map[string]any

// KeepOutputs stores the outputs in the directory of the run. Without outputs it writes no file.
func (j *Journal) KeepOutputs(outputs Outputs) error {
	if len(outputs) == 0 {
		return nil
	}
	return writeJSON(filepath.Join(j.dir, outputsFile), outputs)
}

// Outputs reads the stored outputs; none if the run reported no outputs.
func (r Run) Outputs() (Outputs, error) {
	var outputs Outputs
	err := r.read(outputsFile, &outputs)
	return outputs, err
}

// read reads a JSON file of the run, which may be missing.
func (r Run) read(name string, into any) error {
	if err := readJSON(r.Dir, name, into); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("reading run %s: %s: %w", r.ID, name, err)
	}
	return nil
}
