package kindprovider

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/pulumi/pulumi-go-provider/infer"
	"sigs.k8s.io/kind/pkg/apis/config/v1alpha4"

	"mara/runner/internal/containers"
)

// Backend is what the resources are made with.
type Backend struct {
	Containers *containers.Runtime
	Clusters   Clusters
	// Answers tells whether a web server answers at a URL.
	Answers func(ctx context.Context, url string) bool
	// Patience is how long a started registry may take to answer.
	Patience time.Duration
	// NewUID makes up the mark of a cluster.
	NewUID func() string
}

// Clusters is what is needed of kind.
type Clusters interface {
	// Create makes a cluster. When ctx ends it stops as soon as it can; what it
	// has made by then may remain.
	Create(ctx context.Context, config *v1alpha4.Cluster, wait time.Duration) error
	// Kubeconfig reaches a cluster from this machine.
	Kubeconfig(ctx context.Context, cluster string) (string, error)
	// Load loads an archive of images into all nodes of a cluster.
	Load(ctx context.Context, cluster, archive string) error
}

// Open finds the container runtime of that name, with "" the first there is,
// and what works with it.
type Open func(runtime string) (Backend, error)

// machine is this machine as the resources share it.
type machine struct {
	open Open

	mu    sync.Mutex // guards what follows
	owner string     // id of the stack's provider resource
	ready *Backend
}

func (m *machine) setOwner(id string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.owner = id
}

// ownerID is what marks things as this stack's.
func (m *machine) ownerID() (string, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.owner == "" {
		return "", errors.New("this version of Pulumi does not tell providers whom they work for: use 3.250.0 or newer")
	}
	return m.owner, nil
}

// backend opens the container runtime at the first call.
func (m *machine) backend(ctx context.Context) (Backend, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.ready != nil {
		return *m.ready, nil
	}
	runtime := ""
	if config := infer.GetConfig[*Config](ctx); config != nil && config.Runtime != nil {
		runtime = *config.Runtime
	}
	backend, err := m.open(runtime)
	if err != nil {
		return Backend{}, err
	}
	m.ready = &backend
	return backend, nil
}
