package kindnodes_test

import (
	"os"
	"path/filepath"
	"testing"

	"mara/runner/internal/core/hooks"
	"mara/runner/internal/feature/kind/containers"
	"mara/runner/internal/feature/kind/kindnodes"
	"mara/runner/internal/testing/scripttest"
)

// TestRun: a cluster runs if it has nodes and none of them stands still.
func TestRun(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		states []containers.State
		want   bool
	}{
		"all run":    {[]containers.State{containers.Running, containers.Running}, true},
		"one stands": {[]containers.State{containers.Running, containers.Stopped}, false},
		"one sleeps": {[]containers.State{containers.Paused}, false},
		"all gone":   {nil, false},
	} {
		var nodes kindnodes.Nodes
		for _, state := range test.states {
			nodes = append(nodes, containers.Container{Name: "n", State: state})
		}
		if got := nodes.Run(); got != test.want {
			t.Errorf("%s: %v", name, got)
		}
	}
}

// TestReviveLocal: stopped nodes of this very cluster are started, and no others of its name.
func TestReviveLocal(t *testing.T) {
	t.Parallel()
	const node = `[{"Name": "/mara-dev-control-plane", "State": {"Running": false},
		"Config": {"Labels": {"io.x-k8s.kind.role": "control-plane"}}, "Mounts": [{"Destination": "/kind/owner/me/uid-1"}]}]`
	for uid, want := range map[string]string{
		"uid-1": "start mara-dev-control-plane\nexec mara-dev-control-plane\n", "uid-2": "",
	} {
		calls := filepath.Join(t.TempDir(), "calls")
		path := scripttest.Directory(t, map[string]string{"docker": "case $1 in ps) echo mara-dev-control-plane;; container) echo '" +
			node + "';; *) echo $1 $2 >> " + calls + ";; esac"})
		m := hooks.Machine{Env: map[string]string{"PATH": path}}
		if err := (kindnodes.Local{}).Revive(t.Context(), m, "mara-dev", uid, func(string) {}); err != nil {
			t.Errorf("%s: %v", uid, err)
		}
		if content, _ := os.ReadFile(calls); string(content) != want {
			t.Errorf("%s: docker was called with %q, want %q", uid, content, want)
		}
	}
}
