package operations

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"sync"
	"time"

	"mara/projects/model/operation"
	"mara/runner/internal/cli/cmd"
	"mara/runner/internal/environment/session"
	"mara/runner/internal/machine/atomicfile"
	"mara/runner/internal/machine/failure"
	"mara/runner/internal/repo/request"
	"mara/runner/internal/run/fingerprint"
	"mara/runner/internal/state/lock"
)

// rolledKey names the record in the backend.
const rolledKey = "last.json"

// recording records what a run does to an environment. A nil recording records nothing.
type recording struct {
	session *session.Session
	store   lock.Store // of a backend that others share; nil for none
	last    rolled
}

// beginRecording marks the environment as one that a run is about to change: if the run is killed, the environment
// is unfinished. Where the mark cannot be written, nothing is changed.
func beginRecording(ctx context.Context, d cmd.Deps, o operateOptions, s *session.Session, w work) (*recording, error) {
	if !o.Operation.Deploys() && !o.Operation.Destroys() {
		return nil, nil
	}
	r := &recording{session: s}
	var err error
	if r.store, err = s.RunLock().Rolled(ctx); err == nil {
		r.last, err = readRolled(ctx, s, r.store)
	}
	if _, broken := errors.AsType[*brokenRecordError](err); broken {
		err = nil // a new record replaces it: projects that this run does not touch count as never rolled out
	}
	if err != nil {
		return nil, notRecorded(s, err)
	}
	run := rolledRun{Operation: o.Operation, Runner: d.Version, Host: hostOf(), Root: s.Settings.Root}
	if o.Operation.Deploys() {
		// A commit may be made while a rollout waits: each environment looks when it begins.
		run.Values, run.Commit = valuesIn(s), commitOf(ctx, o.Root)
	}
	r.last.begin(s.Held.RunID, run, w.plan.Names())
	if s.Unchanged != nil {
		return r, nil // nothing will be changed
	}
	if err := r.write(ctx); err != nil {
		return nil, notRecorded(s, err)
	}
	return r, nil
}

func notRecorded(s *session.Session, err error) error {
	return &failure.Environment{
		Text: fmt.Sprintf(
			"nothing was changed, because what is done to %s cannot be recorded: %v", s.Settings.Stack.Text, err,
		),
		Next: "check that you may read and write .runner below the root, and .mara/rolled in the backend",
	}
}

// end records how the projects ended.
func (r *recording) end(ctx context.Context, run *run, known *unchanged, w work, isWhole bool) error {
	const patience = 30 * time.Second
	if r == nil {
		return nil
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), patience)
	defer cancel()
	var done []string
	for _, name := range w.done {
		if !slices.Contains(w.plan.Names(), name) {
			done = append(done, name)
		}
	}
	r.last.end(ending{
		finished: run.summary.Finished, steps: run.summary.Steps, done: done,
		program: known.programOf, whole: isWhole,
	})
	return r.write(ctx)
}

// abandon removes the mark of a run that never began.
func (r *recording) abandon(ctx context.Context) error {
	if r == nil || r.session.Unchanged != nil {
		return nil
	}
	r.last.Begun, r.last.Touches = "", nil
	r.last.prune()
	return r.write(ctx)
}

// write stores the record here, and in a backend that others share.
func (r *recording) write(ctx context.Context) error {
	content, err := json.Marshal(r.last)
	if err != nil {
		return err
	}
	content = append(content, '\n')
	if err := atomicfile.WriteDeep(
		r.session.Directory.Rolled(r.session.Settings.Stack.Text), content, 0o600, 0o700,
	); err != nil {
		return err
	}
	if r.store == nil {
		return nil
	}
	return r.store.Put(ctx, rolledKey, content)
}

// readRolled reads the record of an environment: from a shared backend the record of all machines, else the one of
// this directory. It is empty where nothing is recorded.
func readRolled(ctx context.Context, s *session.Session, store lock.Store) (last rolled, err error) {
	var content []byte
	if store != nil {
		objects, err := store.List(ctx)
		if err != nil {
			return last, err
		}
		content = objects[rolledKey]
	} else {
		content, err = os.ReadFile(s.Directory.Rolled(s.Settings.Stack.Text))
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return last, err
		}
	}
	if len(content) == 0 {
		return last, nil
	}
	if err := json.Unmarshal(content, &last); err != nil {
		return rolled{}, &brokenRecordError{err}
	}
	if last.Format != rolledFormat {
		last = rolled{} // of another format: counts as never rolled out
	}
	return last, nil
}

// brokenRecordError says that a record is there and is not valid.
type brokenRecordError struct{ cause error }

// Error names the cause, and what replaces the record.
func (e *brokenRecordError) Error() string {
	return fmt.Sprintf("the record is damaged (%v); the next up or destroy writes a new one", e.cause)
}

