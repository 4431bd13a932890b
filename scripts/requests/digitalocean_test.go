package requests

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/digitalocean/godo"
	"github.com/getkin/kin-openapi/openapi3"
)

// digitalOceanVariable names the file with the description of DigitalOcean's API, whose licence lets it be used, but which
// is not in this repository: github.com/digitalocean/openapi, in one file as its Makefile bundles it.
const digitalOceanVariable = "DIGITALOCEAN_DESCRIPTION"

// nodePool is a pool of nodes in the inputs of a cluster, or of a pool of its own.
type nodePool struct {
	ClusterID string `json:"clusterId"`
	Name      string `json:"name"`
	Size      string `json:"size"`
	NodeCount int    `json:"nodeCount"`
	AutoScale bool   `json:"autoScale"`
	MinNodes  int    `json:"minNodes"`
	MaxNodes  int    `json:"maxNodes"`
	Tags      []string
	Labels    map[string]string
	Taints    []godo.Taint
}

// request returns the request for a pool. For one that scales, the provider omits the number of nodes, as its
// documentation says; the description wants one.
func (p nodePool) request() *godo.KubernetesNodePoolCreateRequest {
	if p.AutoScale && p.NodeCount == 0 {
		p.NodeCount = p.MinNodes
	}
	return &godo.KubernetesNodePoolCreateRequest{Name: p.Name, Size: p.Size, Count: p.NodeCount, Tags: p.Tags, Labels: p.Labels,
		Taints: p.Taints, AutoScale: p.AutoScale, MinNodes: p.MinNodes, MaxNodes: p.MaxNodes}
}

// digitalOcean makes the requests of DigitalOcean's SDK from the inputs of a resource, as Pulumi's provider does.
var digitalOcean = map[string]func(ctx context.Context, api *godo.Client, inputs json.RawMessage) error{
	"digitalocean:index/kubernetesCluster:KubernetesCluster": func(ctx context.Context, api *godo.Client, inputs json.RawMessage) error {
		var in struct {
			Name, Region, Version   string
			Tags                    []string
			HA                      bool     `json:"ha"`
			NodePool                nodePool `json:"nodePool"`
			AutoUpgrade             bool     `json:"autoUpgrade"`
			SurgeUpgrade            bool     `json:"surgeUpgrade"`
			RegistryIntegration     bool     `json:"registryIntegration"`
			DestroyAllAssociated    bool     `json:"destroyAllAssociatedResources"`
			KubeconfigExpireSeconds int      `json:"kubeconfigExpireSeconds"`
			MaintenancePolicy       *struct{ Day, StartTime string }
			ControlPlaneFirewall    *struct {
				Enabled          bool
				AllowedAddresses []string `json:"allowedAddresses"`
			} `json:"controlPlaneFirewall"`
		}
		if err := decode(inputs, &in); err != nil {
			return err
		}
		create := &godo.KubernetesClusterCreateRequest{Name: in.Name, RegionSlug: in.Region, VersionSlug: in.Version, Tags: in.Tags, HA: &in.HA,
			AutoUpgrade: in.AutoUpgrade, SurgeUpgrade: in.SurgeUpgrade, NodePools: []*godo.KubernetesNodePoolCreateRequest{in.NodePool.request()}}
		if firewall := in.ControlPlaneFirewall; firewall != nil {
			create.ControlPlaneFirewall = &godo.KubernetesControlPlaneFirewall{Enabled: &firewall.Enabled, AllowedAddresses: firewall.AllowedAddresses}
		}
		_, _, err := api.Kubernetes.Create(ctx, create)
		return err
	},
	"digitalocean:index/kubernetesNodePool:KubernetesNodePool": func(ctx context.Context, api *godo.Client, inputs json.RawMessage) error {
		var in nodePool
		if err := decode(inputs, &in); err != nil {
			return err
		}
		_, _, err := api.Kubernetes.CreateNodePool(ctx, "bd5f5959-5e1e-4205-a714-a914373942af", in.request())
		return err
	},
	"digitalocean:index/containerRegistry:ContainerRegistry": func(ctx context.Context, api *godo.Client, inputs json.RawMessage) error {
		var in struct{ Name, Region, SubscriptionTierSlug string }
		if err := decode(inputs, &in); err != nil {
			return err
		}
		_, _, err := api.Registry.Create(ctx, &godo.RegistryCreateRequest{Name: in.Name, Region: in.Region, SubscriptionTierSlug: in.SubscriptionTierSlug})
		return err
	},
	"digitalocean:index/containerRegistryDockerCredentials:ContainerRegistryDockerCredentials": func(ctx context.Context, api *godo.Client, inputs json.RawMessage) error {
		var in struct {
			RegistryName  string
			Write         bool
			ExpirySeconds *int
		}
		if err := decode(inputs, &in); err != nil {
			return err
		}
		_, _, err := api.Registry.DockerCredentials(ctx, &godo.RegistryDockerCredentialsRequest{ReadWrite: in.Write, ExpirySeconds: in.ExpirySeconds})
		return err
	},
	"digitalocean:index/dnsRecord:DnsRecord": func(ctx context.Context, api *godo.Client, inputs json.RawMessage) error {
		var in struct {
			Domain, Name, Type, Value string
			TTL                       int `json:"ttl"`
		}
		if err := decode(inputs, &in); err != nil {
			return err
		}
		if in.Value == unknown {
			in.Value = "203.0.113.7"
		}
		_, _, err := api.Domains.CreateRecord(ctx, in.Domain, &godo.DomainRecordEditRequest{Type: in.Type, Name: in.Name, Data: in.Value, TTL: in.TTL})
		return err
	},
}

