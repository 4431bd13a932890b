package live

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/cli-utils/pkg/kstatus/status"
)

// Object names an object that should be in a cluster. Kind has its group, as in Deployment.apps.
type Object struct{ Kind, Namespace, Name string }

// String returns kind, namespace and name.
func (o Object) String() string {
	kind, _, _ := strings.Cut(o.Kind, ".")
	return kind + " " + strings.TrimPrefix(o.Namespace+"/"+o.Name, "/")
}

// Health is what a cluster says about objects.
type Health struct {
	Ready    int       `json:"ready"`
	Problems []Problem `json:"problems,omitempty"`
}

// Problem is an object that is missing or not ready.
type Problem struct {
	Object  string `json:"object"`
	State   string `json:"state"` // gone, or the status that kstatus computes: InProgress, Failed, Terminating, Unknown
	Message string `json:"message,omitempty"`
}

// Gone is the state of an object that the cluster does not have.
const Gone = "gone"

// String describes the problem.
func (p Problem) String() string {
	state := map[string]string{
		string(status.InProgressStatus): "not ready", string(status.FailedStatus): "failed",
		string(status.TerminatingStatus): "being deleted", string(status.UnknownStatus): "unknown",
	}[p.State]
	return strings.TrimSuffix(p.Object+" is "+cmp.Or(state, p.State)+": "+p.Message, ": ")
}

// Check asks a cluster about objects, by project. It lists their kinds only.
func Check(ctx context.Context, o Options, wanted map[string][]Object) (map[string]Health, error) {
	for _, objects := range wanted {
		for _, object := range objects {
			if !slices.Contains(o.Kinds, object.Kind) {
				o.Kinds = append(o.Kinds, object.Kind)
			}
		}
	}
	if len(o.Kinds) == 0 {
		o.Kinds = []string{"namespaces"} // the cluster is asked in any case
	}
	listed, err := List(ctx, o)
	if err != nil {
		return nil, err
	}
	known, err := byName(listed)
	if err != nil {
		return nil, err
	}
	all := map[string]Health{}
	for project, objects := range wanted {
		if all[project], err = healthOf(objects, known); err != nil {
			return nil, err
		}
	}
	return all, nil
}

// byName decodes objects.
func byName(listed [][]byte) (map[Object]*unstructured.Unstructured, error) {
	known := map[Object]*unstructured.Unstructured{}
	for _, content := range listed {
		var object unstructured.Unstructured
		if err := object.UnmarshalJSON(content); err != nil {
			return nil, fmt.Errorf("reading an object of the cluster: %w", err)
		}
		known[Object{object.GroupVersionKind().GroupKind().String(), object.GetNamespace(), object.GetName()}] = &object
	}
	return known, nil
}

// healthOf compares objects with those of a cluster.
func healthOf(objects []Object, known map[Object]*unstructured.Unstructured) (Health, error) {
	var health Health
	for _, object := range objects {
		found := known[object]
		if found == nil {
			health.Problems = append(health.Problems, Problem{Object: object.String(), State: Gone})
			continue
		}
		result, err := status.Compute(found)
		if err != nil {
			return health, fmt.Errorf("%s: %w", object, err)
		}
		if result.Status == status.CurrentStatus {
			health.Ready++
			continue
		}
		health.Problems = append(health.Problems,
			Problem{Object: object.String(), State: string(result.Status), Message: result.Message})
	}
	return health, nil
}
