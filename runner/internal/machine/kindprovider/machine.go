package kindprovider

import (
	"context"
	"errors"
	"io"
	"net/http"
	"sync"
	"time"

	"github.com/google/uuid"
	"github.com/pulumi/pulumi-go-provider/infer"
	"sigs.k8s.io/kind/pkg/apis/config/v1alpha4"

	"mara/runner/internal/machine/containers"
)

// Backend is what makes the resources.
type Backend struct {
	Containers *containers.Runtime
	Clusters   Clusters
	// Answers tells whether a registry answers at a URL.
	Answers func(ctx context.Context, url string) bool
	// Patience is how long a started registry may take to answer.
	Patience time.Duration
	// NewUID makes up the uid of a cluster.
	NewUID func() string
}

// Clusters is the part of kind that the resources need.
type Clusters interface {
	// Create makes a cluster. When ctx ends it stops as soon as it can, and may
	// leave what it has made by then.
	Create(ctx context.Context, config *v1alpha4.Cluster, wait time.Duration) error
	// Kubeconfig returns a kubeconfig that reaches a cluster from this machine.
	Kubeconfig(ctx context.Context, cluster string) (string, error)
	// Load loads an archive of images into all nodes of a cluster.
	Load(ctx context.Context, cluster, archive string) error
}

// Open finds the container runtime of that name, or the first there is when the
// name is empty.
type Open func(runtime string) (Backend, error)

// machine is this machine, which all resources share.
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

// work is what the work on a resource needs.
type work struct {
	Backend
	owner string // marks what belongs to this stack
}

// work opens the container runtime at the first call.
func (m *machine) work(ctx context.Context) (work, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.owner == "" {
		return work{}, errors.New("this version of Pulumi does not tell providers whom they work for: use 3.250.0 or newer")
	}
	if m.ready == nil {
		runtime := ""
		if config := infer.GetConfig[*Config](ctx); config != nil {
			runtime = valueOf(config.Runtime)
		}
		backend, err := m.open(runtime)
		if err != nil {
			return work{}, err
		}
		m.ready = &backend
	}
	return work{*m.ready, m.owner}, nil
}

// OpenMachine implements Open for the machine that the provider runs on.
func OpenMachine(name string) (Backend, error) {
	runtime, err := containers.Find(name, containers.OnPath, containers.Run)
	if err != nil {
		return Backend{}, err
	}
	return Backend{
		Containers: runtime,
		Clusters:   NewLibrary(runtime),
		Answers:    answers,
		Patience:   30 * time.Second,
		NewUID:     uuid.NewString,
	}, nil
}

// answers reports whether a registry answers: with success, as its API demands.
func answers(ctx context.Context, url string) bool {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return false
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return false
	}
	defer response.Body.Close()
	_, _ = io.Copy(io.Discard, response.Body) // so that the connection can be used again
	return response.StatusCode == http.StatusOK
}
