package clouds_test

import (
	"encoding/base64"
	"encoding/json"
	"maps"
	"strings"
	"testing"

	"github.com/pulumi/pulumi/sdk/v3/go/common/resource"
	pulumirpc "github.com/pulumi/pulumi/sdk/v3/proto/go"
	"k8s.io/client-go/tools/clientcmd"
)

// TestDigitalOcean: what the programs take from their resources.
func TestDigitalOcean(t *testing.T) {
	t.Parallel()
	e := makeAll(t)
	get := func(name, path string) resource.PropertyValue {
		parsed, err := resource.ParsePropertyPath(path)
		if err != nil {
			t.Fatal(err)
		}
		found, ok := parsed.Get(resource.NewObjectProperty(e.made[name].outputs))
		if !ok {
			t.Fatalf("%s has no %s: %v", name, path, e.made[name].outputs)
		}
		return found
	}
	for name, output := range map[string]string{"doks": "kubeConfigs", "push": "dockerCredentials"} {
		if !get(name, output).IsSecret() {
			t.Errorf("%s of %s is not secret", output, name)
		}
	}
	for path, want := range map[string]any{
		"nodePool.name": "nodes", "nodePool.actualNodeCount": 3.0, "nodePool.nodes[2].status": "running",
	} {
		if got := get("doks", path).V; got != want {
			t.Errorf("%s is %v, want %v", path, got, want)
		}
	}
	if got := get("docr", "endpoint").StringValue(); got != "registry.digitalocean.com/mara-dev-1a2b3c4" {
		t.Errorf("the registry is at %s", got)
	}
	if got := get("record", "fqdn").StringValue(); got != "bank.example.com" {
		t.Errorf("the record is for %s", got)
	}
	configs := get("doks", "kubeConfigs").SecretValue().Element.ArrayValue()
	config, err := clientcmd.Load([]byte(configs[0].ObjectValue()["rawConfig"].StringValue()))
	if err != nil || clientcmd.Validate(*config) != nil || !strings.HasPrefix(config.CurrentContext, "SIMULATED-") {
		t.Errorf("kubeconfig: %v, %v", config, err)
	}
	var login struct {
		Auths map[string]struct{ Auth string }
	}
	if err := json.Unmarshal([]byte(get("push", "dockerCredentials").SecretValue().Element.StringValue()), &login); err != nil {
		t.Fatal(err)
	}
	pair, err := base64.StdEncoding.DecodeString(login.Auths["registry.digitalocean.com"].Auth)
	if user, password, _ := strings.Cut(string(pair), ":"); err != nil || user == "" || user != password {
		t.Errorf("login %q, %v", pair, err)
	}
	if e.made["push"].id == e.made["pull"].id {
		t.Error("two logins are one")
	}
}

func TestDigitalOceanRules(t *testing.T) {
	t.Parallel()
	e := startEngine(t)
	e.configureClouds()
	const cluster = "digitalocean:index/kubernetesCluster:KubernetesCluster"
	good := object{"name": "c", "region": "nyc3", "version": "1.36.2-do.0", "nodePool": object{"name": "n", "size": "s-4vcpu-8gb", "nodeCount": 1}}
	with := func(key string, value any) object {
		changed := maps.Clone(good)
		changed[key] = value
		return changed
	}
	for _, c := range []struct {
		name, token string
		inputs      object
		want        string
	}{
		{"good", cluster, good, ""},
		{"a minor version", cluster, with("version", "1.36"), `"1.36" is not a version such as 1.36.2-do.0`},
		{"no nodes", cluster, with("nodePool", object{"name": "n", "size": "s"}), "needs at least one node"},
		{"no size", cluster, with("nodePool", object{"name": "n", "nodeCount": 1}), `missing required input "nodePool.size"`},
		{"bounds", cluster, with("nodePool", object{"name": "n", "size": "s", "autoScale": true, "minNodes": 3, "maxNodes": 2}), "minNodes 3 and maxNodes 2 do not fit together"},
		{"registry", "digitalocean:index/containerRegistry:ContainerRegistry", object{"name": "A_b", "subscriptionTierSlug": "starter"}, "not a name for a registry"},
	} {
		got := e.problems(c.token, c.inputs)
		if c.want == "" && got != "" || !strings.Contains(got, c.want) {
			t.Errorf("%s: got %q, want %q", c.name, got, c.want)
		}
	}
}

func TestVersionsOfDOKS(t *testing.T) {
	t.Parallel()
	e := startEngine(t)
	e.configureClouds()
	const token = "digitalocean:index/getKubernetesVersions:getKubernetesVersions"
	for prefix, want := range map[string]string{"1.35.": "1.35.6-do.1", "1.3.": "", "": "1.36.2-do.0"} {
		resp, err := e.client(token).Invoke(t.Context(), &pulumirpc.InvokeRequest{Tok: token, Args: e.pack(object{"versionPrefix": prefix})})
		if err != nil {
			t.Fatal(err)
		}
		if got := e.unpack(resp.GetReturn())["latestVersion"].StringValue(); got != want {
			t.Errorf("%s: got %q, want %q", prefix, got, want)
		}
	}
}
