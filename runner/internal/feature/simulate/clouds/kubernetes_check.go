package clouds

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/api/validate/content"
	"k8s.io/apimachinery/pkg/util/validation"

	"mara/runner/internal/feature/simulate"
)

var (
	// https://kubernetes.io/docs/concepts/overview/working-with-objects/names/
	objectName = regexp.MustCompile(`^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$`)
	// https://kubernetes.io/docs/concepts/overview/working-with-objects/labels/
	labelText = regexp.MustCompile(`^([A-Za-z0-9]([-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?)?$`)
)

// kindsOfSpec are the kinds whose spec has fields that are required, although the schema does not require it.
var kindsOfSpec = []string{
	"Pod", "ReplicaSet", "Deployment", "StatefulSet", "DaemonSet", "Job", "CronJob", "Service", "Ingress", "PersistentVolumeClaim",
	"PersistentVolume", "HorizontalPodAutoscaler",
}

// checkMetadata finds names and labels that an API server would refuse, and a spec that is missing.
func checkMetadata(o simulate.Object) []simulate.Problem {
	isName := func(text string) bool { return len(text) <= 253 && objectName.MatchString(text) }
	if strings.HasPrefix(o.Token, "kubernetes:rbac.authorization.k8s.io/") {
		isName = func(text string) bool { return len(content.IsPathSegmentName(text)) == 0 }
	}
	var problems []simulate.Problem
	for _, path := range []string{"metadata.name", "metadata.namespace"} {
		problems = append(problems, wellFormed(path, isName, "is not a name for an object")(o)...)
	}
	j := &judge{partial: o.HasUnknowns()}
	if kind := o.Token[strings.LastIndex(o.Token, ":")+1:]; o.Value("spec") == nil && slices.Contains(kindsOfSpec, kind) {
		j.lacks("spec", "is missing: no API server takes a %s without", kind)
	}
	j.labels(map[string]any{"annotations": o.Map("metadata.annotations")}, "metadata")
	j.finalizers(o.Map("metadata"))
	for key := range o.Map("metadata.labels") {
		j.errors("metadata.labels", key, validation.IsQualifiedName(key))
	}
	problems = append(problems, j.problems...)
	for key, value := range o.Map("metadata.labels") {
		if text, ok := value.(string); ok && !labelText.MatchString(text) {
			problems = append(problems, refuse("metadata.labels",
				"%q is not a value for the label %s: at most 63 letters, digits, '-', '_' and '.'", text, key)...)
		}
	}
	return problems
}

// checkSelector finds workloads whose selector misses their own pods.
func checkSelector(o simulate.Object) []simulate.Problem {
	labels := o.Map("spec.template.metadata.labels")
	for key, value := range o.Map("spec.selector.matchLabels") {
		if labels != nil && labels[key] != value {
			return refuse("spec.selector", "`selector` does not match template `labels`: %s", key)
		}
	}
	return nil
}

func checkCustom(o simulate.Object) []simulate.Problem {
	var problems []simulate.Problem
	apiVersion, kind := apiVersionAndKind(o.Token)
	for path, want := range map[string]string{"apiVersion": apiVersion, "kind": kind} {
		if got := o.Text(path); got != want {
			problems = append(problems, refuse(path, "%q is not %q, which the type says", got, want)...)
		}
	}
	if o.Map("spec") == nil {
		problems = append(problems, refuse("spec", "must be an object")...)
	}
	return problems
}

// finalizers reports names that are neither Kubernetes' own nor have the domain of whoever removes them.
func (j *judge) finalizers(metadata map[string]any) {
	names, _ := metadata["finalizers"].([]any)
	for i, item := range names {
		name, ok := item.(string)
		if !ok {
			continue
		}
		at := fmt.Sprintf("metadata.finalizers[%d]", i)
		j.errors(at, name, validation.IsQualifiedName(name))
		if !strings.Contains(name, "/") && !slices.Contains([]string{"kubernetes", "orphan", "foregroundDeletion"}, name) {
			j.refuse(at, "%q has no domain, as example.com/name has", name)
		}
	}
}
