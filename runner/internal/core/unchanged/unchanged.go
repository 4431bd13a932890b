// Package unchanged decides which projects an up may skip, because nothing has changed
// since their last success.
package unchanged

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"strings"
	"sync"

	"mara/projects/model/operation"
	"mara/runner/internal/core/encryption"
	"mara/runner/internal/core/event"
	"mara/runner/internal/core/fingerprint"
	"mara/runner/internal/core/hooks"
	"mara/runner/internal/core/inputs"
	"mara/runner/internal/core/journal"
	"mara/runner/internal/core/plan"
	"mara/runner/internal/core/session"
	"mara/runner/internal/core/stacks"
)

// Projects knows which projects are unchanged since their last success, and records what the successes of this run
// depend on. A nil Projects knows nothing: all projects run.
type Projects struct {
	session *session.Open
	records fingerprint.Records
	maker   *fingerprint.Maker
	hooks   hooks.Hooks
	maySkip bool // unchanged projects are skipped
	// passphrase reads the passphrase that encrypts the states.
	passphrase func() (string, error)
	// resumed are the projects that the resumed run has done. They are skipped while they are unchanged, even if any
	// other up runs them again.
	resumed []string

	mu        sync.Mutex // guards what follows
	standings map[string]stacks.Standing
	began     map[string]beginning          // of the projects that run
	ended     map[string]fingerprint.Record // of the projects that have succeeded
	warnings  map[string]int                // of their programs and providers
	explained bool                          // that only environment variables have changed
}

// beginning is the state of a project before it was run.
type beginning struct {
	parts         fingerprint.Fingerprint // nil if it has none
	details       fingerprint.Details
	before        stacks.Standing
	outputsDigest string
}

// New computes the digests of the files that all projects share. If it cannot, it returns nil. maySkip allows to skip
// unchanged projects; without it their successes are only recorded.
func New(s *session.Open, maySkip bool) *Projects {
	if s.Unchanged != nil {
		return &Projects{session: s, records: inputs.RecordsOf(s.Resolved)}
	}
	maker, err := inputs.NewMaker(s.Resolved)
	if err != nil {
		s.Log.Debug("no fingerprints", "error", err)
		return nil
	}
	return &Projects{
		session: s, maker: maker, hooks: s.Hooks(), maySkip: maySkip, records: inputs.RecordsOf(s.Resolved),
		passphrase: sync.OnceValues(func() (string, error) {
			passphrase, ok, err := encryption.Passphrase(s.Env)
			if err != nil || !ok {
				err = errors.Join(err, encryption.ErrNoPassphrase)
			}
			return passphrase, err
		}),
		standings: map[string]stacks.Standing{}, began: map[string]beginning{}, ended: map[string]fingerprint.Record{},
		warnings: map[string]int{},
	}
}

// LastRun returns the ID of the last run after which the project is unchanged,
// or "" if it must run. It then deletes the record of the project, until Keep writes
// another.
func (u *Projects) LastRun(ctx context.Context, step plan.Step, emit func(event.Event)) (string, error) {
	if u == nil {
		return "", nil
	}
	name := step.Project.Name
	if run := u.session.Unchanged[name]; run != "" {
		return run, nil
	}
	record, recorded := u.records.Load(name)
	ok := recorded && u.allowsSkip(name, record)
	parts, details, changed := u.compare(ctx, step, record)
	if ok && len(changed) == 0 {
		u.session.Stacks.Recall(name, record.Outputs)
		return cmp.Or(record.Run, record.Done), nil
	}
	emit(u.why(name, record, recorded, changed, details))
	before, digest, err := u.outputsDigest(ctx, name)
	if err != nil {
		u.session.Log.Debug("no state", "project", name, "error", err) // the operation says more
	}
	u.mu.Lock()
	defer u.mu.Unlock()
	delete(u.standings, name)
	delete(u.ended, name)
	u.began[name] = beginning{parts, details, before, digest}
	return "", u.records.Forget(name)
}

// allowsSkip reports whether a project may be skipped if it is as its record says.
func (u *Projects) allowsSkip(project string, record fingerprint.Record) bool {
	return record.Run != "" && u.maySkip || record.Done != "" && slices.Contains(u.resumed, project)
}

