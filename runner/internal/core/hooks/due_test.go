package hooks

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"testing"

	"mara/projects/model"
	"mara/projects/model/operation"
	"mara/runner/internal/core/plan"
	"mara/runner/internal/kube/kubeconfig"
)

// TestIsDue: which hooks keep a project from being skipped.
func TestIsDue(t *testing.T) {
	t.Parallel()
	ups := []operation.Operation{operation.Up}
	command := func(on model.Moment, simulate bool) []model.Hook {
		return []model.Hook{{Name: "mine", On: on, Operations: ups, Command: []string{"true"}, Simulate: simulate}}
	}
	builtIn := model.BuiltInHooks()
	there := map[string]any{"application_url": "https://shop.example.com"}
	gone := errors.New("connection refused")
	for name, test := range map[string]struct {
		hooks     []model.Hook
		outputs   map[string]any
		merged    bool // the kubeconfig is in place
		simulated bool
		err       error // of whoever is asked
		want      bool
	}{
		"none":                           {nil, nil, false, false, nil, false},
		"a command":                      {command(model.OnSuccess, false), nil, false, false, nil, true},
		"a command after failures":       {command(model.OnFailure, false), nil, false, false, nil, false},
		"a command, simulated":           {command(model.Always, false), nil, false, true, nil, false},
		"a command for simulations":      {command(model.Before, true), nil, false, true, nil, true},
		"kubeconfig":                     {builtIn[:1], nil, true, false, nil, false},
		"kubeconfig that is gone":        {builtIn[:1], nil, false, false, nil, true},
		"cluster that is gone":           {builtIn[:1], nil, true, false, gone, true},
		"simulated cluster":              {builtIn[:1], nil, true, true, gone, false},
		"simulated kubeconfig, gone":     {builtIn[:1], nil, false, true, nil, true},
		"application":                    {builtIn[1:], there, false, false, nil, false},
		"application that is gone":       {builtIn[1:], there, false, false, gone, true},
		"simulated application":          {builtIn[1:], there, false, true, gone, false},
		"application without an address": {builtIn[1:], nil, false, false, nil, true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h := hookSession(t, nil)
			h.Simulated = test.simulated
			h.probe = func(context.Context, []byte, map[string]string) error { return test.err }
			h.ask = func(context.Context, string) error { return test.err }
			if test.merged {
				if _, err := h.entries().Merge(t.Context(), []byte(clusterConfig)); err != nil {
					t.Fatal(err)
				}
			}
			step := plan.Step{Project: model.Project{Name: "a", Hooks: test.hooks}}
			if got := h.IsDue(t.Context(), operation.Up, step, test.outputs); got != test.want {
				t.Errorf("due: %v", got)
			}
			if h.IsDue(t.Context(), operation.Preview, step, test.outputs) {
				t.Error("due in a preview, which has none of them")
			}
		})
	}
}

// TestCurrentKubeconfig: entries of an environment count where they are complete
// and the current ones.
func TestCurrentKubeconfig(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "config")
	files := []string{filepath.Join(t.TempDir(), "none"), file}
	entries := func(name string, use bool) kubeconfig.Entries {
		return kubeconfig.Entries{Files: files, Name: name, UseContext: use}
	}
	if _, ok := entries("mara-kind-dev", false).Current(); ok {
		t.Error("there is one without a file")
	}
	for _, name := range []string{"mara-kind-dev", "mara-kind-other"} {
		if _, err := entries(name, true).Merge(t.Context(), []byte(clusterConfig)); err != nil {
			t.Fatal(err)
		}
		if content, ok := entries(name, true).Current(); !ok || len(content) == 0 {
			t.Errorf("%s is not there", name)
		}
	}
	if _, ok := entries("mara-kind-dev", true).Current(); ok {
		t.Error("it is the current one, although another has come")
	}
	for _, name := range []string{"mara-kind-dev", "mara-kind-third"} { // these need not be the current one
		if _, err := entries(name, false).Merge(t.Context(), []byte(clusterConfig)); err != nil {
			t.Fatal(err)
		}
		if _, ok := entries(name, false).Current(); !ok {
			t.Errorf("%s is not there", name)
		}
	}
	if _, ok := entries("mara-kind-other", true).Current(); !ok {
		t.Error("another one has become the current one")
	}
	if err := os.WriteFile(file, []byte("no kubeconfig"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, ok := entries("mara-kind-other", false).Current(); ok {
		t.Error("there is one in a broken file")
	}
}

// nodes are the nodes of a cluster that run, or do not.
type nodes struct {
	t   *testing.T
	run bool
	err error
}

func (n nodes) Run(_ context.Context, _ Machine, cluster string) (bool, error) {
	if cluster != "mara-dev" {
		n.t.Errorf("asked for %q", cluster)
	}
	return n.run, n.err
}

func (n nodes) Revive(context.Context, Machine, string, string, func(string)) error {
	n.t.Error("revived")
	return nil
}

// TestNodesAreDue: an up starts the nodes of a cluster on this machine.
func TestNodesAreDue(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		run  bool
		err  error
		want bool
	}{
		"all run":   {true, nil, false},
		"one halts": {false, nil, true},
		"no docker": {false, errors.New("no docker"), true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h := hookSession(t, nil)
			h.Provider.Local, h.Provider.ClusterProject = true, "a"
			h.Nodes = nodes{t, test.run, test.err}
			step, outputs := plan.Step{Project: model.Project{Name: "a"}}, map[string]any{"cluster_name": "mara-dev"}
			if got := h.IsDue(t.Context(), operation.Up, step, outputs); got != test.want {
				t.Errorf("due: %v", got)
			}
			if h.Simulated = true; h.IsDue(t.Context(), operation.Up, step, outputs) {
				t.Error("due for simulated nodes")
			}
			h.Simulated, step.Project.Name = false, "b"
			if h.IsDue(t.Context(), operation.Up, step, outputs) {
				t.Error("due for another project")
			}
			step.Project.Name, h.Nodes = "a", nil
			if h.IsDue(t.Context(), operation.Up, step, outputs) {
				t.Error("due, and nothing could start them")
			}
		})
	}
}
