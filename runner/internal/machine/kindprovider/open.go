package kindprovider

import (
	"context"
	"io"
	"net/http"
	"time"

	"github.com/google/uuid"

	"mara/runner/internal/machine/containers"
)

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
