package record

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"sync"
	"time"

	"mara/config/files"
	"mara/projects/model/operation"
	"mara/runner/internal/core/event"
	"mara/runner/internal/core/fingerprint"
	"mara/runner/internal/core/gitsource"
	"mara/runner/internal/core/inputs"
	"mara/runner/internal/core/lock"
	"mara/runner/internal/core/request"
	"mara/runner/internal/core/session"
	"mara/runner/internal/machine/atomicfile"
	"mara/runner/internal/machine/failure"
)

// key names the record in the backend.
const key = "last.json"

// Recording records what a run does to an environment. A nil Recording records nothing.
type Recording struct {
	session *session.Open
	store   lock.Store // of a backend that others share; nil for none
	last    Record
}

// Begin marks the environment as one in which a run is about to change projects: if the run is killed, the
// environment is unfinished. Where the mark cannot be written, nothing is changed. Other operations than up and
// destroy have no recording. version is the runner's.
func Begin(ctx context.Context, s *session.Open, op operation.Operation, version string,
	projects []string, accounts Accounts) (*Recording, error) {
	if !op.Deploys() && !op.Destroys() {
		return nil, nil
	}
	r := &Recording{session: s}
	var err error
	r.store, r.last, err = open(ctx, s.Resolved)
	if errors.Is(err, errDamaged) {
		err = nil // a new record replaces it: projects that this run does not touch count as never rolled out
	}
	if err != nil {
		return nil, notRecorded(s.Resolved, err)
	}
	run := Run{Operation: op, Runner: version, Host: hostOf(), Root: s.Settings.Root}
	if r.store != nil {
		run.Repository = gitsource.AddressOf(ctx, s.Settings.Root)
	}
	if op.Deploys() {
		// A commit may be made while a rollout waits: each environment looks when it begins.
		run.Values, run.Commit = Values(s.Resolved), gitsource.CommitOf(ctx, s.Settings.Root)
	}
	r.last.begin(s.Held.RunID, run, projects)
	r.last.Accounts = r.last.Accounts.with(accounts)
	if s.Unchanged != nil {
		return r, nil // nothing will be changed
	}
	if err := r.write(ctx); err != nil {
		return nil, notRecorded(s.Resolved, err)
	}
	return r, nil
}

func notRecorded(s *session.Resolved, err error) error {
	return &failure.Environment{
		Text: fmt.Sprintf(
			"nothing was changed, because what is done to %s cannot be recorded: %v", s.Settings.Stack.Text, err,
		),
		Next: "check that you may read and write .runner below the root, and .mara/rolled in the backend",
	}
}

// Commit returns the commit that an up deploys; "" if that is not known.
func (r *Recording) Commit() string {
	if r == nil {
		return ""
	}
	return r.last.Runs[r.last.Begun].Commit
}

// End records how the projects ended.
func (r *Recording) End(ctx context.Context, e Ending) error {
	const patience = 30 * time.Second
	if r == nil {
		return nil
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), patience)
	defer cancel()
	r.last.end(e)
	return r.write(ctx)
}

// Abandon removes the mark of a run that never began.
func (r *Recording) Abandon(ctx context.Context) error {
	if r == nil || r.session.Unchanged != nil {
		return nil
	}
	r.last.Begun, r.last.Touches = "", nil
	r.last.prune()
	return r.write(ctx)
}

// write stores the record here, and in a backend that others share.
func (r *Recording) write(ctx context.Context) error {
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
	return r.store.Put(ctx, key, content)
}

// open returns where others keep the record of an environment, nil for nowhere, and the record.
func open(ctx context.Context, s *session.Resolved) (store lock.Store, last Record, err error) {
	if store, err = s.RunLock().Rolled(ctx); err == nil {
		last, err = read(ctx, s, store)
	}
	return store, last, err
}

// stored returns an object of a backend that others share, else a file of this directory. Either may be missing.
func stored(ctx context.Context, store lock.Store, key, file string) ([]byte, error) {
	if store != nil {
		objects, err := store.List(ctx)
		return objects[key], err
	}
	content, err := files.Read(file, files.Data)
	if errors.Is(err, fs.ErrNotExist) {
		err = nil
	}
	return content, err
}

// read reads the record of an environment: from a shared backend the record of all machines, else the one of
// this directory. It is empty where nothing is recorded.
func read(ctx context.Context, s *session.Resolved, store lock.Store) (last Record, err error) {
	content, err := stored(ctx, store, key, s.Directory.Rolled(s.Settings.Stack.Text))
	if err != nil {
		return last, err
	}
	if len(content) == 0 {
		return last, nil
	}
	if err := json.Unmarshal(content, &last); err != nil {
		return Record{}, fmt.Errorf("%w (%w); the next up or destroy writes a new one", errDamaged, err)
	}
	if last.Format != format {
		last = Record{} // of another format: counts as never rolled out
	}
	return last, nil
}

// errDamaged says that a record is there and is not valid.
var errDamaged = errors.New("the record is damaged")

func hostOf() string {
	host, err := os.Hostname()
	if err != nil {
		return "unknown"
	}
	return host
}

// Today has what the comparisons of all environments of a root share.
type Today struct {
	commit func() string
	runner string
}

// NewToday returns the comparison with the files of a root. version is the runner's.
func NewToday(ctx context.Context, root, version string) Today {
	return Today{commit: sync.OnceValue(func() string { return gitsource.CommitOf(ctx, root) }), runner: version}
}