// compare computes the current fingerprint of a project, nil if it has none, and lists the parts that differ from the
// record.
func (u *Projects) compare(ctx context.Context, step plan.Step, record fingerprint.Record) (
	parts fingerprint.Fingerprint, details fingerprint.Details, changed []string) {
	parts, details, err := u.fingerprint(ctx, step)
	if err != nil {
		u.session.Log.Debug("no fingerprint", "project", step.Project.Name, "error", err)
	}
	return parts, details, u.changed(ctx, step, record, parts)
}

// changed lists the parts that differ from the record.
func (u *Projects) changed(ctx context.Context, step plan.Step, record fingerprint.Record,
	parts fingerprint.Fingerprint) []string {
	if parts == nil {
		return []string{Incomparable}
	}
	if changed := record.Parts.Changes(parts); len(changed) > 0 {
		return changed
	}
	if standing, err := u.readStanding(ctx, step.Project.Name); err != nil || standing.Digest != record.State {
		return []string{"state"}
	}
	if inputs.ImportsOf(u.session.Resolved, step.Project) != nil {
		return []string{"imports"}
	}
	if u.hooks.IsDue(ctx, operation.Up, step, record.Outputs) {
		return []string{"hooks"}
	}
	return nil
}

// fingerprint computes the current fingerprint of a project, with its details.
func (u *Projects) fingerprint(
	ctx context.Context, step plan.Step,
) (parts fingerprint.Fingerprint, details fingerprint.Details, err error) {
	step = inputs.Planned(u.session.Resolved, step)
	subject, err := inputs.Of(u.session.Resolved, step)
	if err != nil {
		return nil, nil, err
	}
	subject.Outputs = map[string]string{}
	outputs := map[string]string{}
	for _, read := range slices.Concat(step.Reads, step.Outside) {
		standing, digest, err := u.outputsDigest(ctx, read)
		if err != nil {
			return nil, nil, err
		}
		subject.Outputs[read], outputs[read] = digest, standing.Outputs
	}
	if parts, details, err = u.maker.Look(subject); err != nil {
		return nil, nil, err
	}
	for read, text := range outputs {
		details.AddOutputs(u.session.Settings.Root, read, text)
	}
	return parts, details, nil
}

// outputsDigest returns the digest of the current outputs of a project: the recorded
// one, if the record is about the current state.
func (u *Projects) outputsDigest(ctx context.Context, project string) (stacks.Standing, string, error) {
	standing, err := u.readStanding(ctx, project)
	if err != nil {
		return standing, "", err
	}
	u.mu.Lock()
	record, ok := u.ended[project]
	u.mu.Unlock()
	if !ok {
		record, ok = u.records.Load(project)
	}
	if ok && record.State == standing.Digest && record.OutputsDigest != "" {
		return standing, record.OutputsDigest, nil
	}
	return standing, fingerprint.Digest([]byte(standing.Outputs)), nil
}

// readStanding reads the state of a project, once until the project is run.
func (u *Projects) readStanding(ctx context.Context, project string) (stacks.Standing, error) {
	u.mu.Lock()
	known, ok := u.standings[project]
	u.mu.Unlock()
	if ok {
		return known, nil
	}
	standing, err := u.session.Stacks.Standing(ctx, project)
	if err != nil {
		return standing, err
	}
	u.mu.Lock()
	defer u.mu.Unlock()
	u.standings[project] = standing
	return standing, nil
}

// Done records a project that has succeeded. If it has asked its cloud, or has read
// stacks of unknown projects, it runs again the next time.
func (u *Projects) Done(ctx context.Context, step plan.Step, outcome stacks.Outcome) {
	if u == nil {
		return
	}
	name := step.Project.Name
	u.mu.Lock()
	began := u.began[name]
	u.mu.Unlock()
	standing, digest, err := u.outputsDigest(ctx, name)
	if err != nil || standing.Digest == "" {
		return
	}
	if began.outputsDigest != "" && standing.HasSameOutputs(began.before, u.open) {
		digest = began.outputsDigest
	}
	record := fingerprint.Record{State: standing.Digest, OutputsDigest: digest}
	if began.parts != nil && len(standing.Foreign) == 0 {
		record.Done, record.Parts, record.Variables = u.session.Held.RunID, began.parts, u.maker.Hints()
		record.Details = began.details
	}
	// If the runner is killed, the run that resumes this one needs the record. Keep decides about other ups.
	if err := u.records.Keep(name, record); err != nil {
		u.session.Log.Debug("no record", "project", name, "error", err)
	}
	if record.Done != "" {
		if record.Again = unsettled(step, outcome); record.Again == "" {
			record.Run = record.Done
		}
	}
	u.mu.Lock()
	defer u.mu.Unlock()
	u.ended[name], u.warnings[name] = record, outcome.Warnings
}

