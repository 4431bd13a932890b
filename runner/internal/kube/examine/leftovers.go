package examine

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"

	"mara/config/lists"
	"mara/runner/internal/kube/kubeapi"
	"mara/runner/internal/machine/interrupt"
)

const (
	requestTimeout = 15 * time.Second // of the requests for the resources

	interval = 5 * time.Second // between two requests
	// patience bounds the wait for resources that are being removed.
	patience = 10 * time.Minute
	// settling bounds the wait for resources that are not being removed, and for an
	// API server that does not answer. Both may change within seconds.
	settling = 30 * time.Second
)

// Resource is a load balancer or a volume that the cluster has created in its cloud.
type Resource struct {
	Name     string // "volume pvc-1 of claim shop/data"
	Removing bool   // it is being removed
	Retained bool   // its reclaim policy keeps it when the cluster is destroyed
}

// LeftError reports resources that the cluster does not remove.
type LeftError struct {
	What []string
}

func (e *LeftError) Error() string {
	return "the cluster would leave behind: " + strings.Join(e.What, "; ")
}

// UnknownError reports that the resources could not be listed: the API server does
// not answer, or refuses, as with 401 and 403.
type UnknownError struct{ Cause error }

func (e *UnknownError) Error() string {
	return "the load balancers and volumes of the cluster could not be listed: " + e.Cause.Error()
}

// Unwrap returns why the resources could not be listed.
func (e *UnknownError) Unwrap() error { return e.Cause }

// WaitUntilEmpty waits until a cluster that is about to be destroyed has removed the load
// balancers and volumes that it has created in its cloud, except retained ones. They are
// not in Pulumi's state. If they outlive the cluster, they stay and cost money, and
// a load balancer keeps its network from being destroyed. It returns an error as soon as a
// resource is not being removed for a while. say reports progress.
//
// Deleting the objects in the cluster is not enough. A Service keeps its
// finalizer until its load balancer is gone, but a claim may be gone a minute
// before its volume, which has to be detached first.
// https://github.com/eksctl-io/eksctl/issues/274
func WaitUntilEmpty(ctx context.Context, c *kubeapi.Cluster, say func(string)) error {
	return wait(ctx, func(ctx context.Context) ([]Resource, error) { return listCreated(ctx, c) }, say)
}

// wait lists the resources until it can decide.
func wait(ctx context.Context, list func(context.Context) ([]Resource, error), say func(string)) error {
	now := time.Now()
	w := watch{say: say, began: now, progress: now}
	for {
		resources, err := list(ctx)
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		if done, err := w.decide(resources, err); done {
			return err
		}
		if err := interrupt.Sleep(ctx, interval); err != nil {
			return err
		}
	}
}

// watch is the state of a wait.
type watch struct {
	say      func(string)
	said     string
	began    time.Time
	progress time.Time // when a resource was last being removed
}

// decide reports whether the wait is over, and with which error.
func (w *watch) decide(resources []Resource, err error) (bool, error) {
	now := time.Now()
	if err != nil {
		return now.Sub(w.progress) >= settling, &UnknownError{Cause: err}
	}
	left := slices.DeleteFunc(slices.Clone(resources), func(r Resource) bool { return r.Retained })
	if len(left) == 0 {
		if len(resources) > 0 {
			w.sayOnce("the cluster keeps, by reclaim policy: " + strings.Join(names(resources), "; "))
		}
		return true, nil
	}
	if slices.ContainsFunc(left, func(r Resource) bool { return r.Removing }) {
		w.progress = now
	}
	w.sayOnce("waiting until the cluster has removed " + strings.Join(names(left), "; "))
	if now.Sub(w.progress) >= settling || now.Sub(w.began) >= patience {
		return true, &LeftError{What: names(left)}
	}
	return false, nil
}

// sayOnce reports a text that differs from the last one.
func (w *watch) sayOnce(text string) {
	if text != w.said {
		w.say(text)
		w.said = text
	}
}

func names(resources []Resource) []string {
	return lists.Map(resources, func(r Resource) string { return r.Name })
}

// provisionedBy is an annotation of volumes that were created for a claim. The
// cluster has not created other volumes.
const provisionedBy = "pv.kubernetes.io/provisioned-by"

// listCreated lists the load balancers and volumes that the cluster has created.
//
// https://kubernetes.io/docs/tasks/access-application-cluster/create-external-load-balancer/
// https://kubernetes.io/docs/concepts/storage/persistent-volumes/#reclaiming
func listCreated(ctx context.Context, c *kubeapi.Cluster) ([]Resource, error) {
	ctx, cancel := context.WithTimeout(ctx, requestTimeout)
	defer cancel()
	services, err := kubeapi.List[corev1.Service](ctx, c, "services", "", "")
	if err != nil {
		return nil, err
	}
	volumes, err := kubeapi.List[corev1.PersistentVolume](ctx, c, "persistentvolumes", "", "")
	if err != nil {
		return nil, err
	}
	var found []Resource
	for _, s := range services {
		if s.Spec.Type == corev1.ServiceTypeLoadBalancer {
			name := fmt.Sprintf("load balancer of service %s/%s", s.Namespace, s.Name)
			found = append(found, Resource{Name: name, Removing: s.DeletionTimestamp != nil})
		}
	}
	for _, v := range volumes {
		if v.Annotations[provisionedBy] != "" {
			found = append(found, volumeResource(v))
		}
	}
	return found, nil
}

// volumeResource describes a volume. It is being removed once its claim is gone:
// Kubernetes retries if that fails because the volume is still attached.
func volumeResource(v corev1.PersistentVolume) Resource {
	var claim corev1.ObjectReference
	if v.Spec.ClaimRef != nil {
		claim = *v.Spec.ClaimRef
	}
	unclaimed := v.Status.Phase == corev1.VolumeReleased || v.Status.Phase == corev1.VolumeFailed
	return Resource{
		Name:     fmt.Sprintf("volume %s of claim %s/%s", v.Name, claim.Namespace, claim.Name),
		Removing: v.DeletionTimestamp != nil || unclaimed,
		Retained: v.Spec.PersistentVolumeReclaimPolicy == corev1.PersistentVolumeReclaimRetain,
	}
}
