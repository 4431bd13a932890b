package upgrade

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/runtime/schema"
)

// deprecatedMetric is the API server's count of requests of deprecated API versions, since it started. Source:
// https://kubernetes.io/docs/reference/using-api/deprecation-policy/
const deprecatedMetric = "apiserver_requested_deprecated_apis{"

// labelOfMetric matches a label of a metric with its value.
var labelOfMetric = regexp.MustCompile(`(\w+)="([^"]*)"`)

// Requested returns what the metrics of an API server tell of requests for API versions that a version of Kubernetes
// does not serve any more. They do not say who asked, so that they are something to know: one look with kubectl counts.
func Requested(metrics []byte, to string) (found []Obstacle) {
	for line := range strings.Lines(string(metrics)) {
		if !strings.HasPrefix(line, deprecatedMetric) {
			continue
		}
		labels := map[string]string{}
		for _, match := range labelOfMetric.FindAllStringSubmatch(line, -1) {
			labels[match[1]] = match[2]
		}
		removed := labels["removed_release"]
		if removed == "" || Compare(removed, to) > 0 {
			continue
		}
		version := schema.GroupVersion{Group: labels["group"], Version: labels["version"]}.String()
		resource := strings.TrimSuffix(labels["resource"]+"/"+labels["subresource"], "/")
		found = append(found, Obstacle{Where: "cluster", Text: fmt.Sprintf(
			"since its API server started, a client has requested %s of %s, which is not served any more from Kubernetes %s on",
			resource, version, removed)})
	}
	slices.SortFunc(found, func(a, b Obstacle) int { return strings.Compare(a.Text, b.Text) })
	return slices.Compact(found)
}
