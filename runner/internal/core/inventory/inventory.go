// Package inventory lists the stacks of all environments and reads their states without a
// key. Environments of one root may have different backends.
package inventory

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"mara/config"
	"mara/config/lists"
	"mara/runner/internal/core/session"
	"mara/runner/internal/core/stacks"
	"mara/runner/internal/core/statefiles"
)

// Wanted chooses the projects of an environment whose states are read.
type Wanted func(environment string, projects []string) []string

// Stacks lists the stacks of all environments, by environment and then by project. What is
// resolved is the root or one environment.
func Stacks(ctx context.Context, s *session.Resolved) (map[string]map[string]stacks.Summary, error) {
	return everywhere(s, func(at *session.Resolved, _ string) (map[string]map[string]stacks.Summary, error) {
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

// States reads the states of all environments, by environment and then by project. What is
// resolved is the root or one environment.
func States(ctx context.Context, s *session.Resolved, wanted Wanted) (map[string]map[string]json.RawMessage, error) {
	return everywhere(s, func(at *session.Resolved, only string) (map[string]map[string]json.RawMessage, error) {
		return statesAt(ctx, at, func(environment string, projects []string) []string {
			if only != "" && environment != only {
				return nil
			}
			return wanted(environment, projects)
		})
	})
}

// everywhere calls a function for the backend of what is resolved and, if that is the root,
// for the backends of environments that have their own, one after the other. It
// skips environments with an invalid configuration, and returns their errors.
func everywhere[T any](s *session.Resolved, look func(at *session.Resolved, only string) (map[string]map[string]T,
	error)) (map[string]map[string]T, error) {
	var unread []error
	all, err := look(s, "")
	if _, partly := errors.AsType[*stacks.UnreachedError](err); partly {
		unread, err = append(unread, err), nil
	}
	if err != nil {
		return nil, err
	}
	if s.Settings.Stack.IsSet() { // not the root
		if len(unread) > 0 {
			return all, &IncompleteError{Causes: unread}
		}
		return all, nil
	}
	names, err := config.Described(s.Options.Root)
	if err != nil {
		unread = append(unread, err) // continue with the readable environments
	}
	for _, stack := range names {
		o := s.Options
		o.Request = o.Of(stack)
		other, err := session.ResolveStack(s.Deps, o)
		switch {
		case err != nil:
			unread, err = append(unread, fmt.Errorf("%s: %w", stack, err)), nil
		case other.Settings.Places() != s.Settings.Places():
			var found map[string]map[string]T
			found, err = look(other, stack)
			if _, partly := errors.AsType[*stacks.UnreachedError](err); partly {
				unread, err = append(unread, err), nil
			}
			if all == nil {
				all = map[string]map[string]T{}
			}
			if all[stack] = found[stack]; all[stack] == nil {
				delete(all, stack) // it belongs to another repository
			}
		}
		if err := errors.Join(err, other.Close()); err != nil {
			return all, err
		}
	}
	if len(unread) > 0 {
		return all, &IncompleteError{Causes: unread}
	}
	return all, nil
}

// IncompleteError is the error about environments whose backend is unknown. The other
// environments are returned with the error.
type IncompleteError struct{ Causes []error }

// Error lists the causes.
func (e *IncompleteError) Error() string {
	return "not all environments can be read: " + strings.Join(lists.Map(e.Causes, error.Error), "; ")
}

// NextStep names the command that checks the environments.
func (e *IncompleteError) NextStep() string {
	return "`runner check` shows what is wrong with them"
}

// OfEnvironment reads the states of an environment, by project. It skips other
// projects with a stack of the same name: they may belong to another repository that shares
// the backend.
func OfEnvironment(ctx context.Context, s *session.Resolved) (map[string]json.RawMessage, error) {
	own := s.Scope()
	found, err := statesAt(ctx, s, chosenBy(own))
	return session.Own(own, found), err
}

// chosenBy returns a filter for the projects of some environments.
func chosenBy(scopes ...session.Scope) Wanted {
	return func(environment string, projects []string) []string {
		for _, s := range scopes {
			if own := s.Choose(environment, projects); len(own) > 0 {
				return own
			}
		}
		return nil
	}
}

// StatesOf reads the states of environments, each from its backend, by environment and then
// by project.
func StatesOf(ctx context.Context, d session.Deps, o session.Options,
	names []string) (map[string]map[string]json.RawMessage, error) {
	at := map[string][]session.Scope{} // by where the states are
	for _, name := range names {
		err := resolved(d, o, name, func(s *session.Resolved) error {
			at[s.Settings.Places()] = append(at[s.Settings.Places()], s.Scope())
			return nil
		})
		if err != nil {
			return nil, err
		}
	}
	all := map[string]map[string]json.RawMessage{}
	for _, places := range slices.Sorted(maps.Keys(at)) {
		err := resolved(d, o, at[places][0].Environment, func(s *session.Resolved) error {
			found, err := statesAt(ctx, s, chosenBy(at[places]...))
			maps.Copy(all, found)
			return err
		})
		if err != nil {
			return nil, err
		}
	}
	return all, nil
}

// resolved calls a function with an environment.
func resolved(d session.Deps, o session.Options, stack string, do func(*session.Resolved) error) error {
	o.Request = o.Of(stack)
	return session.Use(d, o, session.ResolveStack, do)
}

// At calls a function with the environment as if all of its states were in a backend.
func At(s *session.Resolved, backend string, do func(*session.Resolved) error) error {
	settings, err := s.Settings.At(backend)
	if err != nil {
		return err
	}
	o := s.Options
	o.Sources = o.Sources.With(config.BackendVariable, settings.Backend.Text)
	return session.Use(s.Deps, o, session.ResolveStack, do)
}

// anyLags reports whether a state lags behind a journal, which takes the engine to read.
func anyLags(states map[string]map[string]json.RawMessage) bool {
	for _, projects := range states {
		for _, state := range projects {
			if statefiles.Lags(state) {
				return true
			}
		}
	}
	return false
}

// statesAt reads the states in the backend of an environment.
func statesAt(ctx context.Context, s *session.Resolved, wanted Wanted) (map[string]map[string]json.RawMessage, error) {
	if states := s.States(); states.IsFile() && !states.HasOldLayout() {
		read, err := states.ReadAll(wanted)
		if err != nil || !anyLags(read) {
			return read, err
		}
	}
	o, err := s.OptionsToRead(ctx)
	if err != nil {
		return nil, err
	}
	return stacks.ReadAll(ctx, o, wanted)
}
