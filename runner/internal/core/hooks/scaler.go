package hooks

import (
	"context"
	"fmt"
	"slices"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"mara/projects/model"
	"mara/runner/internal/core/event"
	"mara/runner/internal/core/stacks"
	"mara/runner/internal/kube/kubeapi"
)

var scalersOf = schema.GroupVersionResource{Group: "autoscaling", Version: "v2", Resource: "horizontalpodautoscalers"}

// retireScaler deletes the autoscaler of an application that has none any more, before the program sets the number of Pods.
// Pulumi deletes it after everything else, and until then it would set the number back.
func (h Hooks) retireScaler(ctx context.Context, p model.Project, emit func(event.Event)) error {
	isScaler := func(a model.Access) bool { return a.Resource == scalersOf.Resource }
	if !p.IsApplication() || slices.ContainsFunc(p.Own.Access, isScaler) ||
		h.Stacks.Summary(p.Name).Resources == 0 {
		return nil
	}
	resources, err := h.Stacks.Resources(ctx, p.Name)
	if err != nil {
		return err
	}
	if !slices.ContainsFunc(resources, func(r stacks.Resource) bool {
		return r.Type == "kubernetes:autoscaling/v2:HorizontalPodAutoscaler" && r.ID == p.Namespace+"/"+p.Name
	}) {
		return nil
	}
	content, err := h.ClusterKubeconfig(ctx, h.Provider.ClusterProject)
	if err != nil || content == nil {
		return err
	}
	cluster, err := kubeapi.Connect(content, h.Env, "delete "+scalersOf.GroupResource().String())
	if err != nil {
		return err
	}
	err = cluster.Objects.Resource(scalersOf).Namespace(p.Namespace).Delete(ctx, p.Name, metav1.DeleteOptions{})
	switch {
	case apierrors.IsNotFound(err):
		return nil
	case err != nil:
		return fmt.Errorf("deleting the autoscaler of %s: %w", p.Name, err)
	}
	event.Say(emit, event.Info, "the autoscaler is deleted first, so that the number of Pods is the configured one")
	return nil
}
