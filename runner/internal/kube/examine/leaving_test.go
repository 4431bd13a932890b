package examine

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestLeaving says what keeps Namespaces from going, and nothing of others.
func TestLeaving(t *testing.T) {
	t.Parallel()
	namespace := func(name, leaves, kind, status, reason, message string) string {
		return fmt.Sprintf(`{"metadata": {"name": %q%s}, "status": {"conditions": [{"type": %q, "status": %q, "reason": %q, "message": %q}]}}`,
			name, leaves, kind, status, reason, message)
	}
	const leaves = `, "deletionTimestamp": "2026-11-27T10:00:00Z"`
	c := serveLists(t, map[string][]string{"/api/v1/namespaces": {
		namespace("shop", leaves, "NamespaceFinalizersRemaining", "True", "SomeFinalizersRemain", "Some content has finalizers:\n a/b in 1 resource"),
		namespace("logs", leaves, "NamespaceDeletionDiscoveryFailure", "True", "DiscoveryFailed", "metrics.k8s.io/v1beta1: stale GroupVersion discovery"),
		namespace("bank", leaves, "NamespaceContentRemaining", "False", "ContentRemoved", "All content removed"),
		namespace("stays", "", "NamespaceContentRemaining", "True", "SomeResourcesRemain", "x"),
		namespace("other", leaves, "NamespaceContentRemaining", "True", "SomeResourcesRemain", "x"),
	}})
	got, err := Leaving(t.Context(), c, []string{"shop", "logs", "bank", "stays"})
	if err != nil {
		t.Fatal(err)
	}
	want := []string{
		"Namespace shop is still there: SomeFinalizersRemain: Some content has finalizers: a/b in 1 resource",
		"Namespace logs is still there: DiscoveryFailed: metrics.k8s.io/v1beta1: stale GroupVersion discovery; " +
			"`kubectl get apiservices` shows which API does not answer: repair or delete it, and run the same command again",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}
