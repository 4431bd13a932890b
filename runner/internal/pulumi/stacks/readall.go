package stacks

import (
	"context"
	"encoding/json"
	"maps"
	"path/filepath"
	"slices"

	"golang.org/x/sync/errgroup"
)

// ReadAll reads the states on the backend without a key, by environment and then
// by project. wanted chooses from the projects that have a stack there. Options
// need no stack.
func ReadAll(ctx context.Context, options Options, wanted func(environment string,
	projects []string) []string) (map[string]map[string]json.RawMessage, error) {
	all, err := ListAll(ctx, options)
	if err != nil {
		return nil, err
	}
	states := map[string]map[string]json.RawMessage{}
	for _, stack := range slices.Sorted(maps.Keys(all)) {
		names := wanted(stack, slices.Sorted(maps.Keys(all[stack])))
		if len(names) == 0 {
			continue
		}
		if states[stack], err = exportAll(ctx, options, stack, names); err != nil {
			return nil, err
		}
	}
	return states, nil
}

// exportAll exports the states of an environment.
func exportAll(ctx context.Context, options Options, stack string, projects []string) (map[string]json.RawMessage,
	error) {
	options.Stack, options.WorkDir = stack, filepath.Join(options.WorkDir, stack)
	c := copies{options}
	found := make([]json.RawMessage, len(projects))
	group, ctx := errgroup.WithContext(ctx)
	for i, project := range projects {
		group.Go(func() error {
			var err error
			found[i], err = c.exportState(ctx, project)
			return err
		})
	}
	if err := group.Wait(); err != nil {
		return nil, err
	}
	states := map[string]json.RawMessage{}
	for i, project := range projects {
		states[project] = found[i]
	}
	return states, nil
}
