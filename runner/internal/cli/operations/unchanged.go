package operations

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"slices"
	"sync"

	"mara/projects/model/operation"
	"mara/runner/internal/environment/hooks"
	"mara/runner/internal/environment/session"
	"mara/runner/internal/pulumi/stacks"
	"mara/runner/internal/repo/request"
	"mara/runner/internal/run/event"
	"mara/runner/internal/run/fingerprint"
	"mara/runner/internal/run/plan"
	"mara/runner/internal/secrets/encryption"
)

// maySkip reports whether unchanged projects are skipped. They run if the user wants to
// see an effect of the run, such as a simulated failure.
func (o operateOptions) maySkip() bool {
	return o.Operation.Deploys() && !o.Force && o.hold == nil && len(o.packs) == 0 &&
		len(o.Simulation.Fail)+len(o.Simulation.Slow) == 0 && o.Simulation.Cluster == ""
}

// unchanged knows which projects are unchanged since their last success, and records
// what the successes of this run depend on.
type unchanged struct {
	session *session.Session
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
	before        stacks.Standing
	outputsDigest string
}

// newUnchanged computes the digests of the files that all projects share. If it cannot, all projects run.
func newUnchanged(s *session.Session, o operateOptions) *unchanged {
	if !o.Operation.Deploys() {
		return nil
	}
	if s.Unchanged != nil {
		return &unchanged{
			session: s, records: fingerprint.Records(s.Directory.Fingerprints(s.Provider.Name, s.Settings.Stack.Text)),
		}
	}
	maker, err := fingerprints(s)
	if err != nil {
		s.Log.Debug("no fingerprints", "error", err)
		return nil
	}
	return &unchanged{
		session: s, maker: maker, hooks: s.Hooks(), maySkip: o.maySkip(),
		passphrase: sync.OnceValues(func() (string, error) { return passphraseOf(s.Env) }),
		records:    fingerprint.Records(s.Directory.Fingerprints(s.Provider.Name, s.Settings.Stack.Text)),
		standings:  map[string]stacks.Standing{}, began: map[string]beginning{}, ended: map[string]fingerprint.Record{},
		warnings: map[string]int{},
	}
}

// lastUnchangedRun returns the ID of the last run after which the project is unchanged,
// or "" if it must run. It then deletes the record of the project, until keep writes
// another.
func (u *unchanged) lastUnchangedRun(ctx context.Context, step plan.Step, emit func(event.Event)) (string, error) {
	if u == nil {
		return "", nil
	}
	name := step.Project.Name
	if run := u.session.Unchanged[name]; run != "" {
		return run, nil
	}
	parts, err := u.fingerprint(ctx, step)
	if err != nil {
		u.session.Log.Debug("no fingerprint", "project", name, "error", err)
		parts = nil
	}
	record, ok := u.records.Load(name)
	ok = ok && (record.Run != "" && u.maySkip || record.Done != "" && slices.Contains(u.resumed, name))
	changed := u.changed(ctx, step, record, parts)
	if ok && len(changed) == 0 {
		u.session.Stacks.Recall(name, record.Outputs)
		return cmp.Or(record.Run, record.Done), nil
	}
	if ok {
		emit(u.why(name, record, changed))
	}
	before, digest, err := u.outputsDigest(ctx, name)
	if err != nil {
		u.session.Log.Debug("no state", "project", name, "error", err) // the operation says more
	}
	u.mu.Lock()
	defer u.mu.Unlock()
	delete(u.standings, name)
	delete(u.ended, name)
	u.began[name] = beginning{parts, before, digest}
	return "", u.records.Forget(name)
}

// changed lists the parts that differ from the record.
func (u *unchanged) changed(
	ctx context.Context, step plan.Step, record fingerprint.Record, parts fingerprint.Fingerprint,
) []string {
	if parts == nil {
		return []string{"something that cannot be compared"}
	}
	if changed := record.Parts.Changes(parts); len(changed) > 0 {
		return changed
	}
	if standing, err := u.readStanding(ctx, step.Project.Name); err != nil || standing.Digest != record.State {
		return []string{"state"}
	}
	if u.hooks.IsDue(ctx, operation.Up, step, record.Outputs) {
		return []string{"hooks"}
	}
	return nil
}

// fingerprint computes the current fingerprint of a project.
func (u *unchanged) fingerprint(ctx context.Context, step plan.Step) (fingerprint.Fingerprint, error) {
	step = planned(u.session, step)
	subject, err := subjectOf(u.session, step)
	if err != nil {
		return nil, err
	}
	subject.Outputs = map[string]string{}
	for _, read := range slices.Concat(step.Reads, step.Outside) {
		if _, subject.Outputs[read], err = u.outputsDigest(ctx, read); err != nil {
			return nil, err
		}
	}
	return u.maker.Of(subject)
}

