package record

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"time"

	"mara/config/files"
	"mara/runner/internal/core/event"
	"mara/runner/internal/core/session"
	"mara/runner/internal/machine/atomicfile"
	"mara/runner/internal/machine/layout"
	"mara/runner/internal/machine/typeset"
)

// driftFormat is the version of a stored result. A result of another version counts as none.
const driftFormat = 1

// Drift is the result of the last comparison of an environment with its cloud. The runs of the journal are pruned,
// this result stays. A later write makes it void.
type Drift struct {
	Format   int            `json:"format"`
	Run      string         `json:"run"`
	At       time.Time      `json:"at"`
	By       string         `json:"by,omitempty"`
	Whole    bool           `json:"whole"` // it was about all projects, and all could be compared
	Projects []ProjectDrift `json:"projects,omitempty"`
	Void     bool           `json:"-"` // something has been written since
}

// ProjectDrift is what differs in a project.
type ProjectDrift struct {
	Name        string             `json:"name"`
	Result      event.Result       `json:"result"`
	Changes     event.Changes      `json:"changes"`
	Differences []event.Difference `json:"differences,omitempty"`
	Error       string             `json:"error,omitempty"`
}

// Resources returns how many resources differ.
func (d *Drift) Resources() int {
	n := 0
	for _, p := range d.Projects {
		n += max(len(p.Differences), p.Changes.Total()-p.Changes.Same)
	}
	return n
}

// Counts reports whether the result says that the environment has drifted.
func (d *Drift) Counts() bool { return d != nil && !d.Void && d.Resources() > 0 }

// Words describes the result, project by project.
func (d *Drift) Words() []string {
	var words []string
	for _, p := range d.Projects {
		if n := max(len(p.Differences), p.Changes.Total()-p.Changes.Same); n > 0 {
			differ := "differ"
			if n == 1 {
				differ = "differs"
			}
			words = append(words, fmt.Sprintf("%s of %s %s", typeset.Counted(n, "resource"), p.Name, differ))
		}
	}
	return words
}

// KeepDrift stores the result of a comparison.
func KeepDrift(s *session.Open, summary *event.Summary, whole bool) error {
	const most = 50 // differences of a project
	d := Drift{Format: driftFormat, Run: s.Held.RunID, At: summary.Finished, Whole: whole,
		By: s.Held.Owner.User + "@" + s.Held.Owner.Host}
	for _, step := range summary.Steps {
		if step.Result == event.Skipped {
			continue
		}
		d.Whole = d.Whole && step.Result == event.Succeeded
		p := ProjectDrift{Name: step.Name, Result: step.Result, Changes: step.Changes, Error: step.Error,
			Differences: step.Differences[:min(len(step.Differences), most)]}
		if p.Result != event.Succeeded || p.Changes.Any() || len(p.Differences) > 0 {
			d.Projects = append(d.Projects, p)
		}
	}
	content, err := json.Marshal(d)
	if err != nil {
		return err
	}
	return atomicfile.WriteDeep(s.Directory.Drift(s.Settings.Stack.Text), append(content, '\n'), 0o600, 0o700)
}

// ReadDrift returns the stored result of an environment, nil for none.
func ReadDrift(dir layout.Runner, stack string) (*Drift, error) {
	content, err := files.Read(dir.Drift(stack), files.Data)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	var d Drift
	if err := json.Unmarshal(content, &d); err != nil {
		return nil, fmt.Errorf("the result of the last drift of %s is damaged: %w", stack, err)
	}
	if d.Format != driftFormat {
		return nil, nil
	}
	return &d, nil
}
