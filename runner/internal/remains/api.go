package remains

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
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"

	"mara/runner/internal/cloud"
)

// requestTimeout bounds one question to the API server.
const requestTimeout = 15 * time.Second

// answerLimit bounds one answer; a cluster has not that many objects.
const answerLimit = 64 << 20

// api is the API server of a cluster. Two lists of plain objects are all that
// is needed, so there are no typed clients.
type api struct {
	base   *url.URL
	client *http.Client
}

func connect(kubeconfig []byte, env map[string]string) (*api, error) {
	config, err := clientcmd.RESTConfigFromKubeConfig(kubeconfig)
	if err != nil {
		return nil, errors.New("the cluster's kubeconfig cannot be used") // the parser's error may quote it
	}
	config.Timeout = requestTimeout
	if config.Proxy == nil { // the kubeconfig names none
		config.Proxy = cloud.Proxy(env)
	}
	if command := config.ExecProvider; command != nil {
		command.InteractiveMode = clientcmdapi.NeverExecInteractiveMode
		for _, name := range slices.Sorted(maps.Keys(env)) {
			command.Env = append([]clientcmdapi.ExecEnvVar{{Name: name, Value: env[name]}}, command.Env...)
		}
	}
	client, err := rest.HTTPClientFor(config)
	if err != nil {
		return nil, fmt.Errorf("connecting to the cluster: %w", err)
	}
	base, err := url.Parse(config.Host)
	if err != nil {
		return nil, errors.New("the cluster's kubeconfig has no usable address")
	}
	return &api{base: base, client: client}, nil
}

// things lists what the cluster has made in its cloud.
func (a *api) things(ctx context.Context) ([]Thing, error) {
	var services list[service]
	if err := a.get(ctx, "api/v1/services", &services); err != nil {
		return nil, err
	}
	var volumes list[volume]
	if err := a.get(ctx, "api/v1/persistentvolumes", &volumes); err != nil {
		return nil, err
	}
	var found []Thing
	for _, s := range services.Items {
		if s.Spec.Type == "LoadBalancer" {
			found = append(found, s.thing())
		}
	}
	for _, v := range volumes.Items {
		if v.Metadata.Annotations[provisionedBy] != "" {
			found = append(found, v.thing())
		}
	}
	return found, nil
}

// list is a list as the API has it.
type list[T any] struct{ Items []T }

// metadata is what all objects have.
type metadata struct {
	Name, Namespace   string
	DeletionTimestamp string
	Annotations       map[string]string
}

// service is a Service, as far as it matters here.
// https://kubernetes.io/docs/tasks/access-application-cluster/create-external-load-balancer/#garbage-collecting-load-balancers
type service struct {
	Metadata metadata
	Spec     struct{ Type string }
}

func (s service) thing() Thing {
	return Thing{
		What:  fmt.Sprintf("load balancer of service %s/%s", s.Metadata.Namespace, s.Metadata.Name),
		Going: s.Metadata.DeletionTimestamp != "",
	}
}

// provisionedBy is on volumes that were made for a claim; others were there
// before the cluster knew them.
const provisionedBy = "pv.kubernetes.io/provisioned-by"

// volume is a PersistentVolume, as far as it matters here.
// https://kubernetes.io/docs/concepts/storage/persistent-volumes/#reclaiming
type volume struct {
	Metadata metadata
	Spec     struct {
		PersistentVolumeReclaimPolicy string
		ClaimRef                      struct{ Namespace, Name string }
	}
	Status struct{ Phase string }
}

// thing tells a volume whose claim is gone from one that is in use. To remove
// it may fail at first, while it is still attached; that is tried again.
func (v volume) thing() Thing {
	claim := v.Spec.ClaimRef
	unclaimed := v.Status.Phase == "Released" || v.Status.Phase == "Failed"
	return Thing{
		What:  fmt.Sprintf("volume %s of claim %s/%s", v.Metadata.Name, claim.Namespace, claim.Name),
		Going: v.Metadata.DeletionTimestamp != "" || unclaimed,
		Kept:  v.Spec.PersistentVolumeReclaimPolicy == "Retain",
	}
}

// get asks for one list.
func (a *api) get(ctx context.Context, path string, into any) error {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, a.base.JoinPath(path).String(), nil)
	if err != nil {
		return err
	}
	response, err := a.client.Do(request)
	if err != nil {
		return err
	}
	defer response.Body.Close()
	if response.StatusCode != http.StatusOK {
		return fmt.Errorf("asking for %s: %s", path, response.Status)
	}
	if err := json.NewDecoder(io.LimitReader(response.Body, answerLimit)).Decode(into); err != nil {
		return fmt.Errorf("asking for %s: the answer is not what Kubernetes says", path)
	}
	return nil
}
