package examine

import (
	"context"
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"

	"mara/runner/internal/kube/kubeapi"
)

// Leaving says what keeps Namespaces from going, as the cluster explains it, a line each: objects with finalizers, or
// an API whose server does not answer, which keeps all of them.
func Leaving(ctx context.Context, c *kubeapi.Cluster, names []string) ([]string, error) {
	all, err := kubeapi.List[corev1.Namespace](ctx, c, "namespaces", "", "")
	if err != nil {
		return nil, err
	}
	var lines []string
	for _, namespace := range all {
		if !slices.Contains(names, namespace.Name) || namespace.DeletionTimestamp == nil {
			continue
		}
		for _, reason := range namespace.Status.Conditions {
			if reason.Status != corev1.ConditionTrue {
				continue
			}
			line := fmt.Sprintf("Namespace %s is still there: %s", namespace.Name, detail(reason.Reason, reason.Message))
			if reason.Type == corev1.NamespaceDeletionDiscoveryFailure {
				line += "; `kubectl get apiservices` shows which API does not answer: repair or delete it, and run the same " +
					"command again"
			}
			lines = append(lines, line)
		}
	}
	return truncate(lines), nil
}
