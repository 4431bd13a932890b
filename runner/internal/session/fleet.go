package session

import (
	"context"
	"encoding/json"
	"errors"
	"maps"
	"slices"

	"mara/config"
)

// States reads the states of environments, each from its own backend, without a
// key: by the name of the stack and then by project.
func States(ctx context.Context, d Deps, o Options, stacks []string) (map[string]map[string]json.RawMessage, error) {
	at := map[string][]string{} // stacks, by backend
	for _, stack := range stacks {
		backend, err := backendOf(d, o, stack)
		if err != nil {
			return nil, err
		}
		at[backend] = append(at[backend], stack)
	}
	all := map[string]map[string]json.RawMessage{}
	for _, backend := range slices.Sorted(maps.Keys(at)) {
		found, err := statesAt(ctx, d, o, at[backend])
		if err != nil {
			return nil, err
		}
		maps.Copy(all, found)
	}
	return all, nil
}

func backendOf(d Deps, o Options, stack string) (backend string, err error) {
	o.Request = o.Request.Of(stack)
	s := New(d, o)
	defer func() { err = errors.Join(err, s.Close()) }()
	if err := s.ResolveStack(); err != nil {
		return "", err
	}
	return s.Settings.Backend.Text, nil
}

// statesAt reads the states of environments that share a backend.
func statesAt(ctx context.Context, d Deps, o Options, stacks []string) (states map[string]map[string]json.RawMessage, err error) {
	o.Request = o.Request.Of(stacks[0])
	s := New(d, o)
	defer func() { err = errors.Join(err, s.Close()) }()
	if err := s.ResolveStack(); err != nil {
		return nil, err
	}
	return statesHere(ctx, s, func(environment string, projects []string) []string {
		if !slices.Contains(stacks, environment) {
			return nil
		}
		return slices.DeleteFunc(slices.Clone(projects), func(name string) bool {
			_, known := o.Known().Project(name)
			return !known
		})
	})
}

// eachElsewhere opens the environments, one after the other, that keep their state
// in another backend than the root's, in a session of all environments. One whose
// configuration is not valid is left out: whoever lists environments tells of what
// there is.
func (s *Session) eachElsewhere(do func(other *Session, stack string) error) error {
	if s.Settings.Stack.IsSet() {
		return nil // of one environment
	}
	names, err := config.Described(s.Options.Root)
	if err != nil {
		return nil
	}
	for _, stack := range names {
		o := s.Options
		o.Request = o.Request.Of(stack)
		other := New(s.Deps, o)
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