// Compare compares what ran in an environment with the files of today.
func (t Today) Compare(ctx context.Context, d session.Deps, o session.Options, stack string) (v Verdict, err error) {
	err = onRecord(d, o, stack, func(s *session.Resolved) (err error) {
		v, err = t.CompareOpen(ctx, s)
		return err
	})
	return v, err
}

// CompareOpen compares an environment whose settings are resolved. A record that cannot be read is an error.
func (t Today) CompareOpen(ctx context.Context, s *session.Resolved) (Verdict, error) {
	_, last, err := open(ctx, s)
	if err != nil {
		text := fmt.Sprintf("reading what was rolled out of %s: %v", s.Settings.Stack.Text, err)
		return Verdict{}, &failure.Environment{Text: text}
	}
	if !last.isKnown() {
		return Verdict{State: NeverRolledOut}, nil
	}
	return last.compare(t.presentOf(s)), nil
}

// OtherRepository returns the repository from which an environment was last deployed, if that is not the one of this root;
// "" if it is, or if one of them is not known. It looks in backends that others share.
func OtherRepository(ctx context.Context, s *session.Resolved) (string, error) {
	store, err := s.RunLock().Rolled(ctx)
	if err != nil || store == nil {
		return "", err
	}
	last, err := read(ctx, s, store)
	if errors.Is(err, errDamaged) || last.Destroyed {
		return "", nil
	}
	other := last.Runs[last.Run].Repository
	if err != nil || other == "" {
		return "", err
	}
	if own := gitsource.AddressOf(ctx, s.Settings.Root); own == "" || own == other {
		return "", nil
	}
	return other, nil
}

// AccountsOf returns the accounts that the projects of an environment were first deployed to. A damaged record knows none.
func AccountsOf(ctx context.Context, s *session.Resolved) (Accounts, error) {
	_, last, err := open(ctx, s)
	if errors.Is(err, errDamaged) {
		err = nil
	}
	return last.Accounts, err
}

// with adds accounts, in place of those that are known.
func (a Accounts) with(others Accounts) Accounts {
	all := maps.Clone(a)
	if all == nil {
		all = Accounts{}
	}
	maps.Copy(all, others)
	return all
}

// Deployed returns the projects of an environment that its last run has left deployed, with the run. A damaged record
// knows none.
func Deployed(ctx context.Context, s *session.Resolved) (map[string]string, error) {
	_, last, err := open(ctx, s)
	if errors.Is(err, errDamaged) {
		err = nil
	}
	deployed := map[string]string{}
	for name, project := range last.Projects {
		if project.Result == event.Succeeded && !last.Destroyed {
			deployed[name] = project.Run
		}
	}
	return deployed, err
}

// presentOf describes an environment as it is on the disk.
func (t Today) presentOf(s *session.Resolved) present {
	return present{
		projects: s.Plan.Names(), values: Values(s), programs: programsIn(s),
		mayRead: func(name, key string) bool {
			project, ok := s.Options.Known().Project(name)
			return !ok || project.Own != nil || inputs.MayRead(s, project, key)
		},
		outputs: func() []change { return changedOutputs(s) },
		commit:  t.commit, host: hostOf(), root: s.Settings.Root, runner: t.runner,
	}
}

// ValuesOf returns the fingerprint of an environment's current configuration.
func ValuesOf(d session.Deps, r request.Request, stack string) (values fingerprint.Fingerprint, err error) {
	err = session.Use(d, session.Options{Request: r.Of(stack)}, session.ResolveStack,
		func(s *session.Resolved) error {
			values = Values(s)
			return nil
		})
	return values, err
}

// Values returns the fingerprint of each value of the configuration, by its key, and
// of the encrypted secrets.
func Values(s *session.Resolved) fingerprint.Fingerprint {
	parts := inputs.Places(s)
	parts[s.Settings.Secrets.File] = bytes.TrimSpace(s.Settings.Secrets.Content)
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
func programsIn(s *session.Resolved) map[string]fingerprint.Fingerprint {
	all := map[string]fingerprint.Fingerprint{}
	maker, err := inputs.NewMaker(s)
	if err != nil {
		s.Log.Debug("no fingerprints", "error", err)
		return all
	}
	for _, step := range s.Plan.Steps {
		parts, err := inputs.Parts(s, maker, step)
		if err != nil {
			s.Log.Debug("no fingerprint", "project", step.Project.Name, "error", err)
			continue
		}
		all[step.Project.Name] = inputs.ProgramOnly(parts)
	}
	return all
}

// changedOutputs lists the outputs that have changed since projects read them.
func changedOutputs(s *session.Resolved) (changes []change) {
	records := inputs.RecordsOf(s)
	for _, step := range s.Plan.Steps {
		mine, ok := records.Load(step.Project.Name)
		for _, read := range step.Reads {
			part := "outputs of " + read
			theirs, known := records.Load(read)
			if !ok || !known || theirs.OutputsDigest == "" || mine.Parts[part] == "" {
				continue
			}
			if now := fingerprint.New(map[string][]byte{part: []byte(theirs.OutputsDigest)}); now[part] != mine.Parts[part] {
				changes = append(changes, change{step.Project.Name, fmt.Sprintf("%s, which %s reads", part, step.Project.Name)})
			}
		}
	}
	return changes
}
