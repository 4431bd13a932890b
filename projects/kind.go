package projects

import (
	"cmp"
	"fmt"
	"math"
	"net/netip"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"

	"mara/config"
	"mara/projects/model"
	"mara/projects/naming"
	"mara/projects/offers"
)

// Kind hosts the cluster and the registry in containers on this machine.
//
// The keys of its projects are in the namespace "kind", which is also the name of the
// resource provider's package. Pulumi hands a provider that it makes itself
// every key of that namespace as the provider's own configuration, so both
// programs make their provider explicitly, and it gets none.
func Kind() model.Infrastructure {
	return model.Infrastructure{
		Name:           "kind",
		Title:          "Kubernetes in Docker",
		Local:          true,
		FixedVolumes:   true, // rancher.io/local-path makes directories
		Projects:       func() []model.Project { return []model.Project{KindCluster(), KindRegistry()} },
		ClusterProject: "kind-cluster",
		Registry:       model.Registry{Project: "kind-registry", Login: model.LoginNone, Host: "endpoint"},
	}
}

// KindCluster declares the cluster.
func KindCluster() model.Project {
	return model.Project{
		Name: "kind-cluster", Path: "infrastructure/kind/cluster", Title: "Kind Cluster", Estimate: 90 * time.Second,
		Summary: "a Kubernetes cluster in containers on this machine",
		Keys: []config.Key{
			{Name: "kind:node_image", Kind: config.String, Form: config.Image,
				Default: "kindest/node:v1.36.4@sha256:099e049362a1526b2db71494e1947aae99bd16290d7c895f2b7ea312e3cbfaed",
				Example: "kindest/node:v1.35.8@sha256:07b2536e30b803ed61d1677a79df6115f798ce64c80f9e22f6ed45afd09323c0",
				Doc: "image of the nodes, which fixes the Kubernetes version; " +
					"with its digest, as the release notes of kind list it"},
			{Name: "kind:control_planes", Kind: config.Int, Default: 1, Min: new(1), Max: new(7), Example: "3",
				Doc: "number of control-plane nodes; more than one needs workers"},
			{Name: "kind:workers", Kind: config.Int, Default: 0, Min: new(0), Max: new(50), Example: "2",
				Doc: "number of worker nodes; with 0 the control plane takes the workload"},
			httpPortKey(),
			httpsPortKey(),
			{Name: "kind:listen_address", Kind: config.String, Form: config.Address, Default: "127.0.0.1", Example: "0.0.0.0",
				Doc: "address of this machine that the HTTP and HTTPS ports listen on"},
			{Name: "kind:api_server_address", Kind: config.String, Form: config.Address, Default: "127.0.0.1",
				Example: "127.0.0.1",
				Doc:     "address of this machine that the API server listens on; anything but loopback exposes it to the network"},
			{Name: "kind:api_server_port", Kind: config.Int, Default: 0, Min: new(0), Max: new(65535),
				Example: "6443", Doc: "port of this machine that the API server listens on; 0 takes a free one"},
			{Name: "kind:pod_subnet", Kind: config.String, Form: config.Range, Example: "10.244.0.0/16",
				Doc: "range of pod addresses; kind's own default when not set"},
			{Name: "kind:service_subnet", Kind: config.String, Form: config.Range, Example: "10.96.0.0/16",
				Doc: "range of service addresses; kind's own default when not set"},
			{Name: "kind:mounts", Kind: config.List, Form: kindMount, Example: `["/srv/data:/data", "/srv/models:/models:ro"]`,
				Doc: "directories of this machine that every node sees, as host path, node path and optionally ro, with colons " +
					"between"},
			{Name: "kind:registry_mirrors", Kind: config.Map, Example: `{docker.io: "http://mirror.example.com:5000"}`,
				Doc: "registry host to the URL that the nodes pull its images from instead"},
			{Name: "kind:preload", Kind: config.List, Form: config.Image, Example: `["nginx/nginx-ingress:5.5.4"]`,
				Doc: "images of this machine to load into every node, for work without network"},
			{Name: "kind:wait_seconds", Kind: config.Int, Default: 300, Min: new(0), Max: new(3600), Example: "600",
				Doc: "seconds to wait until the nodes are ready; 0 does not wait"},
			kindRuntimeKey(),
			mirrorKey(),
		},
		Rules: []config.Rule{
			kindNodes, kindVersion, mirrorURLs, disjoint("kind:pod_subnet", "kind:service_subnet"),
			distinct("kind:http_port", "kind:https_port", "kind:registry_port", "kind:api_server_port"),
		},
		Outputs: []model.Output{
			{Name: "kubeconfig", Secret: true, Doc: "kubeconfig of the cluster"},
			{Name: "cluster_name", Doc: "name of the cluster"},
			{Name: "cluster_uid", Doc: "changes when the cluster is created anew under the same name"},
			{Name: "endpoint", Doc: "URL of the API server"},
			{Name: "node_names", Doc: "names of the node containers"},
			{Name: "network", Doc: "container network of the nodes"},
		},
		Hooks: []model.Hook{model.KubeconfigHook()},
	}
}

