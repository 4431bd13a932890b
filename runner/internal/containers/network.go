package containers

import (
	"context"
	"encoding/json"
	"fmt"
)

// Network is what there is to know about a network.
type Network struct {
	Name    string
	Labels  map[string]string
	Options map[string]string
}

// FindNetwork looks for a network by its name.
func (r *Runtime) FindNetwork(ctx context.Context, name string) (Network, bool, error) {
	text, err := r.output(ctx, nil, "network", "inspect", name)
	if missing(err) {
		return Network{}, false, nil
	}
	if err != nil {
		return Network{}, false, err
	}
	var found []Network
	if err := json.Unmarshal([]byte(text), &found); err != nil {
		return Network{}, false, fmt.Errorf("%s network inspect answered with something else than JSON: %w", r.Name, err)
	}
	if len(found) == 0 {
		return Network{}, false, nil
	}
	return found[0], true, nil
}

// RemoveNetwork removes a network; that it is gone already is no error.
func (r *Runtime) RemoveNetwork(ctx context.Context, name string) error {
	if err := r.silent(ctx, "network", "rm", name); err != nil && !missing(err) {
		return err
	}
	return nil
}

// Connect joins a container to a network.
func (r *Runtime) Connect(ctx context.Context, network, container string) error {
	return r.silent(ctx, "network", "connect", network, container)
}

// RemoveVolume removes a volume; that it is gone already is no error.
func (r *Runtime) RemoveVolume(ctx context.Context, name string) error {
	if err := r.silent(ctx, "volume", "rm", name); err != nil && !missing(err) {
		return err
	}
	return nil
}
