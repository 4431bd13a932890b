package stacks

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"

	"mara/config"
	"mara/runner/internal/core/event"
	"mara/runner/internal/core/statefiles"
)

// UnreachedError says that some of an environment's backends do not answer. It is the error of the projects there: the
// others are known.
type UnreachedError struct {
	Of map[string]error // by address of a backend of Elsewhere; "" is that of the others
}

// Error lists the backends.
func (e *UnreachedError) Error() string { return errors.Join(e.Unwrap()...).Error() }

// Unwrap returns the errors of the backends.
func (e *UnreachedError) Unwrap() []error {
	var errs []error
	for _, address := range slices.Sorted(maps.Keys(e.Of)) {
		errs = append(errs, e.Of[address])
	}
	return errs
}

// Place says in which backends projects are whose states are not in that of most, with the directories of those in
// files, and asks again which stacks there are. Nothing may work on a stack meanwhile.
func (e *Set) Place(ctx context.Context, elsewhere config.Elsewhere, states statefiles.Directory) error {
	e.options.Elsewhere, e.options.States = elsewhere, states
	return e.List(ctx)
}

// environIn returns the process environment of commands in a backend, as a copy; one that is not set is that of most
// projects.
func (c copies) environIn(backend config.Value) map[string]string {
	env := map[string]string{}
	maps.Copy(env, c.options.Env)
	if backend.IsSet() {
		env[config.BackendVariable] = backend.Text
	}
	return env
}

// list asks the backends for the stacks of the organization, by environment and then by project. A stack counts where
// its project has its states: another one of its name is a copy that was left behind. The error is an *UnreachedError
// if only some do not answer.
func (c copies) list(ctx context.Context) (map[string]map[string]Summary, error) {
	if len(c.options.Elsewhere) == 0 {
		return c.listIn(ctx, c.options.Env)
	}
	backends := map[string]config.Value{"": {}}
	for _, backend := range c.options.Elsewhere {
		backends[backend.Text] = backend
	}
	all, unreached := map[string]map[string]Summary{}, map[string]error{}
	for _, address := range slices.Sorted(maps.Keys(backends)) {
		env := c.environIn(backends[address])
		directory, _ := config.Settings{Backend: config.Value{Text: env[config.BackendVariable]}}.StateDir()
		if !(statefiles.Directory{Path: directory}).MayHaveStates() {
			continue
		}
		listed, err := c.listIn(ctx, env)
		if ctx.Err() != nil {
			return nil, err
		}
		if err != nil {
			if address != "" {
				err = fmt.Errorf("%s (%s): %w", event.MaskURLs(address), backends[address].Origin, err)
			}
			unreached[address] = err
		}
		for environment, projects := range listed {
			for project, summary := range projects {
				if c.options.Elsewhere[project].Text != address {
					continue
				}
				if all[environment] == nil {
					all[environment] = map[string]Summary{}
				}
				all[environment][project] = summary
			}
		}
	}
	if len(unreached) == 0 {
		return all, nil
	}
	return all, &UnreachedError{Of: unreached}
}
