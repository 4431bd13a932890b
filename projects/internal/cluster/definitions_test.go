package cluster_test

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/pulumi/pulumi/sdk/v3/go/common/resource"
	"github.com/pulumi/pulumi/sdk/v3/go/pulumi"

	"mara/projects"
	"mara/projects/internal/cluster"
	"mara/projects/internal/programtest"
	"mara/projects/internal/settings"
)

const definitionType = "kubernetes:apiextensions.k8s.io/v1:CustomResourceDefinition"

// object is a Kubernetes object as the provider's function answers it.
type object = map[string]any

// chartObjects returns the objects of a chart: a template, and a definition with metadata of
// its own.
func chartObjects() []any {
	return []any{
		object{"apiVersion": "v1", "kind": "Service", "metadata": object{"name": "service"}},
		object{
			"apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
			"metadata": object{"name": "things.example.com", "annotations": object{"made-by": "hand"}},
			"spec":     object{"group": "example.com", "versions": []any{object{"x-kubernetes-int-or-string": true}}},
		},
	}
}

// define declares the definitions of the certmgr project's chart, which is
// fetched, or not, as the answer says.
func define(t *testing.T, config map[string]string, keep, preview bool, answer func(options object) (resource.PropertyMap, error)) programtest.Result {
	t.Helper()
	config["kubernetes:infra_type"] = "kind"
	return programtest.Run(t, programtest.Case{
		Project: projects.CertManager(), Config: config, Preview: preview,
		Stacks: map[string]resource.PropertyMap{"kubeconfig": {"kubeconfig": resource.MakeSecret(resource.NewProperty("k"))}},
		Program: func(ctx *pulumi.Context) error {
			c, err := cluster.Connect(ctx, settings.New(ctx, projects.CertManager()))
			if err != nil {
				return err
			}
			_, err = c.Definitions(ctx, cluster.Chart{Release: "cert-manager", Chart: "cert-manager", Group: "certmgr"}, keep)
			return err
		},
		Call: func(args pulumi.MockCallArgs) (resource.PropertyMap, error) {
			var options object
			if err := json.Unmarshal([]byte(args.Args["jsonOpts"].StringValue()), &options); err != nil {
				t.Error(err)
			}
			return answer(options)
		},
	})
}

func result(objects ...any) resource.PropertyMap {
	return resource.NewPropertyMapFromMap(object{"result": objects})
}

func TestDefinitions(t *testing.T) {
	t.Parallel()
	for _, keep := range []bool{false, true} {
		declared := define(t, map[string]string{}, keep, false, func(object) (resource.PropertyMap, error) {
			return result(chartObjects()...), nil
		})
		if declared.Err != nil {
			t.Fatal(declared.Err)
		}
		if len(declared.All(definitionType)) != 1 || len(declared.All("kubernetes:core/v1:Service")) != 0 {
			t.Errorf("declared %v, want the definition only", declared.Names())
		}
		definition := declared.One(t, definitionType, "things.example.com")
		want := object{
			"apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
			"metadata": object{
				"name":        "things.example.com",
				"annotations": object{"made-by": "hand", "pulumi.com/patchForce": "true"},
				"labels": object{
					"app.kubernetes.io/managed-by": "mara", "mara.dev/project": "certmgr", "mara.dev/stack": "dev",
				},
			},
			"spec": object{"group": "example.com", "versions": []any{object{"x-kubernetes-int-or-string": true}}},
		}
		if diff := cmp.Diff(want, definition.Value()); diff != "" {
			t.Errorf("definition (-want +got):\n%s", diff)
		}
		if definition.RetainOnDelete != keep {
			t.Errorf("kept: %v, want %v", definition.RetainOnDelete, keep)
		}
		if !strings.Contains(definition.Provider, "::definitions::") {
			t.Errorf("provider %s", definition.Provider)
		}
		adopter := declared.One(t, "pulumi:providers:kubernetes", "definitions")
		if got := adopter.Value("upsertExistingObjects"); got != true {
			t.Errorf("upsertExistingObjects is %v: definitions that were kept would be in the way", got)
		}
		if got := declared.One(t, "pulumi:providers:kubernetes", "cluster").Value("upsertExistingObjects"); got != nil {
			t.Errorf("upsertExistingObjects of everything else is %v", got)
		}
	}
}

func TestDefinitionsComeFromTheChart(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name   string
		config map[string]string
		want   object
	}{
		{"default", map[string]string{}, object{
			"chart": "oci://quay.io/jetstack/charts/cert-manager", "version": "v1.21.1", "fetch_opts": object{},
		}},
		{"mirror", map[string]string{"kubernetes:mirror": "m.example.com/x", "certmgr:chart_version": "v1.20.0"}, object{
			"chart": "oci://m.example.com/x/charts/cert-manager", "version": "v1.20.0", "fetch_opts": object{},
		}},
		{"classic repository", map[string]string{"certmgr:chart_repository": "https://charts.jetstack.io"}, object{
			"chart": "cert-manager", "version": "v1.21.1", "fetch_opts": object{"repo": "https://charts.jetstack.io"},
		}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			var got object
			define(t, tt.config, false, false, func(options object) (resource.PropertyMap, error) {
				got = options
				return result(chartObjects()...), nil
			})
			tt.want["namespace"], tt.want["release_name"] = "default", "cert-manager"
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("asked for (-want +got):\n%s", diff)
			}
		})
	}
}

func TestDefinitionsThatAreNotThere(t *testing.T) {
	t.Parallel()
	nothing := func(object) (resource.PropertyMap, error) { return resource.PropertyMap{}, nil }
	unreachable := func(object) (resource.PropertyMap, error) { return nil, errors.New("no such host") }
	nameless := func(object) (resource.PropertyMap, error) {
		return result(object{"apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition"}), nil
	}
	for _, tt := range []struct {
		name    string
		preview bool
		answer  func(object) (resource.PropertyMap, error)
		want    string
	}{
		{"a preview before the cluster exists", true, nothing, ""},
		{"a chart without definitions", false, nothing, `chart cert-manager v1.21.1 has no custom resource definitions; configuration key "certmgr:chart_version"`},
		{"a chart that cannot be fetched", false, unreachable, "reading the custom resource definitions of chart cert-manager: "},
		{"a definition without a name", false, nameless, "has no name"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			err := define(t, map[string]string{}, false, tt.preview, tt.answer).Err
			if (err == nil) != (tt.want == "") || err != nil && !strings.Contains(err.Error(), tt.want) {
				t.Errorf("error %v, want %q", err, tt.want)
			}
		})
	}
}
