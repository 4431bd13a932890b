package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"mara/runner/internal/machine/layout"
)

// wanted is how long the critical path takes.
const wanted = 60 * time.Second

// measurePath lets exactly one resource of each project take time, in the
// proportions that are declared for the projects, so that the length of the
// critical path is known and not measured. Everything beyond it is ours.
func measurePath(ctx context.Context, o options, w io.Writer) error {
	slow, err := slowest(ctx, o)
	if err != nil {
		return err
	}
	e, err := newEnvironment(o)
	if err != nil {
		return err
	}
	defer e.remove()
	declared := e.plan.Declared()
	for _, step := range e.plan.Steps {
		if slow[step.Project.Name] == "" { // it makes nothing that could take time
			declared.Known[step.Project.Name] = 0
		}
	}
	length := e.plan.CriticalPath(declared)
	args := []string{"up", "--yes", "-o", "json"}
	for _, step := range e.plan.Steps {
		if slow[step.Project.Name] == "" {
			continue
		}
		took := time.Duration(float64(declared.Of(step.Project.Name)) / float64(length.Total) * float64(wanted))
		args = append(args, "--simulate-slow", fmt.Sprintf("%s=%s", slow[step.Project.Name], took.Round(time.Millisecond)))
	}
	m, err := timed(e.runner(ctx, args...))
	if err != nil {
		return err
	}
	fmt.Fprintf(w, "\n(e) First up of %s with a critical path of %s: %s, %.3f times the path (goal: <= 1.05)\n    %s\n",
		o.provider, wanted, seconds(m.wall), m.wall.Seconds()/wanted.Seconds(), strings.Join(length.Projects, " > "))
	return nil
}

// slowest chooses a resource of each project that makes any: TYPE@NAME, which
// no other project has.
func slowest(ctx context.Context, o options) (map[string]string, error) {
	e, err := newEnvironment(o)
	if err != nil {
		return nil, err
	}
	defer e.remove()
	if _, err := timed(e.runner(ctx, "up", "--yes", "-o", "json")); err != nil {
		return nil, err
	}
	owners := map[string][]string{}
	for _, step := range e.plan.Steps {
		patterns, err := e.resources(step.Project.Name)
		if err != nil {
			return nil, err
		}
		for _, pattern := range patterns {
			owners[pattern] = append(owners[pattern], step.Project.Name)
		}
	}
	chosen := map[string]string{}
	for pattern, projects := range owners {
		if before := chosen[projects[0]]; len(projects) == 1 && (before == "" || pattern < before) {
			chosen[projects[0]] = pattern
		}
	}
	return chosen, nil
}

// resources returns the resources that a project has created in the clouds.
func (e *environment) resources(project string) ([]string, error) {
	content, err := os.ReadFile(layout.Of(e.root, true).State().Stack(project, stack))
	if err != nil {
		return nil, err
	}
	var state struct {
		Checkpoint struct {
			Latest struct {
				Resources []struct {
					URN      string
					Type     string
					Custom   bool
					External bool
				}
			}
		}
	}
	if err := json.Unmarshal(content, &state); err != nil {
		return nil, err
	}
	var patterns []string
	for _, r := range state.Checkpoint.Latest.Resources {
		if r.Custom && !r.External && !strings.HasPrefix(r.Type, "pulumi:") {
			patterns = append(patterns, r.Type+"@"+r.URN[strings.LastIndex(r.URN, "::")+2:])
		}
	}
	return patterns, nil
}
