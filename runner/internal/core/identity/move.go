package identity

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"mara/config"
	"mara/config/lists"
	"mara/runner/internal/core/encryption"
	"mara/runner/internal/core/event"
	"mara/runner/internal/core/inventory"
	"mara/runner/internal/core/session"
	"mara/runner/internal/core/stacks"
	"mara/runner/internal/core/vault"
	"mara/runner/internal/machine/failure"
	"mara/runner/internal/machine/typeset"
)

// Move moves the states of an environment to another backend. It copies them, reads
// them back, and records the new backend; the old states stay. Running it again after
// an interruption continues: what is there already is compared, not copied.
type Move struct {
	From, To string // addresses as records have them
	Projects []string
	Resealed []string          // files whose secrets are encrypted for the new backend
	session  *session.Resolved // of the environment as it is configured
	source   *session.Resolved // in the old backend; it may be the same
	target   *session.Resolved
	from, to *session.Reading // source and target, since Open
	there    map[string]bool  // projects that an earlier run has copied
	// only are the projects to move, where files say now that they are elsewhere; nil for all.
	only []string
}

// Moved is a project whose state is in the new backend.
type Moved struct {
	Project   string `json:"project"`
	Stack     string `json:"stack"`
	Resources int    `json:"resources"`
	Copied    bool   `json:"copied"` // false if an earlier run has copied it
}

// String says what was done.
func (m Moved) String() string {
	done := "copied and compared"
	if !m.Copied {
		done = "the same state is there already"
	}
	return fmt.Sprintf("%s (%s): %s", m.Project, typeset.Counted(m.Resources, "resource"), done)
}

// NewMove finds out what is moved from where. By default that is from the backend that the
// environment was deployed to, and to the configured one if that is another. The
// session has resolved its stack and its provider.
func NewMove(ctx context.Context, s *session.Resolved, from, to string) (*Move, error) {
	m := &Move{session: s}
	before, projects, err := BackendBefore(ctx, s)
	if err != nil {
		return nil, err
	}
	if from == "" && to == "" {
		m.only = projects
	}
	from = cmp.Or(from, before)
	if to == "" && from == "" {
		return nil, &failure.Usage{Text: "no new backend is named", Next: "name it with --to URL"}
	}
	m.source = s
	if from != "" {
		if m.source, err = m.at(from); err != nil {
			return nil, err
		}
	}
	if to == "" && len(s.Settings.Elsewhere) > 0 {
		m.target, err = m.resolved(s.Options)
	} else {
		m.target, err = m.at(cmp.Or(to, s.Settings.Backend.Text))
	}
	if err != nil {
		return nil, err
	}
	m.From, m.To = placeOf(m.source), placeOf(m.target)
	if m.only != nil {
		m.To = strings.Join(slices.Compact(slices.Sorted(slices.Values(lists.Map(m.only, func(project string) string {
			return placeOfProject(s, project)
		})))), ", ")
	}
	return m, nil
}

func placeOf(s *session.Resolved) string { return event.MaskURLs(s.Settings.BackendPlace()) }

// at resolves the environment with its states in another backend.
func (m *Move) at(address string) (*session.Resolved, error) {
	settings, err := m.session.Settings.At(address)
	if err != nil {
		return nil, err
	}
	if event.MaskURLs(address) == address && strings.Contains(address, "***") {
		return nil, &failure.Environment{
			Text: "the password of the old backend is not recorded: " + address,
			Next: "name it with --from URL",
		}
	}
	o := m.session.Options
	o.Sources = o.Sources.With(config.BackendVariable, settings.Backend.Text)
	return m.resolved(o)
}

func (m *Move) resolved(o session.Options) (*session.Resolved, error) {
	s, err := session.Resolve(m.session.Deps, o)
	m.session.OnClose(s.Close)
	return s, err
}

// IsDone reports whether the environment was moved before.
func (m *Move) IsDone() bool { return m.From == m.To }

