package kindnodes

import (
	"context"

	"mara/runner/internal/core/hooks"
	"mara/runner/internal/feature/kind/containers"
)

// Local implements hooks.Nodes for clusters in containers of this machine.
type Local struct{}

// Run implements hooks.Nodes.
func (Local) Run(ctx context.Context, m hooks.Machine, cluster string) (bool, error) {
	runtime, err := containers.FindIn(m.Env, m.Runtime)
	if err != nil {
		return false, err
	}
	nodes, err := Find(ctx, runtime, cluster)
	return nodes.Run(), err
}

// Run reports whether there are nodes, and all of them run.
func (n Nodes) Run() bool { return len(n) > 0 && len(n.Halted()) == 0 }

// Revive implements hooks.Nodes.
func (Local) Revive(ctx context.Context, m hooks.Machine, cluster, uid string, say func(text string)) error {
	runtime, err := containers.FindIn(m.Env, m.Runtime)
	if err != nil {
		return err
	}
	return Revive(ctx, runtime, cluster, uid, say)
}