// ChangedSecrets returns a function that reports whether an up has changed a secret
// output of a project. It reads the state when it is first called.
func (u *Projects) ChangedSecrets(ctx context.Context, project string) func(name string) bool {
	if u == nil {
		return nil
	}
	changed := sync.OnceValue(func() []string {
		u.mu.Lock()
		before := u.began[project].before
		u.mu.Unlock()
		standing, err := u.readStanding(ctx, project)
		if err != nil {
			u.session.Log.Debug("no state", "project", project, "error", err)
		}
		return standing.ChangedOutputs(before, u.open)
	})
	return func(name string) bool { return slices.Contains(changed(), name) }
}

// open decrypts a secret in a state that the passphrase encrypts.
func (u *Projects) open(salt, ciphertext string) (string, error) {
	passphrase, err := u.passphrase()
	if err != nil {
		return "", err
	}
	key, err := u.session.Vault.Key(passphrase, salt)
	if err != nil {
		return "", err
	}
	return key.Decrypt(ciphertext)
}

// unsettled says what a program has asked its cloud that may change at any time; "" for nothing.
func unsettled(step plan.Step, outcome stacks.Outcome) string {
	if outcome.Asked == nil {
		return "what its program asks is not known"
	}
	var asked []string
	for _, what := range outcome.Asked {
		if !slices.Contains(step.Project.Settled, what) && !slices.Contains(asked, what) {
			asked = append(asked, what)
		}
	}
	if len(asked) == 0 {
		return ""
	}
	return "its program asks " + strings.Join(asked, ", ") + ", whose answer may change"
}

// Keep writes the records of projects that have succeeded, hooks included. A project runs again after a warning of the
// runner. Warnings of programs and providers would only be repeated: they are in the run that the skip names.
func (u *Projects) Keep(run *event.Summary, outputs journal.Outputs) error {
	if u == nil {
		return nil
	}
	for _, step := range run.Steps {
		record, ok := u.ended[step.Name]
		if !ok || step.Result != event.Succeeded {
			continue
		}
		if record.Outputs = outputs[step.Name]; warned(run, step, u.warnings[step.Name]) {
			record.Run, record.Again = "", "the runner has warned about it in run "+record.Done
		}
		if err := u.records.Keep(step.Name, record); err != nil {
			return err
		}
	}
	return nil
}

// warned reports whether a run has warned about a project, apart from the warnings of its program.
func warned(summary *event.Summary, step event.Step, ofProgram int) bool {
	warnings := 0
	for _, d := range step.Diagnostics {
		if d.Severity == event.Warning {
			warnings++
		}
	}
	return warnings > ofProgram || slices.ContainsFunc(
		summary.Warnings, func(a event.Alert) bool { return a.Project == step.Name },
	)
}

// FindRun returns the same as LastRun, and changes no record.
func (u *Projects) FindRun(ctx context.Context, step plan.Step) string {
	record, ok := u.records.Load(step.Project.Name)
	if !ok || record.Run == "" {
		return ""
	}
	parts, _, err := u.fingerprint(ctx, step)
	if err != nil || len(u.changed(ctx, step, record, parts)) > 0 {
		return ""
	}
	u.session.Stacks.Recall(step.Project.Name, record.Outputs)
	return record.Run
}

// Resume allows to skip projects that the resumed run has done, while they are unchanged.
func (u *Projects) Resume(done []string) {
	if u != nil {
		u.resumed = done
	}
}

// ProgramOf returns the fingerprint of the program that ran for a project, or that is unchanged since it ran; nil if
// there is none.
func (u *Projects) ProgramOf(project string) fingerprint.Fingerprint {
	if u == nil {
		return nil
	}
	u.mu.Lock()
	began, ran := u.began[project]
	u.mu.Unlock()
	if ran {
		return inputs.ProgramOnly(began.parts)
	}
	record, _ := u.records.Load(project)
	return inputs.ProgramOnly(record.Parts)
}