// recorded is a run in docs/tested.json.
type recorded struct {
	Command  string            `json:"command"`
	Date     string            `json:"date"`
	Provider string            `json:"provider"`
	Kind     string            `json:"kind,omitempty"`
	Projects []string          `json:"projects"`
	Parts    []string          `json:"parts"`
	Versions map[string]string `json:"versions"`
}

// recordDigitalOcean writes down in the file that E2E_RECORD names, if it does, that the requests are valid by the
// description. DIGITALOCEAN_DESCRIPTION_OF says which one it is.
func recordDigitalOcean(t *testing.T) {
	t.Helper()
	file := os.Getenv("E2E_RECORD")
	if file == "" || t.Failed() {
		return
	}
	content, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	runs := map[string]recorded{}
	if err := json.Unmarshal(content, &runs); err != nil {
		t.Fatal(err)
	}
	runs[t.Name()] = recorded{
		Command: digitalOceanVariable + "=FILE scripts/requests.sh", Date: time.Now().UTC().Format(time.DateOnly),
		Provider: "digitalocean", Kind: "described",
		Projects: []string{"digitalocean-doks", "digitalocean-registry", "digitalocean-registry-credentials", "digitalocean-dns"},
		Parts:    []string{"clusters", "pools of nodes", "registries and their credentials", "records of domains"},
		Versions: map[string]string{"DigitalOcean's description of its API": os.Getenv(digitalOceanVariable + "_OF")},
	}
	if content, err = json.MarshalIndent(runs, "", "  "); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, append(content, '\n'), 0o644); err != nil {
		t.Fatal(err)
	}
}

// digitalOceanDescription reads the description, if there is one.
func digitalOceanDescription(t *testing.T) (d description, ok bool) {
	t.Helper()
	path := os.Getenv(digitalOceanVariable)
	if path == "" {
		files, err := filepath.Glob("../../../shared/data/provider-facts/digitalocean-openapi-*.json.gz")
		if err != nil || len(files) == 0 {
			return d, false
		}
		path = slices.Max(files)
	}
	content, err := os.ReadFile(path)
	if err == nil && strings.HasSuffix(path, ".gz") {
		var unpacked *gzip.Reader
		if unpacked, err = gzip.NewReader(bytes.NewReader(content)); err == nil {
			content, err = io.ReadAll(unpacked)
		}
	}
	if err != nil {
		t.Fatal(err)
	}
	document, err := openapi3.NewLoader().LoadFromData(content)
	if err != nil {
		t.Fatal(err)
	}
	return description{document, func(path string) string { return path }}, true
}

// TestDigitalOcean: the SDK knows all inputs, and sends what a cluster, a registry and a record need, for names of
// environments of all sorts, and with every setting that changes a request. Where the description of the API is at hand,
// the requests are valid by it.
func TestDigitalOcean(t *testing.T) {
	t.Parallel()
	d, described := digitalOceanDescription(t)
	if !described {
		t.Logf("the requests are not validated by DigitalOcean's description: %s names none", digitalOceanVariable)
	}
	var sent []string
	for _, test := range []struct {
		name, stack string
		config      []string
	}{
		{"defaults", "dev", nil},
		{"a long name", "a-very-long-name-of-an-environment-from-a-branch", nil},
		{"capitals and dots", "Test.Env_1", nil},
		{"two hyphens in a row", "x--y", nil},
		{"a hyphen first", "-x", nil},
		{"underscores in a row", "x__y", nil},
		{"one letter", "x", nil},
		{"a pool that scales", "dev", []string{"doks:min_nodes=2", "doks:max_nodes=5"}},
		{"high availability", "dev", []string{"doks:high_availability=true"}},
		{"an access list", "dev", []string{`doks:api_allowed_cidrs=["203.0.113.0/24","203.0.113.7"]`}},
		{"pools", "dev", []string{`doks:pools={"batch":{"size":"c-4","min":1,"max":5,"labels":{"role":"batch"},"taints":["role=batch:NoSchedule"]}}`}},
		{"a region, a version and a size", "dev", []string{"doks:region=fra1", "doks:k8s_version=1.35", "doks:node_size=c-4", "docr:region=fra1"}},
	} {
		t.Run(test.name, func(t *testing.T) {
			args := []string{"-p", "digitalocean", "--stack=" + test.stack, "--config", "bank-of-anthos:host=shop.example.com",
				"--config", "dns:domain=example.com", "--only", "+digitalocean-dns,+digitalocean-registry-credentials"}
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				body, err := io.ReadAll(r.Body)
				if err != nil {
					t.Error(err)
				}
				r.Body = io.NopCloser(strings.NewReader(string(body)))
				if described {
					if err := d.invalid(r); err != nil {
						t.Errorf("%s %s: %v", r.Method, r.URL.Path, err)
					}
				}
				w.Header().Set("Content-Type", "application/json")
				_, _ = w.Write([]byte(`{}`))
			}))
			defer server.Close()
			api, err := godo.New(http.DefaultClient, godo.SetBaseURL(server.URL))
			if err != nil {
				t.Fatal(err)
			}
			for _, r := range plan(t, append(args, settings(test.config)...)...) {
				request := digitalOcean[r.Type]
				switch {
				case request != nil:
					sent = append(sent, r.Type)
					if err := request(t.Context(), api, r.Inputs); err != nil {
						t.Errorf("%s %s: %v in %s", r.Type, r.Name, err, r.Inputs)
					}
				case strings.HasPrefix(r.Type, "digitalocean:"):
					t.Errorf("no request is known for %s", r.Type)
				}
			}
		})
	}
	slices.Sort(sent)
	if sent = slices.Compact(sent); len(sent) != len(digitalOcean) {
		t.Errorf("requests were made for %v only", sent)
	}
	if os.Getenv(digitalOceanVariable) != "" {
		recordDigitalOcean(t)
	}
}
