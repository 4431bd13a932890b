package operations

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"strings"
	"time"

	"mara/config"
	"mara/runner/internal/atomicfile"
	"mara/runner/internal/cli/cmd"
	"mara/runner/internal/fingerprint"
	"mara/runner/internal/fleet"
	"mara/runner/internal/journal"
	"mara/runner/internal/plan"
	"mara/runner/internal/request"
	"mara/runner/internal/session"
)

// rolled is what an environment was last brought to by an up of all its projects.
// It is kept here, and in the backend where others share that.
type rolled struct {
	Run      string              `json:"run"`
	Finished time.Time           `json:"finished"`
	Commit   string              `json:"commit,omitempty"`
	Values   journal.Fingerprint `json:"values"` // of the configuration, by key
	Programs journal.Fingerprint `json:"programs"`
	// Host and Root are where it was done; programs are told apart only there.
	Host      string `json:"host,omitempty"`
	Root      string `json:"root,omitempty"`
	Destroyed bool   `json:"destroyed,omitempty"` // nothing of it is left
}

// rolledKey names the record in the backend.
const rolledKey = "last.json"

// recordRolled keeps what an up has led to, or that all has been destroyed.
func recordRolled(ctx context.Context, o operateOptions, s *session.Session, r *run) error {
	partly := len(o.Selection.Only)+len(o.Selection.Skip)+len(o.Selection.From)+len(o.Selection.Until) > 0 || o.Selection.Failed
	if !o.Operation.Destroys() && (!o.Operation.Deploys() || partly || len(o.Overrides) > 0) {
		return nil
	}
	last := rolled{Run: r.journal.ID(), Finished: r.summary.Finished, Host: hostOf(), Root: s.Settings.Root}
	if o.Operation.Destroys() {
		last.Destroyed = true
		return last.keep(ctx, s)
	}
	switch {
	case o.part != nil:
		last.Commit = o.part.commit
	case s.Settings.Described.File != "":
		last.Commit = commitOf(ctx, o.Root)
	}
	var err error
	if last.Programs, err = programsIn(s); err != nil {
		return err
	}
	last.Values = valuesIn(s)
	return last.keep(ctx, s)
}

// keep writes the record here, and into a backend that others share.
func (r rolled) keep(ctx context.Context, s *session.Session) error {
	content, err := json.MarshalIndent(r, "", "  ")
	if err != nil {
		return err
	}
	content = append(content, '\n')
	file := s.Folder.Rolled(s.Settings.Stack.Text)
	if r.Destroyed {
		if err := atomicfile.Remove(file); err != nil {
			return err
		}
	} else if err := atomicfile.WriteDeep(file, content, 0o600, 0o700); err != nil {
		return err
	}
	store, err := s.RunLock().Rolled(ctx)
	if err != nil || store == nil {
		return err
	}
	return store.Put(ctx, rolledKey, content)
}

// lastRolled reads what an environment was last brought to; ok is false where
// nothing is known. In a backend that others share is what anybody has done last.
func lastRolled(ctx context.Context, d cmd.Deps, s *session.Session) (last rolled, ok bool) {
	store, err := s.RunLock().Rolled(ctx)
	if err == nil && store != nil {
		var objects map[string][]byte
		objects, err = store.List(ctx)
		if content, found := objects[rolledKey]; found && json.Unmarshal(content, &last) == nil {
			return last, !last.Destroyed
		}
	}
	warn(d, "what others have rolled out of "+s.Settings.Stack.Text+" is not known: ", err)
	content, err := os.ReadFile(s.Folder.Rolled(s.Settings.Stack.Text))
	last = rolled{}
	return last, err == nil && json.Unmarshal(content, &last) == nil
}

// isElsewhere reports whether it was done on another machine, or in another folder.
func (r rolled) isElsewhere(s *session.Session) bool {
	return r.Host != "" && (r.Host != hostOf() || r.Root != s.Settings.Root)
}

func hostOf() string {
	host, err := os.Hostname()
	if err != nil {
		return "unknown"
	}
	return host
}

// standsAs is what an environment was last brought to, and what has changed since.
func standsAs(ctx context.Context, d cmd.Deps, o session.Options, stack string) (last rolled, changes []string, ok bool, err error) {
	o.Request = o.Of(stack)
	err = session.Use(d.Deps, o, (*session.Session).ResolveStack, func(s *session.Session) error {
		if last, ok = lastRolled(ctx, d, s); ok {
			changes = last.Values.Changes(valuesIn(s))
		}
		return nil
	})
	return last, changes, ok, err
}

// valuesOf is the fingerprint of an environment's configuration as it is now.
func valuesOf(d cmd.Deps, r request.Request, stack string) (values journal.Fingerprint, err error) {
	err = session.Use(d.Deps, session.Options{Request: r.Of(stack)}, (*session.Session).ResolveStack, func(s *session.Session) error {
		values = valuesIn(s)
		return nil
	})
	return values, err
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

// changedOutputs names outputs that have changed since projects read them.
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
func (r *rollout) checkPromotion(ctx context.Context, waves fleet.Rollout, p plan.Plan) error {
	before := map[string]bool{}
	for _, w := range waves.Waves {
		if r.takesPart(w, p) {
			waves.AddBefore(w, before)
		}
	}
	var problems []config.Problem
	for _, e := range r.all {
		w, err := waves.WaveOf(e)
		if err != nil || !before[w.Name] || slices.Contains(p.Names(), e.Stack) {
			continue
		}
		why, err := r.notRolled(ctx, e.Stack)
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
	return slices.ContainsFunc(p.Names(), func(name string) bool { return fleet.IsEnvironment(name) && r.plan.Waves[name].Name == w.Name })
}

// notRolled says why an environment is not as it is configured; "" if it is.
func (r *rollout) notRolled(ctx context.Context, stack string) (string, error) {
	o := r.o.Options
	o.Shared = &r.shared
	last, changes, ok, err := standsAs(ctx, r.d, o, stack)
	switch {
	case err != nil:
		return "", err
	case !ok:
		return "has never been rolled out", nil
	case len(changes) > 0:
		return fmt.Sprintf("has changed since it was (%s): %s", last.Run, strings.Join(changes, ", ")), nil
	}
	return "", nil
}
