package kind

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"mara/runner/internal/feature/kind/containers"
	"mara/runner/internal/feature/kind/kindnodes"
)

// environment returns containers in some states, and the commands that the runtime gets.
func environment(fails string, node, registry containers.State) (c Containers, ran *[]string) {
	ran = &[]string{}
	labels := map[string]string{"io.x-k8s.kind.role": kindnodes.ControlPlane}
	return Containers{
		runtime: containers.New("docker", func(_ context.Context, command containers.Command) error {
			line := strings.Join(command.Args, " ")
			*ran = append(*ran, line)
			if line == fails {
				return errors.New("refused")
			}
			return nil
		}),
		nodes:    kindnodes.Nodes{{Name: "node", State: node, Labels: labels}},
		registry: []containers.Container{{Name: "registry", State: registry}},
	}, ran
}

func TestPower(t *testing.T) {
	t.Parallel()
	const ready = "exec node kubectl --kubeconfig=/etc/kubernetes/admin.conf get --raw=/readyz"
	for _, test := range []struct {
		name           string
		do             func(Containers, context.Context) ([]string, error)
		node, registry containers.State
		fails          string
		ran, names     []string
	}{
		{"stop", Containers.Stop, containers.Running, containers.Running, "", []string{"stop node", "stop registry"}, []string{"node", "registry"}},
		{"stop a paused node", Containers.Stop, containers.Paused, containers.Stopped, "", []string{"unpause node", "stop node"}, []string{"node"}},
		{"stop again", Containers.Stop, containers.Stopped, containers.Stopped, "", nil, nil},
		{"stop fails", Containers.Stop, containers.Running, containers.Running, "stop registry", []string{"stop node", "stop registry"}, []string{"node"}},
		{"start", Containers.Start, containers.Stopped, containers.Stopped, "", []string{"start registry", "start node", ready}, []string{"registry", "node"}},
		{"start a paused node", Containers.Start, containers.Paused, containers.Running, "", []string{"unpause node", ready}, []string{"node"}},
		{"start again", Containers.Start, containers.Running, containers.Running, "", []string{ready}, nil},
		{"start fails", Containers.Start, containers.Stopped, containers.Stopped, "start node", []string{"start registry", "start node"}, []string{"registry"}},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			c, ran := environment(test.fails, test.node, test.registry)
			names, err := test.do(c, t.Context())
			if (err != nil) != (test.fails != "") || err != nil && !strings.Contains(err.Error(), "refused") {
				t.Errorf("error %v", err)
			}
			if diff := cmp.Diff(test.ran, *ran, cmpopts.EquateEmpty()); diff != "" {
				t.Errorf("commands (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(test.names, names); diff != "" {
				t.Errorf("names (-want +got):\n%s", diff)
			}
		})
	}
}

func TestHalted(t *testing.T) {
	t.Parallel()
	c, _ := environment("", containers.Paused, containers.Stopped)
	if diff := cmp.Diff([]string{"node (paused)", "registry (stopped)"}, c.Halted()); diff != "" {
		t.Error(diff)
	}
	if c, _ = environment("", containers.Running, containers.Running); len(c.Halted()) > 0 {
		t.Errorf("halted are %v, though all run", c.Halted())
	}
}
