package mirror

import (
	"bytes"
	"cmp"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"sync"

	"helm.sh/helm/v3/pkg/chart/loader"
	"helm.sh/helm/v3/pkg/chartutil"
	"helm.sh/helm/v3/pkg/engine"

	"mara/runner/internal/kube/manifest"
)

// Render lists the objects of a release as Helm would install them, with hooks but without
// the objects of `helm test`, in a cluster of a version. It needs no cluster. It does not validate the values against
// the chart's schema, which may be on the network; the installation does.
func Render(archive []byte, release Release, cluster Kubernetes) ([]manifest.Object, error) {
	files, err := render(archive, release, cluster)
	if err != nil {
		return nil, fmt.Errorf("rendering chart %s %s: %w", release.Source().Name, release.Version, err)
	}
	var objects []manifest.Object
	for _, file := range slices.Sorted(maps.Keys(files)) {
		if strings.HasSuffix(file, "NOTES.txt") {
			continue
		}
		found, err := manifest.Objects(files[file])
		if err != nil {
			return nil, fmt.Errorf("rendering chart %s %s: %s: %w", release.Source().Name, release.Version, file, err)
		}
		objects = append(objects, found...)
	}
	return slices.DeleteFunc(objects, func(object manifest.Object) bool {
		return strings.HasPrefix(object.Text("metadata", "annotations", "helm.sh/hook"), "test") // only for `helm test`
	}), nil
}

// render renders the templates of a chart and returns them by file.
func render(archive []byte, release Release, cluster Kubernetes) (map[string]string, error) {
	loaded, err := loader.LoadArchive(bytes.NewReader(archive))
	if err != nil {
		return nil, err
	}
	given := release.Values
	if given == nil {
		given = map[string]any{}
	}
	if err := chartutil.ProcessDependenciesWithMerge(loaded, given); err != nil {
		return nil, err
	}
	options := chartutil.ReleaseOptions{Name: release.Name, Namespace: release.Namespace, Revision: 1, IsInstall: true}
	const skipSchema = true
	values, err := chartutil.ToRenderValuesWithSchemaValidation(loaded, given, options, cluster.capabilities(), skipSchema)
	if err != nil {
		return nil, err
	}
	files, err := engine.Render(loaded, values)
	if err != nil {
		return nil, err
	}
	if !release.SkipCRDs {
		for _, definition := range loaded.CRDObjects() {
			files[definition.Filename] = string(definition.File.Data)
		}
	}
	return files, nil
}

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
