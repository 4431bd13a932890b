package deprovision

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/pulumi/pulumi/sdk/v3/go/common/slice"

	"mara/runner/internal/kubeconfig"
)

// requestTimeout bounds one question to the API server.
const requestTimeout = 15 * time.Second

// api is the API server of a cluster.
type api struct{ *kubeconfig.API }

func connect(content []byte, env map[string]string) (api, error) {
	server, err := kubeconfig.Connect(content, env, requestTimeout)
	return api{server}, err
}

// resources lists what the cluster has made in its cloud.
func (a api) resources(ctx context.Context) ([]Resource, error) {
	var services list[service]
	if err := a.Get(ctx, "api/v1/services", &services); err != nil {
		return nil, err
	}
	var volumes list[volume]
	if err := a.Get(ctx, "api/v1/persistentvolumes", &volumes); err != nil {
		return nil, err
	}
	balancers := slices.DeleteFunc(services.Items, func(s service) bool { return s.Spec.Type != "LoadBalancer" })
	provisioned := slices.DeleteFunc(volumes.Items, func(v volume) bool { return v.Metadata.Annotations[provisionedBy] == "" })
	return slices.Concat(slice.Map(balancers, service.resource), slice.Map(provisioned, volume.resource)), nil
}

// list is a list of objects in the API's JSON.
type list[T any] struct{ Items []T }

// metadata is what all objects have.
type metadata struct {
	Name, Namespace   string
	DeletionTimestamp string
	Annotations       map[string]string
}

// service is the part of a Service that matters here.
// https://kubernetes.io/docs/tasks/access-application-cluster/create-external-load-balancer/#garbage-collecting-load-balancers
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

// provisionedBy is an annotation of volumes that were made for a claim. The
// cluster has not made the others.
const provisionedBy = "pv.kubernetes.io/provisioned-by"

// volume is the part of a PersistentVolume that matters here.
// https://kubernetes.io/docs/concepts/storage/persistent-volumes/#reclaiming
type volume struct {
	Metadata metadata
	Spec     struct {
		PersistentVolumeReclaimPolicy string
		ClaimRef                      struct{ Namespace, Name string }
	}
	Status struct{ Phase string }
}

// resource is being removed once its claim is gone. Kubernetes tries again when
// that fails because the volume is still attached.
func (v volume) resource() Resource {
	claim := v.Spec.ClaimRef
	unclaimed := v.Status.Phase == "Released" || v.Status.Phase == "Failed"
	return Resource{
		Name:     fmt.Sprintf("volume %s of claim %s/%s", v.Metadata.Name, claim.Namespace, claim.Name),
		Removing: v.Metadata.DeletionTimestamp != "" || unclaimed,
		Retained: v.Spec.PersistentVolumeReclaimPolicy == "Retain",
	}
}
