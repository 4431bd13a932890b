package identity

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"slices"
	"strings"

	"gopkg.in/yaml.v3"

	"mara/config"
	"mara/config/files"
	"mara/runner/internal/core/event"
	"mara/runner/internal/core/inventory"
	"mara/runner/internal/core/request"
	"mara/runner/internal/core/session"
	"mara/runner/internal/core/stacks"
	"mara/runner/internal/machine/atomicfile"
	"mara/runner/internal/machine/failure"
)

// backendRecord is the record of where an environment was deployed to, without the
// credentials in an address.
type backendRecord struct {
	Backend  string            `yaml:"backend"`
	Projects map[string]string `yaml:"projects,omitempty"` // those elsewhere
}

// of returns where a project was deployed to.
func (r backendRecord) of(project string) string {
	if other, ok := r.Projects[project]; ok {
		return other
	}
	return r.Backend
}

// placeOfProject returns the address of a project's backend as records have it.
func placeOfProject(s *session.Resolved, project string) string {
	return event.MaskURLs(s.Settings.Of(project).BackendPlace())
}

// BackendBefore returns the backend that the environment was last deployed to from this
// root, "" if that is the configured one, or if nothing of it is deployed there. projects are those that were there, nil
// for all: where projects have backends of their own, each is compared with its own.
func BackendBefore(ctx context.Context, s *session.Resolved) (before string, projects []string, err error) {
	record, err := recordedBackend(s)
	if err != nil {
		return "", nil, err
	}
	if len(record.Projects) == 0 && len(s.Settings.Elsewhere) == 0 {
		if record.Backend == placeOf(s) {
			return "", nil, nil
		}
		deployed, err := mayBeDeployed(s, record.Backend)
		if err != nil || !deployed {
			return "", nil, err
		}
		return record.Backend, nil, nil
	}
	left := map[string][]string{}
	for _, project := range knownProjects(s) {
		if then := record.of(project); then != placeOfProject(s, project) {
			left[then] = append(left[then], project)
		}
	}
	for _, place := range slices.Sorted(maps.Keys(left)) {
		deployed, err := deployedIn(ctx, s, place, left[place])
		if err != nil {
			return "", nil, err
		}
		if len(deployed) > 0 {
			return place, deployed, nil
		}
	}
	return "", nil, nil
}

// recordedBackend reads the record. An environment without one may have been deployed
// to the default backend.
func recordedBackend(s *session.Resolved) (record backendRecord, err error) {
	content, err := files.Read(s.Directory.Backend(s.Settings.Stack.Text), files.Text)
	if errors.Is(err, fs.ErrNotExist) {
		return backendRecord{Backend: config.DefaultBackend}, nil
	}
	if err != nil {
		return record, failure.RunnerDir(err)
	}
	if err := yaml.Unmarshal(content, &record); err != nil || record.Backend == "" {
		return record, &failure.Environment{
			Text: s.Directory.Backend(s.Settings.Stack.Text) + " does not say where the environment was deployed to",
			Next: "write `backend: ADDRESS` into it, or delete it",
		}
	}
	return record, nil
}

// mayBeDeployed reports whether projects of the environment have resources in a
// backend. Of a backend that is no directory it is taken for granted.
func mayBeDeployed(s *session.Resolved, backend string) (bool, error) {
	settings, err := s.Settings.At(backend)
	if err != nil {
		return false, err
	}
	dir, isDir := settings.StateDir()
	if !isDir {
		return true, nil
	}
	states := s.States()
	states.Path, states.Elsewhere = dir, nil
	if !states.MayHaveStates() {
		return false, nil
	}
	standings, err := stacks.Options{Stack: s.Settings.Stack.Text, States: states}.StandingsIn(knownProjects(s))
	if err != nil {
		return false, &failure.Environment{
			Text: fmt.Sprintf("whether %q is deployed in %s is unknown: %v", s.Settings.Stack.Text, backend, err),
			Next: "add --new-backend if it is not to matter",
		}
	}
	hasResources := func(standing stacks.Standing) bool { return standing.Resources > 0 }
	return slices.ContainsFunc(slices.Collect(maps.Values(standings)), hasResources), nil
}

// deployedIn asks a backend which of some projects have resources there. Where it cannot be asked because its password
// is not recorded, all may.
func deployedIn(ctx context.Context, s *session.Resolved, backend string, projects []string) (deployed []string, err error) {
	if strings.Contains(backend, "***") {
		return projects, nil
	}
	err = inventory.At(s, backend, func(other *session.Resolved) error {
		if !other.States().MayHaveStates() {
			return nil
		}
		set, err := readStacks(ctx, other)
		if err == nil {
			deployed = slices.DeleteFunc(projects, func(project string) bool { return !set.IsDeployed(project) })
		}
		return err
	})
	if err != nil && ctx.Err() == nil {
		err = &failure.Environment{
			Text: fmt.Sprintf("whether %s of %q is deployed in %s is unknown: %v", strings.Join(projects, ", "),
				s.Settings.Stack.Text, backend, err),
			Next: "add --new-backend if it is not to matter",
		}
	}
	return deployed, err
}

// RecordBackend records where the environment is deployed to, and with which keys.
func RecordBackend(s *session.Resolved) error {
	if s.Options.Simulation.On {
		return nil
	}
	if err := rememberKeys(s); err != nil {
		return err
	}
	record := backendRecord{Backend: placeOf(s)}
	for _, project := range knownProjects(s) {
		record.put(project, placeOfProject(s, project))
	}
	return request.WriteRecord(s.Directory.Backend(s.Settings.Stack.Text), record)
}

// recordMoved records that some projects are where they are configured now.
func recordMoved(s *session.Resolved, projects []string) error {
	record, err := recordedBackend(s)
	if err != nil {
		return err
	}
	for _, project := range projects {
		record.put(project, placeOfProject(s, project))
	}
	return request.WriteRecord(s.Directory.Backend(s.Settings.Stack.Text), record)
}

// put records where a project is.
func (r *backendRecord) put(project, place string) {
	delete(r.Projects, project)
	if place == r.Backend {
		return
	}
	if r.Projects == nil {
		r.Projects = map[string]string{}
	}
	r.Projects[project] = place
}

// DropBackend deletes the record once no project of the environment has resources.
func DropBackend(s *session.Reading) error {
	if len(deployedProjects(s.Resolved, s.Stacks.Summary)) > 0 {
		return nil
	}
	return failure.RunnerDir(atomicfile.Remove(s.Directory.Backend(s.Settings.Stack.Text)))
}
