// Package inventory asks the backends of all environments which stacks there are,
// and reads their states without a key. Environments of one root may keep them in
// several backends.
package inventory

import (
	"context"
	"encoding/json"
	"errors"
	"maps"
	"slices"

	"mara/config"
	"mara/runner/internal/session"
	"mara/runner/internal/stacks"
)

// Wanted chooses the projects of an environment whose states are read.
type Wanted func(environment string, projects []string) []string

// Stacks are the stacks of all environments, by the name of the environment and
// then by project. The session is one of the root, or of one environment.
func Stacks(ctx context.Context, s *session.Session) (map[string]map[string]stacks.Summary, error) {
	return everywhere(s, func(at *session.Session, _ string) (map[string]map[string]stacks.Summary, error) {
		if !at.States().MayHaveStates() {
			return nil, nil
		}
		o, err := at.OptionsToRead(ctx)
		if err != nil {
			return nil, err
		}
		return stacks.ListAll(ctx, o)
	})
}

// States are the states of all environments, by the name of the environment and
// then by project. The session is one of the root, or of one environment.
func States(ctx context.Context, s *session.Session, wanted Wanted) (map[string]map[string]json.RawMessage, error) {
	return everywhere(s, func(at *session.Session, only string) (map[string]map[string]json.RawMessage, error) {
		return statesAt(ctx, at, func(environment string, projects []string) []string {
			if only != "" && environment != only {
				return nil
			}
			return wanted(environment, projects)
		})
	})
}

// everywhere looks into the backend of a session, and into those of the
// environments, which it then names, that have one of their own.
func everywhere[T any](s *session.Session, look func(at *session.Session, only string) (map[string]map[string]T, error)) (map[string]map[string]T, error) {
	all, err := look(s, "")
	if err != nil {
		return nil, err
	}
	err = eachElsewhere(s, func(other *session.Session, stack string) error {
		found, err := look(other, stack)
		if all == nil {
			all = map[string]map[string]T{}
		}
		if all[stack] = found[stack]; all[stack] == nil {
			delete(all, stack) // what is here is of somebody else
		}
		return err
	})
	return all, err
}

// eachElsewhere opens the environments, one after the other, that keep their state
// in another backend than the root's, in a session of all environments. One whose
// configuration is not valid is left out: whoever lists environments tells of what
// there is.
func eachElsewhere(s *session.Session, do func(other *session.Session, stack string) error) error {
	if s.Settings.Stack.IsSet() {
		return nil // of one environment
	}
	names, err := config.Described(s.Options.Root)
	if err != nil {
		return nil
	}
	for _, stack := range names {
		o := s.Options
		o.Request = o.Of(stack)
		other := session.New(s.Deps, o)
		err := other.ResolveStack()
		if err == nil && other.Settings.Backend.Text != s.Settings.Backend.Text {
			err = do(other, stack)
		} else {
			err = nil
		}
		if err := errors.Join(err, other.Close()); err != nil {
			return err
		}
	}
	return nil
}

// StatesOf are the states of environments, each from its own backend: by the name
// of the environment and then by project.
func StatesOf(ctx context.Context, d session.Deps, o session.Options, names []string) (map[string]map[string]json.RawMessage, error) {
	at := map[string][]string{} // environments, by backend
	for _, name := range names {
		err := resolved(d, o, name, func(s *session.Session) error {
			at[s.Settings.Backend.Text] = append(at[s.Settings.Backend.Text], name)
			return nil
		})
		if err != nil {
			return nil, err
		}
	}
	all := map[string]map[string]json.RawMessage{}
	for _, backend := range slices.Sorted(maps.Keys(at)) {
		err := resolved(d, o, at[backend][0], func(s *session.Session) error {
			found, err := statesAt(ctx, s, func(environment string, projects []string) []string {
				if !slices.Contains(at[backend], environment) {
					return nil
				}
				return slices.DeleteFunc(slices.Clone(projects), func(name string) bool {
					_, known := o.Known().Project(name)
					return !known
				})
			})
			maps.Copy(all, found)
			return err
		})
		if err != nil {
			return nil, err
		}
	}
	return all, nil
}

// resolved does something with a session of an environment.
func resolved(d session.Deps, o session.Options, stack string, do func(*session.Session) error) error {
	o.Request = o.Of(stack)
	return session.Use(d, o, (*session.Session).ResolveStack, do)
}

// statesAt reads the states in the backend of a session.
func statesAt(ctx context.Context, s *session.Session, wanted Wanted) (map[string]map[string]json.RawMessage, error) {
	if states := s.States(); states.IsFile() {
		return states.ReadAll(wanted)
	}
	o, err := s.OptionsToRead(ctx)
	if err != nil {
		return nil, err
	}
	return stacks.ReadAll(ctx, o, wanted)
}
