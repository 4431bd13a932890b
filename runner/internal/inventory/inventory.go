// Package inventory asks the backends of all environments which stacks there are,
// and reads their states without a key. Environments of one root may keep them in
// several backends.
package inventory

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/pulumi/pulumi/sdk/v3/go/common/slice"

	"mara/config"
	"mara/runner/internal/scope"
	"mara/runner/internal/session"
	"mara/runner/internal/stacks"
)

// Wanted chooses the projects of an environment whose states are read.
type Wanted func(environment string, projects []string) []string

// Stacks returns the stacks of all environments, by the name of the environment and
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

// States returns the states of all environments, by the name of the environment and
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
	unread, err := eachElsewhere(s, func(other *session.Session, stack string) error {
		found, err := look(other, stack)
		if all == nil {
			all = map[string]map[string]T{}
		}
		if all[stack] = found[stack]; all[stack] == nil {
			delete(all, stack) // what is here is of somebody else
		}
		return err
	})
	if err == nil && len(unread) > 0 {
		err = &IncompleteError{Causes: unread}
	}
	return all, err
}

// IncompleteError says that environments are missing from what was found, because it
// is not known where their states are. The rest was found and comes with the error.
type IncompleteError struct{ Causes []error }

// Error says why.
func (e *IncompleteError) Error() string {
	causes := slice.Map(e.Causes, error.Error)
	return "not all environments can be read: " + strings.Join(causes, "; ")
}

// NextStep says what shows and checks the environments.
func (e *IncompleteError) NextStep() string {
	return "`runner fleet check` shows what is wrong with them"
}

// eachElsewhere opens the environments, one after the other, that keep their state
// in another backend than the root's, in a session of all environments. It skips an
// environment whose configuration is not valid, and returns why.
func eachElsewhere(s *session.Session, do func(other *session.Session, stack string) error) (unread []error, err error) {
	if s.Settings.Stack.IsSet() {
		return nil, nil // of one environment
	}
	names, err := config.Described(s.Options.Root)
	if err != nil {
		unread = append(unread, err) // it lists those that can be read all the same
	}
	for _, stack := range names {
		o := s.Options
		o.Request = o.Of(stack)
		other := session.New(s.Deps, o)
		err := other.ResolveStack()
		switch {
		case err != nil:
			unread, err = append(unread, fmt.Errorf("%s: %w", stack, err)), nil
		case other.Settings.Backend.Text != s.Settings.Backend.Text:
			err = do(other, stack)
		}
		if err := errors.Join(err, other.Close()); err != nil {
			return unread, err
		}
	}
	return unread, nil
}

// OfEnvironment reads the states of the environment of a session, by project. States
// of other projects with a stack of its name are not among them: they may belong to
// another repository that shares the backend.
func OfEnvironment(ctx context.Context, s *session.Session) (map[string]json.RawMessage, error) {
	own := s.Scope()
	found, err := statesAt(ctx, s, chosenBy(own))
	return scope.Own(own, found), err
}

// chosenBy chooses the projects of some environments.
func chosenBy(scopes ...scope.Scope) Wanted {
	return func(environment string, projects []string) []string {
		return slices.DeleteFunc(slices.Clone(projects), func(project string) bool {
			return !slices.ContainsFunc(scopes, func(s scope.Scope) bool { return s.Contains(environment, project) })
		})
	}
}

// StatesOf reads the states of environments, each from its own backend: by the name
// of the environment and then by project.
func StatesOf(ctx context.Context, d session.Deps, o session.Options, names []string) (map[string]map[string]json.RawMessage, error) {
	at := map[string][]scope.Scope{} // by backend
	for _, name := range names {
		err := resolved(d, o, name, func(s *session.Session) error {
			at[s.Settings.Backend.Text] = append(at[s.Settings.Backend.Text], s.Scope())
			return nil
		})
		if err != nil {
			return nil, err
		}
	}
	all := map[string]map[string]json.RawMessage{}
	for _, backend := range slices.Sorted(maps.Keys(at)) {
		err := resolved(d, o, at[backend][0].Environment, func(s *session.Session) error {
			found, err := statesAt(ctx, s, chosenBy(at[backend]...))
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
