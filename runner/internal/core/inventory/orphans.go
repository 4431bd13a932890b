package inventory

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"mara/config"
	"mara/config/files"
	"mara/config/lists"
	"mara/projects/model"
	"mara/runner/internal/core/discover"
	"mara/runner/internal/core/environments"
	"mara/runner/internal/core/event"
	"mara/runner/internal/core/plan"
	"mara/runner/internal/core/session"
	"mara/runner/internal/core/stacks"
	"mara/runner/internal/core/vault"
	"mara/runner/internal/machine/typeset"
)

// Orphan is a deployed stack of an environment that no project claims: its project was
// renamed, or removed from mara.yaml.
type Orphan struct {
	Project   string   `json:"project"`
	Stack     string   `json:"stack"`
	Resources int      `json:"resources"`
	Reads     []string `json:"reads,omitempty"` // other orphans
	Needs     []string `json:"needs,omitempty"` // projects of the environment
	Key       string   `json:"-"`               // that encrypts it: the salt of a passphrase, or a data key
	// Backend is where it is, without credentials, if that is another backend than the environment's own.
	Backend string `json:"backend,omitempty"`
}

// String returns the project and the number of its resources, and where it is if that is elsewhere.
func (o Orphan) String() string {
	resources := typeset.Counted(o.Resources, "resource")
	if o.Backend != "" {
		resources += " in " + o.Backend
	}
	return fmt.Sprintf("%s (%s)", o.Project, resources)
}

// Unclaimed has the deployed stacks with the environment's name that no project claims.
type Unclaimed struct {
	Orphans []Orphan
	// Strangers are the projects of stacks that may belong to another repository: they are in
	// a shared backend, and not encrypted with the key of the environment. At Pulumi Cloud, which has the keys, they lack
	// the tag of the repository.
	Strangers []string
	// Mark is what strangers lack: "is not encrypted with the key of this environment".
	Mark      string
	elsewhere config.Elsewhere // the backends of orphans that are not in that of most projects
}

// FindUnclaimed finds stacks of an environment that no project claims, in each of its backends.
func FindUnclaimed(ctx context.Context, s *session.Reading) (Unclaimed, error) {
	found, err := findUnclaimed(ctx, s.Resolved, s.Stacks)
	if err != nil || len(s.Settings.Elsewhere) == 0 {
		return found, err
	}
	found.elsewhere = config.Elsewhere{}
	for _, settings := range s.Settings.InEach()[1:] {
		there, err := unclaimedIn(ctx, s.Resolved, settings.Backend.Text)
		if ctx.Err() != nil {
			return found, err
		}
		if err != nil { // as with the list of stacks, a backend that does not answer is the error of its projects alone
			continue
		}
		for _, orphan := range there.Orphans {
			if !slices.ContainsFunc(found.Orphans, func(o Orphan) bool { return o.Project == orphan.Project }) {
				found.elsewhere[orphan.Project] = settings.Backend
				orphan.Backend = event.MaskURLs(settings.Backend.Text)
				found.Orphans = append(found.Orphans, orphan)
			}
		}
		found.Strangers = append(found.Strangers, there.Strangers...)
	}
	slices.Sort(found.Strangers)
	found.Strangers = slices.Compact(found.Strangers)
	return found, nil
}

// Place lets an environment work on the orphans: it knows from then on in which backend each is.
func (u Unclaimed) Place(ctx context.Context, s *session.Reading) error {
	if len(u.elsewhere) == 0 {
		return nil
	}
	all := maps.Clone(s.Settings.Elsewhere)
	maps.Copy(all, u.elsewhere)
	s.Settings.Elsewhere = all
	return s.Stacks.Place(ctx, all, s.States())
}

// unclaimedIn finds the stacks in one of the backends.
func unclaimedIn(ctx context.Context, s *session.Resolved, backend string) (found Unclaimed, err error) {
	err = At(s, backend, func(other *session.Resolved) error {
		var set *stacks.Set
		if !other.States().IsFile() {
			o, err := other.OptionsToRead(ctx)
			if err != nil {
				return err
			}
			if set, err = stacks.Open(ctx, o); err != nil {
				return err
			}
		}
		var err error
		found, err = findUnclaimed(ctx, other, set)
		return err
	})
	return found, err
}

// findUnclaimed finds the stacks in the backend of most projects. Where that has files, these show them, and set may be nil.
func findUnclaimed(ctx context.Context, s *session.Resolved, set *stacks.Set) (Unclaimed, error) {
	if !s.States().MayHaveStates() || !s.States().IsFile() && len(set.Unclaimed()) == 0 {
		return Unclaimed{}, nil
	}
	own := s.Scope()
	keys := keysInFiles(s)
	if at := (stacks.AtService{Set: set}); !s.States().IsFile() && at.Is() && len(keys) == 0 {
		return findTagged(ctx, s, at)
	}
	found, err := statesAt(ctx, s, func(environment string, projects []string) []string {
		if environment != own.Environment || !slices.ContainsFunc(projects,
			func(p string) bool { return !own.Contains(environment, p) }) {
			return nil
		}
		return projects
	})
	if _, partly := errors.AsType[*stacks.UnreachedError](err); err != nil && !partly {
		return Unclaimed{}, err
	}
	for _, state := range session.Own(own, found) {
		one, err := parse(state)
		if err != nil {
			return Unclaimed{}, err
		}
		keys[one.key()] = true
	}
	delete(keys, "")
	private := strings.HasPrefix(s.States().Path, string(s.Directory)+string(filepath.Separator))
	unclaimed, err := sortOut(own, found[own.Environment], func(key string) bool { return private || keys[key] })
	unclaimed.Mark = "is not encrypted with the key of this environment"
	return unclaimed, err
}

