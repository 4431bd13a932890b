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

	"mara/providers/cloud"
)

// probeTimeout bounds a probe.
const probeTimeout = 5 * time.Second

// Probe returns an error if the API server of a cluster cannot be reached. It sends
// no credentials: any response will do.
func Probe(ctx context.Context, content []byte, env map[string]string) error {
	config, err := Config(content, env)
	if err != nil {
		return err
	}
	anonymous := rest.AnonymousClientConfig(config)
	anonymous.Timeout = probeTimeout
	client, err := rest.HTTPClientFor(anonymous)
	if err != nil {
		return fmt.Errorf("connecting to the cluster: %w", err)
	}
	base, err := url.Parse(config.Host)
	if err != nil {
		return errors.New("the cluster's kubeconfig has no usable address")
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

// Config returns the configuration of clients for the cluster of a kubeconfig. env is added
// to the environment of a command in it that gets a token, and may name a proxy.
func Config(content []byte, env map[string]string) (*rest.Config, error) {
	config, err := clientcmd.RESTConfigFromKubeConfig(content)
	if err != nil {
		return nil, errors.New("the cluster's kubeconfig cannot be used") // the parser's error may quote it
	}
	config.QPS, config.Burst = 100, 200       // a release may have two hundred objects
	config.WarningHandler = rest.NoWarnings{} // they would go to stderr as log lines
	if config.Proxy == nil {                  // the kubeconfig names none
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

// Secrets lists the keys, tokens and passwords in a kubeconfig; none if it cannot be
// read.
func Secrets(content []byte) []string {
	config, err := clientcmd.Load(content)
	if err != nil {
		return nil
	}
	var secrets []string
	for _, user := range config.AuthInfos {
		secrets = append(secrets, user.Token, user.Password, string(user.ClientKeyData))
		if user.AuthProvider != nil {
			for _, name := range []string{"access-token", "id-token", "refresh-token", "client-secret"} {
				secrets = append(secrets, user.AuthProvider.Config[name])
			}
		}
	}
	return slices.DeleteFunc(secrets, func(secret string) bool { return secret == "" })
}
