package standin_test

import (
	"path/filepath"
	"strings"
	"testing"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"mara/runner/internal/kube/standin"
)

// TestRights: the stand-in judges rights by bindings, their namespaces and their roles.
func TestRights(t *testing.T) {
	t.Parallel()
	role := func(kind, name string) map[string]any { return map[string]any{"kind": kind, "name": name} }
	bound := func(kind, namespace, group string, role map[string]any) standin.Object {
		return standin.Object{"kind": kind, "metadata": map[string]any{"name": group, "namespace": namespace}, "roleRef": role,
			"subjects": []any{map[string]any{"kind": "Group", "name": group}}}
	}
	server := &standin.Server{Now: time.Now, Objects: []standin.Object{
		bound("ClusterRoleBinding", "", "ops", role("ClusterRole", "cluster-admin")),
		bound("ClusterRoleBinding", "", "audit", role("ClusterRole", "view")),
		bound("RoleBinding", "shop", "team", role("ClusterRole", "edit")),
		bound("RoleBinding", "shop", "bots", role("Role", "reader")),
		{"kind": "Role", "metadata": map[string]any{"name": "reader", "namespace": "shop"}, "rules": []any{map[string]any{
			"verbs": []any{"get"}, "resources": []any{"secrets"}, "apiGroups": []any{""}}}},
	}}
	cluster, err := server.Connect()
	if err != nil {
		t.Fatal(err)
	}
	reviews := schema.GroupVersionResource{Group: "authorization.k8s.io", Version: "v1", Resource: "subjectaccessreviews"}
	for _, test := range []struct {
		asked string // group, verb, resource, namespace
		want  bool
	}{
		{"ops create rolebindings.rbac.authorization.k8s.io -", true},
		{"audit get deployments.apps -", true}, {"audit get secrets. shop", false}, {"audit update deployments.apps shop", false},
		{"team create pods. shop", true}, {"team create pods. other", false}, {"team get secrets. shop", true},
		{"team create rolebindings.rbac.authorization.k8s.io shop", false}, {"team update resourcequotas. shop", false},
		{"bots get secrets. shop", true}, {"bots get pods. shop", false}, {"nobody get pods. shop", false},
	} {
		parts := strings.Fields(test.asked)
		resource, group, _ := strings.Cut(parts[2], ".")
		review := &unstructured.Unstructured{Object: map[string]any{
			"apiVersion": "authorization.k8s.io/v1", "kind": "SubjectAccessReview",
			"spec": map[string]any{"user": "x", "groups": []any{parts[0]}, "resourceAttributes": map[string]any{
				"verb": parts[1], "resource": resource, "group": group, "namespace": strings.Trim(parts[3], "-")}},
		}}
		answer, err := cluster.Objects.Resource(reviews).Create(t.Context(), review, metav1.CreateOptions{})
		if err != nil {
			t.Fatal(err)
		}
		if allowed, _, _ := unstructured.NestedBool(answer.Object, "status", "allowed"); allowed != test.want {
			t.Errorf("%s: %t", test.asked, allowed)
		}
	}
}

// TestBackups: a cluster without Velero has no backups; with it, what was made is there in the next command.
func TestBackups(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "clouds", "dev.velero.json")
	backups := schema.GroupVersionResource{Group: "velero.io", Version: "v1", Resource: "backups"}
	list := func(objects ...standin.Object) (*unstructured.UnstructuredList, error) {
		cluster, err := (&standin.Server{Objects: objects, File: file, Now: time.Now}).Connect()
		if err != nil {
			t.Fatal(err)
		}
		return cluster.Objects.Resource(backups).Namespace("velero").List(t.Context(), metav1.ListOptions{})
	}
	if _, err := list(); !apierrors.IsNotFound(err) {
		t.Errorf("without Velero: %v", err)
	}
	velero := standin.Object{"kind": "Release", "name": "velero", "namespace": "velero"}
	cluster, err := (&standin.Server{Objects: []standin.Object{velero}, File: file, Now: time.Now}).Connect()
	if err != nil {
		t.Fatal(err)
	}
	made := &unstructured.Unstructured{Object: map[string]any{"apiVersion": "velero.io/v1", "kind": "Backup",
		"metadata": map[string]any{"name": "now", "namespace": "velero"}, "spec": map[string]any{}}}
	answer, err := cluster.Objects.Resource(backups).Namespace("velero").Create(t.Context(), made, metav1.CreateOptions{})
	if phase, _, _ := unstructured.NestedString(answer.Object, "status", "phase"); err != nil || phase != "Completed" {
		t.Errorf("made: %q %v", phase, err)
	}
	if found, err := list(velero); err != nil || len(found.Items) != 1 || found.Items[0].GetName() != "now" {
		t.Errorf("listed: %v %v", found, err)
	}
}