// outputsDigest returns the digest of the current outputs of a project: the recorded
// one, if the record is about the current state.
func (u *unchanged) outputsDigest(ctx context.Context, project string) (stacks.Standing, string, error) {
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
	sum := sha256.Sum256([]byte(standing.Outputs))
	return standing, hex.EncodeToString(sum[:16]), nil
}

// readStanding reads the state of a project, once until the project is run.
func (u *unchanged) readStanding(ctx context.Context, project string) (stacks.Standing, error) {
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

// done records a project that has succeeded. If it has asked its cloud, or has read
// stacks of unknown projects, it runs again the next time.
func (u *unchanged) done(ctx context.Context, step plan.Step, outcome stacks.Outcome) {
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
	}
	// If the runner is killed, the run that resumes this one needs the record. keep decides about other ups.
	if err := u.records.Keep(name, record); err != nil {
		u.session.Log.Debug("no record", "project", name, "error", err)
	}
	if record.Done != "" && isSettled(step, outcome) {
		record.Run = record.Done
	}
	u.mu.Lock()
	defer u.mu.Unlock()
	u.ended[name], u.warnings[name] = record, outcome.Warnings
}

// changedSecrets returns a function that reports whether an up has changed a secret
// output of a project. It reads the state when it is first called.
func (u *unchanged) changedSecrets(ctx context.Context, project string) func(name string) bool {
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
func (u *unchanged) open(salt, ciphertext string) (string, error) {
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

func passphraseOf(env map[string]string) (string, error) {
	passphrase, ok, err := encryption.Passphrase(env)
	if err != nil || !ok {
		return "", errors.Join(err, encryption.ErrNoPassphrase)
	}
	return passphrase, nil
}

// isSettled reports whether a program has asked its cloud only for what does not change.
func isSettled(step plan.Step, outcome stacks.Outcome) bool {
	if outcome.Asked == nil {
		return false
	}
	return !slices.ContainsFunc(
		outcome.Asked, func(what string) bool { return !slices.Contains(step.Project.Settled, what) },
	)
}

// keep writes the records of projects that have succeeded, hooks included. A project runs again after a warning of the
// runner. Warnings of programs and providers would only be repeated: they are in the run that the skip names.
func (u *unchanged) keep(run *run) error {
	if u == nil {
		return nil
	}
	for _, step := range run.summary.Steps {
		record, ok := u.ended[step.Name]
		if !ok || step.Result != event.Succeeded {
			continue
		}
		if record.Outputs = run.outputs[step.Name]; warned(&run.summary, step, u.warnings[step.Name]) {
			record.Run = ""
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

// openUnchanged opens the environment without an engine if all selected projects are
// unchanged. It needs a backend of files, which can be read without an engine.
func openUnchanged(ctx context.Context, s *session.Session, o operateOptions) bool {
	if !o.maySkip() || !s.States().IsFile() || !s.States().MayHaveStates() || s.Held.TakenOver || o.judges() ||
		o.Selection.ofLastRun() || o.restore || len(o.Secrets.Sources) > 0 || o.Secrets.Generate ||
		len(s.Provider.Hooks) > 0 {
		return false
	}
	if request.ProviderBefore(s.Directory, s.Settings, s.Provider.Name) != "" {
		return false // the usual way compares the providers
	}
	selected, err := plan.Select(s.Plan, o.Selection.Selection)
	if err != nil || len(selected.Steps) == 0 {
		return false // chooseWork reports it
	}
	if broken, err := s.States().BrokenSidecars(s.Plan.Names()); err != nil || len(broken) > 0 {
		return false // they have to be repaired first
	}
	if locks, err := s.Leftovers().Locks(ctx, selected); err != nil || len(locks) > 0 {
		return false // what has them may be changing states
	}
	if err := s.OpenKnown(); err != nil {
		return false // a state cannot be read; the usual way says more
	}
	u := newUnchanged(s, o)
	if u == nil {
		return false
	}
	since := map[string]string{}
	for _, step := range selected.Steps {
		if since[step.Project.Name] = u.findUnchangedRun(ctx, step); since[step.Project.Name] == "" {
			s.Stacks = nil
			return false
		}
	}
	s.Unchanged = since
	return true
}

// findUnchangedRun returns the same as lastUnchangedRun, and changes no record.
func (u *unchanged) findUnchangedRun(ctx context.Context, step plan.Step) string {
	record, ok := u.records.Load(step.Project.Name)
	if !ok || record.Run == "" {
		return ""
	}
	parts, err := u.fingerprint(ctx, step)
	if err != nil || len(u.changed(ctx, step, record, parts)) > 0 {
		return ""
	}
	u.session.Stacks.Recall(step.Project.Name, record.Outputs)
	return record.Run
}