// Open locks the environment in both backends and finds the stacks to move.
func (m *Move) Open(ctx context.Context) error {
	locked, err := m.source.Lock(ctx, "state move")
	if err != nil {
		return err
	}
	if _, err := m.target.RunLock().AcquireInBackend(ctx, locked.Owner); err != nil {
		return err
	}
	e, err := m.source.Engine(ctx)
	if err != nil {
		return err
	}
	if err := m.source.Vault.RefuseHalfChanged(ctx); err != nil {
		return err
	}
	if err := m.source.Vault.AskPassphrase(ctx); err != nil {
		return err
	}
	copies, err := m.source.Vault.Copies(ctx, e)
	if err != nil {
		return err
	}
	backend := m.target.Env[config.BackendVariable]
	maps.Copy(m.target.Env, m.source.Env) // with the passphrase, which may have been asked for
	m.target.Env[config.BackendVariable] = backend
	source, err := locked.Open(ctx, copies, false)
	if err != nil {
		return err
	}
	m.from = source.Reading
	if m.source.Settings.Managed() != m.target.Settings.Managed() {
		if copies, err = m.copiesForTarget(ctx); err != nil {
			return err
		}
	}
	if err := m.target.States().Make(); err != nil {
		return failure.RunnerDir(err)
	}
	if m.to, err = m.target.Read(ctx, copies); err != nil {
		return err
	}
	if err := m.choose(ctx); err != nil {
		return err
	}
	m.there = map[string]bool{}
	copier, err := m.copier()
	if err != nil {
		return err
	}
	for _, project := range m.Projects {
		if m.there[project], err = copier.HasCopied(ctx, project); err != nil {
			return err
		}
	}
	return nil
}

// choose finds the stacks of the environment, including stacks that no project
// claims, and refuses states that a copy would change.
func (m *Move) choose(ctx context.Context) error {
	unclaimed, err := inventory.FindUnclaimed(ctx, m.from)
	if err != nil {
		return err
	}
	m.Projects = m.from.Stacks.Projects()
	for _, orphan := range unclaimed.Orphans {
		if orphan.Backend == "" { // the others are not in the backend that is left
			m.Projects = append(m.Projects, orphan.Project)
		}
	}
	slices.Sort(m.Projects)
	if m.only != nil {
		m.Projects = slices.DeleteFunc(m.Projects, func(project string) bool { return !slices.Contains(m.only, project) })
	}
	if err := m.from.Leftovers().RefuseLocked(ctx, m.Projects); err != nil {
		return err
	}
	for _, project := range m.Projects {
		pending, err := m.from.Stacks.Pending(ctx, project)
		if err != nil {
			return err
		}
		if len(pending) > 0 {
			return &failure.Environment{
				Text: fmt.Sprintf("%s: an operation was cut off: %s; Pulumi would forget that when it imports the state",
					project, pending[0]),
				Next: "`" + m.source.Command("repair") + "` with the old backend finds out what exists",
			}
		}
	}
	return nil
}

// copiesForTarget makes the working copies of the stack files for the new backend, where its encryption is another one: a
// passphrase in the place of Pulumi Cloud's keys, or these where no file names an encryption.
func (m *Move) copiesForTarget(ctx context.Context) (encryption.Copies, error) {
	if err := m.target.Vault.AskPassphrase(ctx); err != nil {
		return encryption.Copies{}, err
	}
	e, err := m.target.Engine(ctx)
	if err != nil {
		return encryption.Copies{}, err
	}
	return m.target.Vault.Copies(ctx, e)
}

func (m *Move) copier() (stacks.Copier, error) {
	c := stacks.Copier{From: m.from.Stacks, To: m.to.Stacks}
	if m.source.Settings.Managed() == m.target.Settings.Managed() && !m.target.Settings.Managed() {
		return c, nil // the copies have the keys of the originals
	}
	scheme, err := vault.SchemeOf(m.target.Vault)
	if err != nil {
		return c, err
	}
	service := strings.TrimSuffix(m.target.Settings.Backend.Text, "/")
	c.Encrypt = func(project, before string) *stacks.Encryption {
		switch byService := scheme == (encryption.Scheme{}) && m.target.Settings.Managed(); {
		case before == "service" && byService, // with the key of another stack
			before == "passphrase" && byService && !vault.OwnEncryption(m.source.Vault, project).Named:
			return &stacks.Encryption{Service: service}
		case before == "service":
			return &stacks.Encryption{Salt: scheme.Salt, Provider: scheme.Provider, DataKey: scheme.DataKey}
		}
		return nil
	}
	return c, nil
}