func hostOf() string {
	host, err := os.Hostname()
	if err != nil {
		return "unknown"
	}
	return host
}

// today has what the comparisons of all environments of a root share.
type today struct {
	commit func() string
	runner string
}

func newToday(ctx context.Context, d cmd.Deps, root string) today {
	return today{commit: sync.OnceValue(func() string { return commitOf(ctx, root) }), runner: d.Version}
}

// standsAs compares what ran in an environment with the files of today.
func standsAs(ctx context.Context, d cmd.Deps, o session.Options, stack string, t today) (v verdict, err error) {
	o.Request, o.Operation = o.Of(stack), operation.Up
	err = session.Use(d.Deps, o, (*session.Session).ResolveStack, func(s *session.Session) (err error) {
		v, err = t.verdictOn(ctx, s)
		return err
	})
	return v, err
}

// verdictOn compares an environment whose settings are resolved. A record that cannot be read is an error.
func (t today) verdictOn(ctx context.Context, s *session.Session) (verdict, error) {
	store, err := s.RunLock().Rolled(ctx)
	if err != nil {
		return verdict{}, unknownRecord(s, err)
	}
	last, err := readRolled(ctx, s, store)
	if err != nil {
		return verdict{}, unknownRecord(s, err)
	}
	if !last.isKnown() {
		return verdict{State: neverRolledOut}, nil
	}
	return last.compare(t.presentOf(s)), nil
}

func unknownRecord(s *session.Session, err error) error {
	return &failure.Environment{Text: fmt.Sprintf("reading what was rolled out of %s: %v", s.Settings.Stack.Text, err)}
}

// presentOf describes an environment as it is on the disk.
func (t today) presentOf(s *session.Session) present {
	return present{
		projects: s.Plan.Names(), values: valuesIn(s), programs: programsIn(s),
		mayRead: func(name, key string) bool {
			project, ok := s.Options.Known().Project(name)
			return !ok || project.Own != nil || mayRead(s, project, key)
		},
		outputs: func() []string { return changedOutputs(s) },
		commit:  t.commit, host: hostOf(), root: s.Settings.Root, runner: t.runner,
	}
}

// valuesOf returns the fingerprint of an environment's current configuration.
func valuesOf(d cmd.Deps, r request.Request, stack string) (values fingerprint.Fingerprint, err error) {
	err = session.Use(d.Deps, session.Options{Request: r.Of(stack)}, (*session.Session).ResolveStack,
		func(s *session.Session) error {
			values = valuesIn(s)
			return nil
		})
	return values, err
}

// valuesIn returns the fingerprint of each value of the configuration, by its key, and
// of the encrypted secrets.
func valuesIn(s *session.Session) fingerprint.Fingerprint {
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
	return fingerprint.New(parts)
}

// programsIn returns the fingerprint of each project's program, and of what runs it. It omits programs that have no
// fingerprint.
func programsIn(s *session.Session) map[string]fingerprint.Fingerprint {
	all := map[string]fingerprint.Fingerprint{}
	maker, err := fingerprints(s)
	if err != nil {
		s.Log.Debug("no fingerprints", "error", err)
		return all
	}
	for _, step := range s.Plan.Steps {
		subject, err := subjectOf(s, step)
		if err == nil {
			var parts fingerprint.Fingerprint
			if parts, err = maker.Of(subject); err == nil {
				all[step.Project.Name] = programOnly(parts)
			}
		}
		if err != nil {
			s.Log.Debug("no fingerprint", "project", step.Project.Name, "error", err)
		}
	}
	return all
}

// programOf returns the fingerprint of the program that ran for a project, or that is unchanged since it ran; nil if
// there is none.
func (u *unchanged) programOf(project string) fingerprint.Fingerprint {
	if u == nil {
		return nil
	}
	u.mu.Lock()
	began, ran := u.began[project]
	u.mu.Unlock()
	if ran {
		return programOnly(began.parts)
	}
	record, _ := u.records.Load(project)
	return programOnly(record.Parts)
}

// changedOutputs lists the outputs that have changed since projects read them.
func changedOutputs(s *session.Session) (reasons []string) {
	records := fingerprint.Records(s.Directory.Fingerprints(s.Provider.Name, s.Settings.Stack.Text))
	for _, step := range s.Plan.Steps {
		mine, ok := records.Load(step.Project.Name)
		for _, read := range step.Reads {
			part := "outputs of " + read
			theirs, known := records.Load(read)
			if !ok || !known || theirs.OutputsDigest == "" || mine.Parts[part] == "" {
				continue
			}
			if now := fingerprint.New(map[string][]byte{part: []byte(theirs.OutputsDigest)}); now[part] != mine.Parts[part] {
				reasons = append(reasons, fmt.Sprintf("%s, which %s reads", part, step.Project.Name))
			}
		}
	}
	return reasons
}
