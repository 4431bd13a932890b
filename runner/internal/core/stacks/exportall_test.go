package stacks

import (
	"context"
	"fmt"
	"io"
	"sync"
	"testing"
	"time"

	"mara/runner/internal/core/event"
)

// crowded notes how many commands it runs at once.
type crowded struct {
	*fakePulumi

	mu             sync.Mutex // guards the fields below
	now, most, all int
}

func (c *crowded) Run(context.Context, string, io.Reader, []io.Writer, []io.Writer, []string, ...string) (string, string, int, error) {
	c.count(1)
	defer c.count(-1)
	time.Sleep(5 * time.Millisecond)
	return `{"version":3,"deployment":{"resources":[]}}`, "", 0, nil
}

func (c *crowded) count(by int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.now += by
	c.most, c.all = max(c.most, c.now), c.all+max(by, 0)
}

// TestExportAll: the states of many projects are read a few at a time, for each needs an engine.
func TestExportAll(t *testing.T) {
	t.Parallel()
	var projects []string
	for i := range 15 {
		projects = append(projects, fmt.Sprint("project-", i))
	}
	command := &crowded{fakePulumi: newFake(t)}
	states, err := exportAll(t.Context(), Options{
		Command: command, Organization: "organization", WorkDir: t.TempDir(), Masker: event.NewMasker(),
	}, "dev", projects)
	if err != nil || len(states) != len(projects) || command.all < len(projects) || command.most > 4 {
		t.Errorf("%d states with %d commands, %d at once: %v", len(states), command.all, command.most, err)
	}
}