// KindRegistry declares the container registry.
func KindRegistry() model.Project {
	return model.Project{
		Name: "kind-registry", Path: "infrastructure/kind/registry", Title: "Local Registry", Estimate: 20 * time.Second,
		Summary: "a container registry on this machine that the cluster's nodes pull from",
		Keys: []config.Key{
			{Name: "kind:registry_image", Kind: config.String, Form: config.Image, Default: "registry:3",
				Example: "registry:3.0.0", Doc: "image of the registry"},
			{Name: "kind:registry_address", Kind: config.String, Form: config.Address, Default: "127.0.0.1",
				Example: "127.0.0.1",
				Doc:     "address of this machine that the registry listens on; it has no login, so keep it on loopback"},
			portKey("kind:registry_port", 5001, "5002",
				"port of this machine that the registry listens on, one for each environment"),
			kindRuntimeKey(),
			mirrorKey(),
		},
		Rules: []config.Rule{openRegistry},
		Outputs: []model.Output{
			{Name: "endpoint", Highlight: true, Doc: "registry as this machine and the nodes name it: localhost:5001"},
			{Name: "internal_endpoint", Doc: "registry as containers on the cluster's network reach it"},
		},
	}
}

// kindRuntimeKey declares the container runtime of the machine.
func kindRuntimeKey() config.Key {
	return config.Key{Name: "kind:runtime", Kind: config.String, Allowed: []string{"docker", "podman", "nerdctl"},
		Example: "podman", Doc: "container runtime of this machine; the first one found when not set"}
}

// KindClusterName returns the name of an environment's cluster. It leaves room for kind's
// suffixes in a container's host name, such as "-external-load-balancer".
func KindClusterName(stack string) string { return naming.Environment(stack, "", 40) }

// KindRegistryName returns the name of an environment's registry, no longer than the host
// names that containers can use for one another.
func KindRegistryName(stack string) string { return naming.Environment(stack, "registry", 63) }

// kindMount is the form of what ParseMount reads.
var kindMount = &config.Form{Title: "two absolute paths with a colon between, with or without :ro",
	Fits: func(text string) bool {
		_, ok := ParseMount(text)
		return ok
	}}

// kindNodes requires workers in a cluster of several control planes: kind lets one take workload only when
// it is the single node. Each node takes a /24 of the range of Pods.
func kindNodes(v config.Values) (found []config.Finding) {
	const workersKey, subnetKey = "kind:workers", "kind:pod_subnet"
	planes, _ := v.Int("kind:control_planes")
	workers, _ := v.Int(workersKey)
	if planes > 1 && workers == 0 {
		found = append(found, config.Finding{Key: workersKey, At: "kind:control_planes",
			Text: "must be at least 1 with several control planes"})
	}
	if planes%2 == 0 {
		text := fmt.Sprintf("is %d: an even number survives no more failures than one less", planes)
		found = append(found, config.Finding{Key: "kind:control_planes", Text: text, Doubt: true})
	}
	subnet, err := netip.ParsePrefix(v.Text(subnetKey))
	if err != nil {
		return found
	}
	if room := math.Exp2(float64(24 - subnet.Bits())); float64(planes+workers) > room {
		found = append(found, config.Wrong(subnetKey, "is %s, which has no room for %d nodes: each takes a /24 of it", subnet,
			planes+workers)...)
	}
	return found
}

// nodeVersion finds the version of Kubernetes in the tag of a node image.
var nodeVersion = regexp.MustCompile(`:v(1\.[0-9]+)\.[0-9]+(@|$)`)

// kindVersion doubts a node image whose Kubernetes has no support any more.
func kindVersion(v config.Values) []config.Finding {
	const key = "kind:node_image"
	match := nodeVersion.FindStringSubmatch(v.Text(key))
	if match == nil || !v.IsSet(key) {
		return nil
	}
	if wrong, doubt := offers.Of("kind").Kubernetes.Judge(match[1], time.Now()); wrong != "" || doubt != "" {
		text := strings.TrimPrefix(cmp.Or(wrong, doubt), "is ")
		return config.Doubtful(key, "is Kubernetes %s", text)
	}
	return nil
}

// Mount is a directory of this machine that the nodes of a kind cluster see.
type Mount struct {
	Host, Node string
	ReadOnly   bool
}

// ParseMount reads a mount, written HOST:NODE or HOST:NODE:ro.
func ParseMount(text string) (mount Mount, ok bool) {
	rest, readOnly := strings.CutSuffix(text, ":ro")
	// The node's path is the part after the last colon: a host path of Windows has one of its own.
	colon := strings.LastIndex(rest, ":")
	if colon < 0 {
		return Mount{}, false
	}
	mount = Mount{Host: rest[:colon], Node: rest[colon+1:], ReadOnly: readOnly}
	return mount, filepath.IsAbs(mount.Host) && strings.HasPrefix(mount.Node, "/")
}

// openRegistry doubts a registry without a login on an address that others reach.
func openRegistry(v config.Values) []config.Finding {
	const key = "kind:registry_address"
	if address, err := netip.ParseAddr(v.Text(key)); err == nil && !address.IsLoopback() {
		return config.Doubtful(key, "is %s: whoever reaches this machine can push to the registry, which has no login",
			address)
	}
	return nil
}

// mirrorURLs requires web addresses in the map of registries.
func mirrorURLs(v config.Values) (found []config.Finding) {
	const key = "kind:registry_mirrors"
	for host, value := range v.Map(key) {
		if target, _ := value.(string); !config.Web.Matches(target) {
			found = append(found, config.Wrong(key, "maps %s to %s, which is not an http or https URL", host,
				config.Show(value))...)
		}
		if !config.Registry.Matches(host) {
			found = append(found, config.Wrong(key, "has %q, which is not %s", host, config.Registry.Title)...)
		}
	}
	slices.SortFunc(found, func(a, b config.Finding) int { return strings.Compare(a.Text, b.Text) })
	return found
}