// keysInFiles returns the keys that encrypt the files of an environment, as the files name them.
func keysInFiles(s *session.Resolved) map[string]bool {
	environment := s.Scope().Environment
	kept, _ := files.Read(s.Directory.Salt(environment), files.Text)                        // missing with a key service, and in a fresh clone
	files := append(environments.OwnFiles(s.Settings.Root, environment, s.Options.Known()), // of a project with another name now
		s.Settings.Config, s.Settings.Secrets, config.StackFile{Content: kept})
	keys := map[string]bool{}
	for _, file := range files {
		if header, err := file.Header(); err == nil {
			keys[header.EncryptionSalt], keys[header.EncryptedKey] = true, true
		}
	}
	delete(keys, "")
	return keys
}

// findTagged asks Pulumi Cloud which of the stacks that no project claims were deployed from this repository. An
// organization may have many of the same name.
func findTagged(ctx context.Context, s *session.Resolved, at stacks.AtService) (Unclaimed, error) {
	unclaimed := at.Unclaimed()
	states := map[string]json.RawMessage{}
	if tag, ok := vault.TagOfRepository(ctx, s.Settings.Root); ok {
		var err error
		if states, err = at.Tagged(ctx, unclaimed, tag); err != nil {
			return Unclaimed{}, err
		}
	}
	found, err := sortOut(s.Scope(), states, func(string) bool { return true })
	found.Mark = "has no tag of this repository"
	for _, project := range unclaimed {
		if _, ours := states[project]; !ours && at.IsDeployed(project) {
			found.Strangers = append(found.Strangers, project)
		}
	}
	return found, err
}

// sortOut separates orphans from strangers.
func sortOut(own session.Scope, states map[string]json.RawMessage, isOurs func(key string) bool) (Unclaimed, error) {
	var result Unclaimed
	for _, project := range lists.Keys(states) {
		if own.Contains(own.Environment, project) {
			continue
		}
		state, err := parse(states[project])
		if err != nil {
			return Unclaimed{}, fmt.Errorf("reading the state of %s: %w", project, err)
		}
		switch {
		case len(state.Resources) == 0:
		case isOurs(state.key()):
			result.Orphans = append(result.Orphans, Orphan{Project: project, Stack: own.Stack(project),
				Resources: state.counted(), Key: state.key()})
		default:
			result.Strangers = append(result.Strangers, project)
		}
	}
	names := lists.Map(result.Orphans, func(orphan Orphan) string { return orphan.Project })
	for i, orphan := range result.Orphans {
		references, err := discover.References(states[orphan.Project])
		if err != nil {
			return Unclaimed{}, fmt.Errorf("reading the state of %s: %w", orphan.Project, err)
		}
		for _, name := range references {
			parts := strings.Split(name, "/")
			if len(parts) < 2 || parts[len(parts)-1] != orphan.Stack {
				continue
			}
			switch read := parts[len(parts)-2]; {
			case read == orphan.Project:
			case slices.Contains(names, read):
				result.Orphans[i].Reads = append(result.Orphans[i].Reads, read)
			case own.Contains(own.Environment, read):
				result.Orphans[i].Needs = append(result.Orphans[i].Needs, read)
			}
		}
	}
	return result, nil
}

// deployment has the key and the resources of a state.
type deployment struct {
	Provider struct {
		State struct {
			Salt         string `json:"salt"`
			EncryptedKey string `json:"encryptedkey"`
		} `json:"state"`
	} `json:"secrets_providers"`
	Resources []struct {
		URN      string `json:"urn"`
		External bool   `json:"external"`
	} `json:"resources"`
}

// counted returns how many resources an operation and the status of a project count.
func (d deployment) counted() (n int) {
	for _, r := range d.Resources {
		if !r.External && !stacks.IsDefaultProvider(r.URN) {
			n++
		}
	}
	return n
}

func parse(state json.RawMessage) (d deployment, err error) {
	if len(state) > 0 {
		err = json.Unmarshal(state, &d)
	}
	return d, err
}

// key identifies the encryption of a stack: the salt of the passphrase, or the data key of a
// key service.
func (d deployment) key() string { return d.Provider.State.Salt + d.Provider.State.EncryptedKey }

// Plan returns a plan of the orphans, each after the orphans that it reads.
func (u Unclaimed) Plan(provider model.Provider) (plan.Plan, error) {
	left := slices.Clone(u.Orphans)
	made := provider
	made.Steps = nil
	done := map[string]bool{}
	for len(left) > 0 {
		i := max(0, slices.IndexFunc(left, func(o Orphan) bool { // 0 in a cycle
			return !slices.ContainsFunc(o.Reads, func(read string) bool { return !done[read] })
		}))
		step := model.Step{Project: model.Project{Name: left[i].Project, Title: left[i].Project}}
		step.Reads = slices.DeleteFunc(slices.Clone(left[i].Reads), func(read string) bool { return !done[read] })
		made.Steps = append(made.Steps, step)
		done[left[i].Project] = true
		left = slices.Delete(left, i, i+1)
	}
	return plan.New(made)
}

// Remedy returns a hint for orphans. command returns a command on the same environment.
func (u Unclaimed) Remedy(command func(name string) string) string {
	return "after a rename: `" + command("adopt --rename "+u.Orphans[0].Project+" NEW") + "`; to destroy them: `" +
		command("destroy --orphans") + "`"
}

// Text names the orphans.
func (u Unclaimed) Text() string {
	names := strings.Join(lists.Map(u.Orphans, Orphan.String), ", ")
	if len(u.Orphans) == 1 {
		return names + " is deployed here, and no project claims it"
	}
	return names + " are deployed here, and no project claims them"
}
