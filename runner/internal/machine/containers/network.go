package containers

import (
	"context"
)

// Network describes a network.
type Network struct {
	Name    string
	Labels  map[string]string
	Options map[string]string
}

// FindNetwork finds a network by its name.
func (r *Runtime) FindNetwork(ctx context.Context, name string) (Network, bool, error) {
	found, err := ask[[]Network](ctx, r, "network", "inspect", name)
	if missing(err) || err == nil && len(found) == 0 {
		return Network{}, false, nil
	}
	if err != nil {
		return Network{}, false, err
	}
	return found[0], true, nil
}

// RemoveNetwork removes a network; a missing one is no error.
func (r *Runtime) RemoveNetwork(ctx context.Context, name string) error {
	return unlessMissing(r.silent(ctx, "network", "rm", name))
}

// Connect joins a container to a network.
func (r *Runtime) Connect(ctx context.Context, network, container string) error {
	return r.silent(ctx, "network", "connect", network, container)
}

// RemoveVolume removes a volume; a missing one is no error.
func (r *Runtime) RemoveVolume(ctx context.Context, name string) error {
	return unlessMissing(r.silent(ctx, "volume", "rm", name))
}
