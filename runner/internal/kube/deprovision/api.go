package deprovision

import (
	"context"
	"fmt"
	"time"

	"mara/runner/internal/kube/kubeconfig"
)

// requestTimeout bounds one request to the API server.
const requestTimeout = 15 * time.Second

// api is the API server of a cluster.
type api struct{ *kubeconfig.API }

func connect(content []byte, env map[string]string) (api, error) {
	server, err := kubeconfig.Connect(content, env, requestTimeout)
	return api{server}, err
}

// resources lists the load balancers and volumes that the cluster has created.
func (a api) resources(ctx context.Context) ([]Resource, error) {
	var services list[service]
	if err := a.Get(ctx, "api/v1/services", &services); err != nil {
		return nil, err
	}
	var volumes list[volume]
	if err := a.Get(ctx, "api/v1/persistentvolumes", &volumes); err != nil {
		return nil, err
	}
	var found []Resource
	for _, s := range services.Items {
		if s.Spec.Type == "LoadBalancer" {
			found = append(found, s.resource())
		}
	}
	for _, v := range volumes.Items {
		if v.Metadata.Annotations[provisionedBy] != "" {
			found = append(found, v.resource())
		}
	}
	return found, nil
}

// list is a list of objects in the JSON of the API.
type list[T any] struct{ Items []T }

// metadata holds the fields that all objects have.
type metadata struct {
	Name, Namespace   string
	DeletionTimestamp string
	Annotations       map[string]string
}

// service holds the fields of a Service that are used here.
//
// https://kubernetes.io/docs/tasks/access-application-cluster/create-external-load-balancer/
type service struct {
	Metadata metadata
	Spec     struct{ Type string }
}

func (s service) resource() Resource {
	return Resource{
		Name:     fmt.Sprintf("load balancer of service %s/%s", s.Metadata.Namespace, s.Metadata.Name),
		Removing: s.Metadata.DeletionTimestamp != "",
	}
}

// provisionedBy is an annotation of volumes that were created for a claim. The
// cluster has not created other volumes.
const provisionedBy = "pv.kubernetes.io/provisioned-by"

// volume holds the fields of a PersistentVolume that are used here.
// https://kubernetes.io/docs/concepts/storage/persistent-volumes/#reclaiming
type volume struct {
	Metadata metadata
	Spec     struct {
		PersistentVolumeReclaimPolicy string
		ClaimRef                      struct{ Namespace, Name string }
	}
	Status struct{ Phase string }
}

// resource describes the volume. It is being removed once its claim is gone:
// Kubernetes retries if that fails because the volume is still attached.
func (v volume) resource() Resource {
	claim := v.Spec.ClaimRef
	unclaimed := v.Status.Phase == "Released" || v.Status.Phase == "Failed"
	return Resource{
		Name:     fmt.Sprintf("volume %s of claim %s/%s", v.Metadata.Name, claim.Namespace, claim.Name),
		Removing: v.Metadata.DeletionTimestamp != "" || unclaimed,
		Retained: v.Spec.PersistentVolumeReclaimPolicy == "Retain",
	}
}
