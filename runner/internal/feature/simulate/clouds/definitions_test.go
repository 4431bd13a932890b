package clouds_test

import (
	"maps"
	"strings"
	"testing"

	"github.com/pulumi/pulumi/sdk/v3/go/common/resource"
	pulumirpc "github.com/pulumi/pulumi/sdk/v3/proto/go"
)

// template asks for the objects of a chart.
func (e *engine) template(jsonOpts string) (resource.PropertyMap, error) {
	const token = "kubernetes:helm:template"
	resp, err := e.client(token).Invoke(e.t.Context(), &pulumirpc.InvokeRequest{Tok: token, Args: e.pack(object{"jsonOpts": jsonOpts})})
	if err != nil {
		return nil, err
	}
	return e.unpack(resp.GetReturn()), nil
}

// TestDefinitions makes what a chart has in its crds/ directory, and then an
// object of a kind that is known from then on.
func TestDefinitions(t *testing.T) {
	t.Parallel()
	e := makeAll(t)
	server := object{"apiVersion": "k8s.nginx.org/v1", "kind": "VirtualServer", "metadata": meta("cafe"), "spec": object{"host": "cafe.example.com"}}
	const serverType = "kubernetes:k8s.nginx.org/v1:VirtualServer"
	wantError(t, e.make("early", serverType, server), `no matches for kind "VirtualServer" in version "k8s.nginx.org/v1"`)

	rendered, err := e.template(`{"chart": "oci://ghcr.io/nginx/charts/nginx-ingress", "version": "2.6.4"}`)
	if err != nil {
		t.Fatal(err)
	}
	definitions := rendered["result"].ArrayValue()
	if len(definitions) != 13 {
		t.Errorf("%d definitions, want 13", len(definitions))
	}
	for _, definition := range definitions {
		inputs := definition.Mappable().(object)
		name := inputs["metadata"].(object)["name"].(string)
		if name == "policies.k8s.nginx.org" {
			continue // it is in the environment
		}
		if err := e.make(name, definitionType, inputs); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	if err := e.make("server", serverType, server); err != nil {
		t.Error(err)
	}
}

// TestHelmInstallsDefinitions: Helm makes the kinds known, unless an input prevents
// it.
func TestHelmInstallsDefinitions(t *testing.T) {
	t.Parallel()
	e := makeAll(t)
	server := object{"apiVersion": "k8s.nginx.org/v1", "kind": "VirtualServer", "metadata": meta("cafe"), "spec": object{}}
	const serverType = "kubernetes:k8s.nginx.org/v1:VirtualServer"
	release := object{"name": "a", "namespace": "app", "chart": "oci://ghcr.io/nginx/charts/nginx-ingress", "skipCrds": true}
	for _, skip := range []bool{true, false} {
		release["skipCrds"] = skip
		if err := e.make("release", "kubernetes:helm.sh/v3:Release", release); err != nil {
			t.Fatal(err)
		}
		if err := e.make("server", serverType, server); (err != nil) != skip {
			t.Errorf("without the definitions: %v; making one of the kinds: %v", skip, err)
		}
		release = maps.Clone(release)
		release["name"] = "b"
	}
}

func TestChartsThatCannotBeFetched(t *testing.T) {
	t.Parallel()
	e := makeAll(t)
	for jsonOpts, want := range map[string]string{
		`{"chart": "nginx-ingress"}`: "neither an oci:// address nor repositoryOpts.repo",
		`{"chart": "oci://x/nginx-ingress", "fetch_opts": {"repo": "https://x"}}`: "not with an oci:// address",
		`{`: "failed to unmarshal 'jsonOpts'",
	} {
		_, err := e.template(jsonOpts)
		wantError(t, err, want)
	}
	if other, err := e.template(`{"chart": "oci://x/cert-manager"}`); err != nil || len(other["result"].ArrayValue()) > 0 {
		t.Errorf("a chart without such a directory: %v, %v", other, err)
	}
}

func TestDefinitionsThatAreRefused(t *testing.T) {
	t.Parallel()
	e := makeAll(t)
	wrongName := definitionOf("things", "Thing")
	wrongName["metadata"] = object{"name": "thing.k8s.nginx.org"}
	twoStored := definitionOf("things", "Thing")
	version := object{"name": "v1", "served": true, "storage": true}
	twoStored["spec"].(object)["versions"] = list(version, version)
	for _, tt := range []struct {
		inputs object
		want   string
	}{
		{wrongName, `must be "things.k8s.nginx.org", plural and group`},
		{twoStored, "exactly one version marked as storage version"},
	} {
		if got := e.problems(definitionType, tt.inputs); !strings.Contains(got, tt.want) {
			t.Errorf("got %q, want %q", got, tt.want)
		}
	}
}
