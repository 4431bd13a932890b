package operations

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"mara/config"
	"mara/runner/internal/atomicfile"
	"mara/runner/internal/cli/cmd"
	"mara/runner/internal/fingerprint"
	"mara/runner/internal/fleet"
	"mara/runner/internal/journal"
	"mara/runner/internal/layout"
	"mara/runner/internal/plan"
	"mara/runner/internal/request"
	"mara/runner/internal/session"
)

// rolled is what an environment was last brought to by an up of all its projects.
type rolled struct {
	Run      string              `json:"run"`
	Finished time.Time           `json:"finished"`
	Commit   string              `json:"commit,omitempty"`
	Values   journal.Fingerprint `json:"values"` // of the configuration, by key
	Programs journal.Fingerprint `json:"programs"`
}

// recordRolled keeps what an up has brought an environment to.
func recordRolled(ctx context.Context, o operateOptions, s *session.Session, r *run) error {
	if o.Operation.Destroys() {
		err := os.Remove(s.Folder.Rolled(s.Settings.Stack.Text))
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		return err
	}
	partly := len(o.Selection.Only)+len(o.Selection.Skip)+len(o.Selection.From)+len(o.Selection.Until) > 0 || o.Selection.Failed
	if !o.Operation.Deploys() || partly || len(o.Overrides) > 0 {
		return nil
	}
	commit := ""
	switch {
	case o.part != nil:
		commit = o.part.commit
	case s.Settings.Described.File != "":
		commit = commitOf(ctx, o.Root)
	}
	programs, err := programsIn(s)
	if err != nil {
		return err
	}
	content, err := json.MarshalIndent(rolled{
		Run: r.journal.ID(), Finished: r.summary.Finished, Commit: commit, Values: valuesIn(s), Programs: programs,
	}, "", "  ")
	if err != nil {
		return err
	}
	file := s.Folder.Rolled(s.Settings.Stack.Text)
	if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
		return err
	}
	return atomicfile.Write(file, append(content, '\n'), 0o600)
}

// lastRolled reads what an environment was last brought to; ok is false where
// nothing is known.
func lastRolled(folder layout.Runner, stack string) (last rolled, ok bool) {
	content, err := os.ReadFile(folder.Rolled(stack))
	return last, err == nil && json.Unmarshal(content, &last) == nil
}

// valuesOf is the fingerprint of an environment's configuration as it is now.
func valuesOf(d cmd.Deps, r request.Request, stack string) (values journal.Fingerprint, err error) {
	s := session.New(d.Deps, session.Options{Request: r.Of(stack)})
	defer func() { err = errors.Join(err, s.Close()) }()
	if err := s.ResolveStack(); err != nil {
		return nil, err
	}
	return valuesIn(s), nil
}

// valuesIn is the fingerprint of each value of the configuration, by its key, and
// of the encrypted secrets.
func valuesIn(s *session.Session) journal.Fingerprint {
	parts := map[string][]byte{s.Settings.Secrets.File: bytes.TrimSpace(s.Settings.Secrets.Content)}
	for _, entry := range s.Settings.Config.Entries {
		value, err := json.Marshal(entry.Value)
		if err == nil && entry.Value != nil {
			parts[entry.Key] = value
		}
	}
	for _, skipped := range s.Settings.Described.Skip {
		parts["without "+skipped.Text] = nil
	}
	return journal.NewFingerprint(parts)
}

// programsIn is the fingerprint of each project's program, and of what runs them.
func programsIn(s *session.Session) (journal.Fingerprint, error) {
	all := journal.Fingerprint{}
	maker, err := fingerprints(s)
	if err != nil {
		return nil, err
	}
	for _, step := range s.Plan.Steps {
		subject, err := subjectOf(s, step)
		if err != nil {
			return nil, err
		}
		parts, err := maker.Of(subject)
		if err != nil {
			continue // it is always run
		}
		all["the runner and its programs"] = parts["programs"]
		for name, what := range map[string]string{"program": "program of ", "files": "files of "} {
			if digest, ok := parts[name]; ok {
				all[what+step.Project.Name] = digest
			}
		}
	}
	return all, nil
}

// changedOutputs names outputs that projects read and that have changed since
// they did.
func changedOutputs(s *session.Session) (reasons []string) {
	records := fingerprint.Records(s.Folder.Fingerprints(s.Provider.Name, s.Settings.Stack.Text))
	for _, step := range s.Plan.Steps {
		mine, ok := records.Load(step.Project.Name)
		for _, read := range step.Reads {
			part := "outputs of " + read
			theirs, known := records.Load(read)
			if !ok || !known || theirs.Told == "" || mine.Parts[part] == "" {
				continue
			}
			if now := journal.NewFingerprint(map[string][]byte{part: []byte(theirs.Told)}); now[part] != mine.Parts[part] {
				reasons = append(reasons, fmt.Sprintf("%s, which %s reads", part, step.Project.Name))
			}
		}
	}
	return reasons
}

// checkPromotion refuses environments of a wave as long as those of the waves
// before it have not succeeded with what they are configured with now.
func (r *rollout) checkPromotion(waves fleet.Rollout, p plan.Plan) error {
	before := map[string]bool{}
	for _, w := range waves.Waves {
		if r.takesPart(w, p) {
			waves.AddBefore(w, before)
		}
	}
	var problems []config.Problem
	for _, e := range r.all {
		w, err := waves.WaveOf(e)
		if err != nil || !before[w.Name] || isIn(p, e.Stack) {
			continue
		}
		why, err := r.notRolled(e.Stack)
		if err != nil {
			return err
		}
		if why != "" {
			problems = append(problems, config.Problem{File: fleet.RolloutFile, Line: w.Line, Key: w.Name, Text: fmt.Sprintf("comes before, and %s %s", e.Stack, why)})
		}
	}
	if len(problems) == 0 {
		return nil
	}
	return &config.Error{Problems: problems, Next: "roll out to the earlier waves first, or go on all the same with --out-of-order"}
}

// takesPart reports whether environments of a wave are about to be worked on.
func (r *rollout) takesPart(w fleet.Wave, p plan.Plan) bool {
	for _, step := range p.Steps {
		if fleet.IsEnvironment(step.Project.Name) && r.plan.Waves[step.Project.Name].Name == w.Name {
			return true
		}
	}
	return false
}

func isIn(p plan.Plan, name string) bool {
	for _, step := range p.Steps {
		if step.Project.Name == name {
			return true
		}
	}
	return false
}

// notRolled says why an environment is not what it is configured to be, "" if it
// is.
func (r *rollout) notRolled(stack string) (string, error) {
	last, ok := lastRolled(r.o.Folder(), stack)
	if !ok {
		return "has never been rolled out", nil
	}
	now, err := valuesOf(r.d, r.o.Request, stack)
	if err != nil {
		return "", err
	}
	if changes := last.Values.Changes(now); len(changes) > 0 {
		return fmt.Sprintf("has changed since it was (%s): %s", last.Run, strings.Join(changes, ", ")), nil
	}
	return "", nil
}
