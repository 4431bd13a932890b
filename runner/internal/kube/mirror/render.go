package mirror

import (
	"bytes"
	"fmt"
	"maps"
	"slices"
	"strings"

	"helm.sh/helm/v3/pkg/chart"
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
	return slices.DeleteFunc(objects, isTest), nil
}

// render renders the templates of a chart and returns them by file.
func render(archive []byte, release Release, cluster Kubernetes) (map[string]string, error) {
	loaded, err := loader.LoadArchive(bytes.NewReader(archive))
	if err != nil {
		return nil, err
	}
	values, err := renderValues(loaded, release, cluster)
	if err != nil {
		return nil, err
	}
	files, err := engine.Render(loaded, values)
	if err != nil {
		return nil, err
	}
	for _, definition := range loaded.CRDObjects() {
		if release.SkipCRDs {
			break
		}
		files[definition.Filename] = string(definition.File.Data)
	}
	return files, nil
}

func renderValues(loaded *chart.Chart, release Release, cluster Kubernetes) (chartutil.Values, error) {
	given := release.Values
	if given == nil {
		given = map[string]any{}
	}
	if err := chartutil.ProcessDependenciesWithMerge(loaded, given); err != nil {
		return nil, err
	}
	options := chartutil.ReleaseOptions{Name: release.Name, Namespace: release.Namespace, Revision: 1, IsInstall: true}
	const skipSchema = true
	return chartutil.ToRenderValuesWithSchemaValidation(loaded, given, options, cluster.capabilities(), skipSchema)
}

// isTest reports whether an object is only for `helm test`.
func isTest(object manifest.Object) bool {
	return strings.HasPrefix(object.Text("metadata", "annotations", "helm.sh/hook"), "test")
}
