package simulated

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	fakediscovery "k8s.io/client-go/discovery/fake"
	"k8s.io/client-go/dynamic/fake"
	clienttesting "k8s.io/client-go/testing"

	"mara/runner/internal/feature/mirror"
	"mara/runner/internal/kube/kubeapi"
	"mara/runner/internal/testing/mirrortest"
)

// cluster serves an API server that knows a few kinds and the namespace shop. It
// refuses the name bad.
func cluster(t *testing.T, asked *[]string) *kubeapi.Cluster {
	t.Helper()
	client := fake.NewSimpleDynamicClient(runtime.NewScheme())
	client.PrependReactor("*", "*", func(action clienttesting.Action) (bool, runtime.Object, error) {
		patch, ok := action.(clienttesting.PatchActionImpl)
		if !ok || patch.PatchType != types.ApplyPatchType || !slices.Equal(patch.PatchOptions.DryRun, []string{metav1.DryRunAll}) {
			t.Errorf("unexpected %s of %s", action.GetVerb(), action.GetResource().Resource)
			return true, nil, errors.New("unexpected")
		}
		*asked = append(*asked, fmt.Sprintf("%s %s/%s", patch.GetResource().Resource, patch.GetNamespace(), patch.Name))
		switch {
		case patch.GetNamespace() == "away":
			return true, nil, apierrors.NewNotFound(schema.GroupResource{Resource: "namespaces"}, "away")
		case strings.HasPrefix(patch.Name, "bad"):
			return true, nil, apierrors.NewInvalid(schema.GroupKind{Kind: "X"}, patch.Name, nil)
		case patch.Name == "hooked":
			return true, nil, apierrors.NewBadRequest(`admission webhook "w" does not support dry run`)
		}
		return true, nil, nil
	})
	kinds := []*metav1.APIResourceList{
		{GroupVersion: "v1", APIResources: []metav1.APIResource{{Name: "configmaps", Kind: "ConfigMap", Namespaced: true}, {Name: "namespaces", Kind: "Namespace"}}},
		{GroupVersion: "apiextensions.k8s.io/v1", APIResources: []metav1.APIResource{{Name: "customresourcedefinitions", Kind: "CustomResourceDefinition"}}},
		{GroupVersion: "apps/v1", APIResources: []metav1.APIResource{{Name: "deployments", Kind: "Deployment", Namespaced: true}}},
	}
	return kubeapi.New(client, &fakediscovery.FakeDiscovery{Fake: &clienttesting.Fake{Resources: kinds}})
}

// charts has one chart.
type charts []byte

func (c charts) Fetch(_ context.Context, chart mirror.Chart) ([]byte, error) {
	if chart.Name != "shop" {
		return nil, errors.New("no such chart")
	}
	return c, nil
}

func TestCheck(t *testing.T) {
	t.Parallel()
	named := func(namespace, name string) map[string]any {
		return map[string]any{"metadata": map[string]any{"namespace": namespace, "name": name}, "spec": map[string]any{"replicas": 2.0}}
	}
	chart := charts(mirrortest.Pack(t, map[string]string{
		"shop/Chart.yaml":       "apiVersion: v2\nname: shop\nversion: 1.0.0\n",
		"shop/templates/a.yaml": "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: '{{ .Values.name }}'}\n---\napiVersion: shop.example.com/v1\nkind: Shop\nmetadata: {name: bad}\n",
		"shop/crds/shop.yaml":   "apiVersion: apiextensions.k8s.io/v1\nkind: CustomResourceDefinition\nmetadata: {name: shops}\nspec: {names: {kind: Shop}}\n",
	}))
	release := func(chart, name string) map[string]any {
		return map[string]any{"name": "web", "namespace": "shop", "chart": "oci://example.com/" + chart, "version": "1.0.0", "values": map[string]any{"name": name}}
	}
	for _, test := range []struct {
		name, token string
		inputs      map[string]any
		asked       []string
		noted       string
		fails       string
	}{
		{"nothing of Kubernetes", "aws:ec2/vpc:Vpc", named("", "x"), nil, "", ""},
		{"an object", "kubernetes:apps/v1:Deployment", named("shop", "x"), []string{"deployments shop/x"}, "", ""},
		{"of the core", "kubernetes:core/v1:ConfigMap", named("", "x"), []string{"configmaps default/x"}, "", ""},
		{"of the whole cluster", "kubernetes:core/v1:Namespace", named("", "x"), []string{"namespaces /x"}, "", ""},
		{"refused", "kubernetes:apps/v1:Deployment", named("shop", "bad"), []string{"deployments shop/bad"}, "", "the cluster refuses Deployment shop/bad: "},
		{"a namespace that is simulated", "kubernetes:apps/v1:Deployment", named("away", "x"), []string{"deployments away/x", "deployments default/x"}, "has no namespace away", ""},
		{"refused there", "kubernetes:apps/v1:Deployment", named("away", "bad"), []string{"deployments away/bad", "deployments default/bad"}, "has no namespace away", "refuses Deployment default/bad: "},
		{"a kind that is simulated", "kubernetes:shop.example.com/v1:Shop", named("shop", "x"), nil, "does not know Shop of shop.example.com/v1", ""},
		{"a kind that is gone", "kubernetes:policy/v1beta1:PodSecurityPolicy", named("", "x"), nil, "", "the cluster has no such kind: policy/v1beta1, Kind=PodSecurityPolicy"},
		{"a webhook without dry runs", "kubernetes:apps/v1:Deployment", named("shop", "hooked"), []string{"deployments shop/hooked"}, "does not support dry run", ""},
		{"a patch", "kubernetes:core/v1:NamespacePatch", named("", "x"), nil, "", ""},
		{"a release", mirror.ReleaseToken, release("shop", "x"), []string{"customresourcedefinitions /shops", "configmaps shop/x"}, "", ""},
		{"a release that is refused", mirror.ReleaseToken, release("shop", "bad"), []string{"customresourcedefinitions /shops", "configmaps shop/bad"}, "", "refuses ConfigMap shop/bad"},
		{"a chart out of reach", mirror.ReleaseToken, release("other", "x"), nil, "release web is not checked: no such chart", ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			var asked, noted []string
			c := checker{cluster: cluster(t, &asked), charts: chart, warn: func(text string) { noted = append(noted, text) }}
			err := c.check(t.Context(), "web", test.token, test.inputs)
			if diff := cmp.Diff(test.asked, asked); diff != "" {
				t.Errorf("asked (-want +got):\n%s", diff)
			}
			if (test.noted == "") != (len(noted) == 0) || !strings.Contains(strings.Join(noted, "\n"), test.noted) {
				t.Errorf("noted %q, want %q", noted, test.noted)
			}
			if (test.fails == "") != (err == nil) || err != nil && !strings.Contains(err.Error(), test.fails) {
				t.Errorf("error %v, want %q", err, test.fails)
			}
		})
	}
}
