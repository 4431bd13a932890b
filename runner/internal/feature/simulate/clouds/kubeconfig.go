package clouds

import (
	"cmp"
	"encoding/base64"
	"errors"
	"fmt"
	"net/url"
	"strings"

	"k8s.io/client-go/tools/clientcmd"

	"mara/runner/internal/feature/simulate"
)

// nowhere is the top-level domain that no name server resolves (RFC 2606).
const nowhere = ".invalid"

// apiServer returns the address of a simulated cluster's API server, which identifies
// the cluster of an object.
func apiServer(cluster string) string {
	return fmt.Sprintf("https://%s.simulated%s:6443", strings.ToLower(cluster), nowhere)
}

// certificate is the placeholder for certificates and keys.
var certificate = base64.StdEncoding.EncodeToString([]byte("SIMULATED: this is not a certificate and not a key\n"))

// kubeconfigText returns a kubeconfig that is valid, but leads nowhere.
func kubeconfigText(cluster, server string, user map[string]string) string {
	name := "SIMULATED-" + cluster
	var credentials strings.Builder
	for _, key := range []string{"client-certificate-data", "client-key-data", "token"} {
		if value := user[key]; value != "" {
			fmt.Fprintf(&credentials, "\n    %s: %s", key, value)
		}
	}
	return fmt.Sprintf(`apiVersion: v1
kind: Config
clusters:
- name: %[1]s
  cluster:
    server: %[2]s
    certificate-authority-data: %[3]s
contexts:
- name: %[1]s
  context:
    cluster: %[1]s
    user: %[1]s-admin
current-context: %[1]s
preferences: {}
users:
- name: %[1]s-admin
  user:%[4]s
`, name, server, certificate, credentials.String())
}

const clusterFact = "cluster "

// reachable returns the fact that a cluster's API server answers.
func reachable(server string) string { return clusterFact + server }

// clusterScope determines which simulated cluster a kubernetes provider reaches. Without a
// kubeconfig, as the default provider, it is in reality the current context of the user's own: here
// the only cluster of the environment, or else one that no program has made.
func clusterScope(config map[string]any, facts func(prefix string) []string) (simulate.Scope, error) {
	forget, _ := config["deleteUnreachable"].(bool)
	identity, _ := config["clusterIdentifier"].(string)
	kubeconfig, _ := config["kubeconfig"].(string)
	if kubeconfig == "" {
		if made := facts(clusterFact); len(made) == 1 {
			return scopeOf(strings.TrimPrefix(made[0], clusterFact), identity, forget)
		}
		return simulate.Scope{Name: "current-context"}, nil
	}
	wanted, _ := config["context"].(string)
	server, err := serverOf(kubeconfig, wanted)
	if err != nil {
		return simulate.Scope{}, fmt.Errorf("the kubeconfig of a simulated provider: %w", err)
	}
	return scopeOf(server, identity, forget)
}

// scopeOf returns the scope of a cluster, which is gone as soon as its cluster is.
func scopeOf(server, identity string, forget bool) (simulate.Scope, error) {
	host, err := url.Parse(server)
	if err != nil || !strings.HasSuffix(host.Hostname(), nowhere) {
		return simulate.Scope{}, errors.New(
			"the kubeconfig is not one of a simulated cluster; a simulation touches nothing else")
	}
	if at, _ := hostAt(host.Hostname()); at.existing {
		return simulate.Scope{Name: host.Hostname(), Identity: identity}, nil
	}
	return simulate.Scope{
		Name:     host.Hostname(),
		Identity: identity,
		Needs:    reachable(server),
		Unreachable: fmt.Sprintf(
			"configured Kubernetes cluster is unreachable: dial tcp: lookup %s: no such host", host.Hostname()),
		Forgiving: forget,
	}, nil
}

func serverOf(kubeconfig, wanted string) (string, error) {
	config, err := clientcmd.Load([]byte(kubeconfig))
	if err != nil {
		return "", errors.New("it cannot be parsed; its text is not shown here because it is secret")
	}
	wanted = cmp.Or(wanted, config.CurrentContext)
	if found := config.Contexts[wanted]; found != nil {
		if cluster := config.Clusters[found.Cluster]; cluster != nil && cluster.Server != "" {
			return cluster.Server, nil
		}
	}
	return "", fmt.Errorf("its context %q leads to no server", wanted)
}
