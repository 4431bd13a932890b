package kindnodes_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/google/go-cmp/cmp"

	"mara/runner/internal/feature/kind/containers"
	"mara/runner/internal/feature/kind/kindnodes"
)

// described returns the description of a node by docker.
func described(name, role, state string) string {
	return fmt.Sprintf(`{"Name": "/%s", "State": {"Running": %t, "Paused": %t}, "Config": {"Labels": {"io.x-k8s.kind.role": "%s"}},
		"Mounts": [{"Destination": "/kind/owner/me/uid-1"}]}`, name, state != "stopped", state == "paused", role)
}

// TestRevive starts what is halted in this cluster, and waits for its API server.
func TestRevive(t *testing.T) {
	t.Parallel()
	const up = "kubectl --kubeconfig=/etc/kubernetes/admin.conf get --raw=/readyz"
	tests := []struct {
		name  string
		nodes []string
		uid   string
		fails map[string]int // how often a command fails
		want  []string       // what is run, after the nodes are known
		error string
	}{
		{name: "none", uid: "uid-1"},
		{name: "running", uid: "uid-1", nodes: []string{described("a", "control-plane", "running")}},
		{name: "another cluster's", uid: "uid-2", nodes: []string{described("a", "control-plane", "stopped")}},
		{
			name: "halted", uid: "uid-1", fails: map[string]int{"exec a " + up: 2},
			nodes: []string{described("a", "control-plane", "stopped"), described("b", "worker", "paused"), described("c", "worker", "running")},
			want:  []string{"start a", "unpause b", "exec a " + up, "exec a " + up, "exec a " + up},
		},
		{
			name: "it does not start", uid: "uid-1", fails: map[string]int{"start a": 1}, error: "refused",
			nodes: []string{described("a", "control-plane", "stopped")}, want: []string{"start a"},
		},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				var ran []string
				run := func(_ context.Context, c containers.Command) error {
					line, answer := strings.Join(c.Args, " "), ""
					switch c.Args[0] {
					case "ps":
						answer = strings.Repeat("x ", len(test.nodes))
					case "container":
						answer = "[" + strings.Join(test.nodes, ",") + "]"
					default:
						ran = append(ran, line)
						if test.fails[line]--; test.fails[line] >= 0 {
							return errors.New("refused")
						}
					}
					_, err := io.WriteString(c.Stdout, answer)
					return err
				}
				test.fails = cloned(test.fails)
				var said []string
				err := kindnodes.Revive(t.Context(), containers.New("docker", run), "dev", test.uid, func(text string) { said = append(said, text) })
				if (err == nil) != (test.error == "") || err != nil && !strings.Contains(err.Error(), test.error) {
					t.Errorf("error %v, want %q", err, test.error)
				}
				if diff := cmp.Diff(test.want, ran); diff != "" {
					t.Errorf("commands (-want +got):\n%s", diff)
				}
				if (len(said) > 0) != (len(test.want) > 0) {
					t.Errorf("it said %q", said)
				}
			})
		})
	}
}

func cloned(counts map[string]int) map[string]int {
	all := map[string]int{}
	for name, n := range counts {
		all[name] = n
	}
	return all
}
