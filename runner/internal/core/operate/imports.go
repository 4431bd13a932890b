package operate

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"

	"mara/projects/model"
	"mara/runner/internal/core/event"
	"mara/runner/internal/core/inputs"
	"mara/runner/internal/core/plan"
	"mara/runner/internal/core/pulumicli/wire"
	"mara/runner/internal/core/session"
)

// imports says in a preview which values come from environments of Pulumi ESC, which are in no file.
type imports struct {
	s *session.Resolved

	mu    sync.Mutex // held while the service is asked: projects share environments
	known map[string]imported
}

type imported struct {
	values map[string]wire.Imported
	err    error
}

// say names the values that a project gets.
func (i *imports) say(ctx context.Context, step plan.Step, emit func(event.Event)) {
	if i == nil {
		return
	}
	values, err := i.of(ctx, step.Project)
	if err != nil {
		event.Say(emit, event.Warning, "Pulumi ESC was not asked: %v", err)
		return
	}
	var words []string
	for _, key := range slices.Sorted(maps.Keys(values)) {
		namespace, _, isFull := strings.Cut(key, ":")
		if isFull && namespace != step.Project.Name && slices.Contains(i.s.Plan.Names(), namespace) {
			continue
		}
		words = append(words, fmt.Sprintf("%s = %s (%s)", key, values[key].Shown(), values[key].Place()))
	}
	if len(words) > 0 {
		event.Say(emit, event.Info, event.FromESC+"%s", strings.Join(words, ", "))
	}
}

func (i *imports) of(ctx context.Context, project model.Project) (map[string]wire.Imported, error) {
	environments := inputs.ImportsOf(i.s, project)
	if environments == nil {
		return nil, nil
	}
	i.mu.Lock()
	defer i.mu.Unlock()
	found, ok := i.known[string(environments)]
	if !ok {
		found.values, found.err = session.Imported(ctx, i.s, environments)
		i.known[string(environments)] = found
	}
	return found.values, found.err
}
