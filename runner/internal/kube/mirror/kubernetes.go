package mirror

import (
	"cmp"
	"maps"
	"regexp"
	"slices"
	"strings"
	"sync"

	"helm.sh/helm/v3/pkg/chartutil"
)

// defaultKubernetes is the Kubernetes version of the plans' clusters.
const defaultKubernetes = "1.36.0"

// clusterInputs are the inputs that fix the Kubernetes version of a cluster, by resource type.
var clusterInputs = map[string]string{
	"aws:eks/cluster:Cluster":                                "version",
	"digitalocean:index/kubernetesCluster:KubernetesCluster": "version",
	"linode:index/lkeCluster:LkeCluster":                     "k8sVersion",
	"kind:index:Cluster":                                     "nodeImage",
}

// kubernetesVersion finds the version in an input: "1.36", "1.36.2-do.0", or the tag of kind's node image.
var kubernetesVersion = regexp.MustCompile(`^(?:.*:v)?(\d+\.\d+(?:\.\d+)?)(?:[-+@].*)?$`)

// Kubernetes is the version that charts are rendered for. The zero Kubernetes is the default version.
type Kubernetes struct{ version, project string }

// String returns the version and its origin.
func (k Kubernetes) String() string {
	if k.version == "" {
		return "Kubernetes " + k.capabilities().KubeVersion.Version + " (the default: the programs declare no single version)"
	}
	return "Kubernetes " + k.capabilities().KubeVersion.Version + " (the cluster of " + k.project + ")"
}

// capabilities returns the capabilities of a cluster of this version.
func (k Kubernetes) capabilities() *chartutil.Capabilities {
	known := chartutil.DefaultCapabilities.Copy()
	if version, err := chartutil.ParseKubeVersion(cmp.Or(k.version, defaultKubernetes)); err == nil {
		known.KubeVersion = *version
	}
	return known
}

// Clusters collects the Kubernetes versions of the clusters that programs declare. It is
// safe for concurrent use.
type Clusters struct {
	mu       sync.Mutex        // protects versions
	versions map[string]string // project, by version
}

// Saw records a resource of a project.
func (c *Clusters) Saw(project, token string, inputs map[string]any) {
	input, ok := clusterInputs[token]
	if !ok {
		return
	}
	version := "" // unknown
	if found := kubernetesVersion.FindStringSubmatch(text(inputs, input)); found != nil {
		version = found[1]
		if strings.Count(version, ".") == 1 {
			version += ".0" // as ParseKubeVersion wants it
		}
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.versions == nil {
		c.versions = map[string]string{}
	}
	c.versions[version] = project
}

// Kubernetes returns the version of the clusters, or the default version if they have none or several.
func (c *Clusters) Kubernetes() Kubernetes {
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.versions) != 1 {
		return Kubernetes{}
	}
	version := slices.Collect(maps.Keys(c.versions))[0]
	return Kubernetes{version, c.versions[version]}
}
