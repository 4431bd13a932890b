package kubeconfig

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"time"

	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	"k8s.io/client-go/tools/clientcmd/api"

	"mara/providers/cloud"
)

// probeTimeout bounds a probe.
const probeTimeout = 5 * time.Second

// answerLimit bounds the size of one answer.
const answerLimit = 64 << 20

// API is the API server of a cluster.
type API struct {
	base   *url.URL
	client *http.Client
}

// Connect returns the API server of a kubeconfig; timeout bounds each request. env
// is added to the process's environment for a command in the kubeconfig that gets
// a token, and may name a proxy.
func Connect(content []byte, env map[string]string, timeout time.Duration) (*API, error) {
	config, err := Config(content, env)
	if err != nil {
		return nil, err
	}
	client, base, err := client(config, timeout)
	return &API{base: base, client: client}, err
}

// ErrNotFound is the error for a path that does not exist.
var ErrNotFound = errors.New("404 Not Found")

// Get decodes the response for a path, such as "api/v1/services".
func (a *API) Get(ctx context.Context, path string, into any) error {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, a.base.JoinPath(path).String(), nil)
	if err != nil {
		return err
	}
	response, err := a.client.Do(request)
	if err != nil {
		return err
	}
	defer response.Body.Close()
	switch response.StatusCode {
	case http.StatusOK:
	case http.StatusNotFound:
		return fmt.Errorf("asking for %s: %w", path, ErrNotFound)
	default:
		return fmt.Errorf("asking for %s: %s", path, response.Status)
	}
	if err := json.NewDecoder(io.LimitReader(response.Body, answerLimit)).Decode(into); err != nil {
		return fmt.Errorf("asking for %s: the answer is not what Kubernetes says", path)
	}
	return nil
}

// Probe returns an error if the API server of a cluster cannot be reached. It sends
// no credentials: any response will do.
func Probe(ctx context.Context, content []byte, env map[string]string) error {
	config, err := Config(content, env)
	if err != nil {
		return err
	}
	client, base, err := client(rest.AnonymousClientConfig(config), probeTimeout)
	if err != nil {
		return err
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, base.JoinPath("readyz").String(), nil)
	if err != nil {
		return err
	}
	response, err := client.Do(request)
	if err != nil {
		return err
	}
	return response.Body.Close()
}

// Config returns the configuration of a client for the cluster of a kubeconfig.
func Config(content []byte, env map[string]string) (*rest.Config, error) {
	config, err := clientcmd.RESTConfigFromKubeConfig(content)
	if err != nil {
		return nil, errors.New("the cluster's kubeconfig cannot be used") // the parser's error may quote it
	}
	if config.Proxy == nil { // the kubeconfig names none
		config.Proxy = cloud.Proxy(env)
	}
	if command := config.ExecProvider; command != nil {
		command.InteractiveMode = api.NeverExecInteractiveMode
		for _, name := range slices.Sorted(maps.Keys(env)) {
			command.Env = append([]api.ExecEnvVar{{Name: name, Value: env[name]}}, command.Env...)
		}
	}
	return config, nil
}

func client(config *rest.Config, timeout time.Duration) (*http.Client, *url.URL, error) {
	config.Timeout = timeout
	client, err := rest.HTTPClientFor(config)
	if err != nil {
		return nil, nil, fmt.Errorf("connecting to the cluster: %w", err)
	}
	base, err := url.Parse(config.Host)
	if err != nil {
		return nil, nil, errors.New("the cluster's kubeconfig has no usable address")
	}
	return client, base, nil
}
