package kubeconfig

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"time"

	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	"k8s.io/client-go/tools/clientcmd/api"

	"mara/runner/internal/cloud"
)

// probeTimeout bounds a probe.
const probeTimeout = 5 * time.Second

// Client makes a client of a cluster's API server, and returns the address of
// that. env is set, beside the process's own environment, for a command in the
// kubeconfig that gets a token, and may name a proxy.
func Client(content []byte, env map[string]string, timeout time.Duration) (*http.Client, *url.URL, error) {
	config, err := restConfig(content, env)
	if err != nil {
		return nil, nil, err
	}
	return client(config, timeout)
}

// Probe fails if the API server of a cluster cannot be reached. Any answer is
// good enough, so it needs no credentials.
func Probe(ctx context.Context, content []byte, env map[string]string) error {
	config, err := restConfig(content, env)
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

func restConfig(content []byte, env map[string]string) (*rest.Config, error) {
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