// Carry copies the states, one after the other, and then records the new backend.
func (m *Move) Carry(ctx context.Context, report func(Moved)) error {
	copier, err := m.copier()
	if err != nil {
		return err
	}
	for _, project := range m.Projects {
		if !m.there[project] {
			if err := copier.Copy(ctx, project); err != nil {
				return err
			}
		}
		report(Moved{
			Project: project, Stack: m.source.Scope().Stack(project), Copied: !m.there[project],
			Resources: m.from.Stacks.Summary(project).Resources,
		})
	}
	if m.only != nil {
		return recordMoved(m.session, m.only)
	}
	if err := m.copyRolled(ctx); err != nil {
		return fmt.Errorf("copying what was rolled out: %w", err)
	}
	// The files come last: until here operations use the old backend, whose encryption they have.
	files, err := vault.ResealFor(ctx, m.source.Vault, m.target.Vault)
	if err != nil {
		return fmt.Errorf("encrypting the secrets of the files for the new backend: %w", err)
	}
	m.Resealed = files
	return RecordBackend(m.target)
}

// copyRolled copies the record of the last rollout, which backends of several machines
// keep.
func (m *Move) copyRolled(ctx context.Context) error {
	from, err := m.source.RunLock().Rolled(ctx)
	if err != nil || from == nil {
		return err
	}
	to, err := m.target.RunLock().Rolled(ctx)
	if err != nil || to == nil {
		return err
	}
	records, err := from.List(ctx)
	if err != nil {
		return err
	}
	for _, key := range slices.Sorted(maps.Keys(records)) {
		if err := to.Put(ctx, key, records[key]); err != nil {
			return err
		}
	}
	return nil
}

// Setting says what has to be configured so that operations use the new backend, "" if
// that is configured already.
func (m *Move) Setting() string {
	text := m.setting()
	for _, project := range slices.Sorted(maps.Keys(m.session.Settings.Elsewhere)) {
		if text != "" {
			text += fmt.Sprintf("; remove %s of %s", m.session.Settings.Elsewhere[project].Origin, project)
		}
	}
	return text
}

func (m *Move) setting() string {
	configured := m.session.Settings.Backend
	if m.only != nil || placeOf(m.session) == m.To && len(m.session.Settings.Elsewhere) == len(m.target.Settings.Elsewhere) {
		return ""
	}
	line := config.BackendVariable + "=" + m.To
	origin := configured.Origin
	switch origin.Source {
	case config.FromFile:
		return fmt.Sprintf("change line %d of %s to %s", origin.Line, origin.File, line)
	case config.FromProcess:
		return "set " + line + " in the process environment, and wherever else it comes from, as in CI"
	case config.FromLogin, config.FromDefault:
		return fmt.Sprintf("add the line %s to %s", line, config.EnvironmentFile)
	}
	return fmt.Sprintf("change %s in %s:%d to %s", origin.Name, origin.File, origin.Line, m.To)
}

// Removal returns the command that deletes the old states, once they are not needed any
// more.
func (m *Move) Removal() string {
	scope := m.source.Scope()
	names := map[string][]string{} // by backend
	for _, project := range m.Projects {
		backend := m.source.Settings.BackendOf(project).Text
		names[backend] = append(names[backend], project+"/"+scope.Stack(project))
	}
	commands := lists.Map(slices.Sorted(maps.Keys(names)), func(backend string) string {
		address := strings.ReplaceAll(event.MaskURLs(backend), "'", `'\''`)
		return fmt.Sprintf("for stack in %s; do %s='%s' pulumi stack rm --force --yes --preserve-config --stack "+
			"\"%s/$stack\"; done",
			strings.Join(names[backend], " "), config.BackendVariable, address, m.from.Stacks.Organization())
	})
	return strings.Join(commands, "; ")
}
