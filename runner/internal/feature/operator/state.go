package operator

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/dynamic"

	"mara/config/lists"
	"mara/runner/internal/kube/kubeconfig"
)

// Phase is the phase of a Stack.
type Phase string

// The phases, by the operator's conditions.
const (
	Ready    Phase = "ready"
	Running  Phase = "reconciling"
	Waiting  Phase = "waiting" // for another Stack
	Stalled  Phase = "stalled"
	Deleting Phase = "deleting"
	Unseen   Phase = "unseen" // the operator has not looked at it as it is now
)

// State is the state of a Stack.
type State struct {
	Name     string     `json:"name"`
	Project  string     `json:"project"`
	Phase    Phase      `json:"phase"`
	Cause    string     `json:"cause,omitempty"`
	Needs    []string   `json:"needs,omitempty"` // names of Stacks
	Destroys bool       `json:"destroys"`        // when it is deleted
	Previews bool       `json:"previews"`        // and does nothing else
	Last     string     `json:"last,omitempty"`  // succeeded or failed
	LastAt   *time.Time `json:"last_at,omitempty"`
	Commit   string     `json:"commit,omitempty"` // the last one that succeeded
	Tried    string     `json:"tried,omitempty"`  // the last commit that was tried
	Follows  bool       `json:"-"`                // new commits of a branch or of a source of Flux
	Failures int64      `json:"failures,omitempty"`
}

// Cluster is where the Stacks of an environment are.
type Cluster struct {
	Stacks      dynamic.ResourceInterface // of one namespace
	Environment string
}

// Connect makes a client of the cluster of a kubeconfig.
func Connect(content []byte, env map[string]string, namespace, environment string) (Cluster, error) {
	config, err := kubeconfig.Config(content, env)
	if err != nil {
		return Cluster{}, err
	}
	client, err := dynamic.NewForConfig(config)
	if err != nil {
		return Cluster{}, fmt.Errorf("connecting to the cluster: %w", err)
	}
	return Cluster{Stacks: client.Resource(StackResource).Namespace(namespace), Environment: environment}, nil
}

// List reads the Stacks in order, prerequisites first.
func (c Cluster) List(ctx context.Context) ([]State, error) {
	list, err := c.Stacks.List(ctx, metav1.ListOptions{LabelSelector: ManagedLabel + "=" + manager + "," + StackLabel +
		"=" + c.Environment})
	if err != nil {
		return nil, fmt.Errorf("listing the Stacks: %w", err)
	}
	states := lists.Map(list.Items, stateOf)
	slices.SortFunc(states, func(a, b State) int { return strings.Compare(a.Name, b.Name) })
	found := levels(states)
	slices.Reverse(found)
	return slices.Concat(found...), nil
}

// stateOf reads a Stack.
func stateOf(stack unstructured.Unstructured) State {
	var read struct {
		Spec struct {
			DestroyOnFinalize, Preview bool
			Prerequisites              []Need
			Branch                     string
			FluxSource                 map[string]any
		}
		Status struct {
			ObservedGeneration       int64
			ObservedReconcileRequest string
			LastUpdate               struct {
				State, LastSuccessfulCommit, LastAttemptedCommit string

				LastResyncTime *metav1.Time
				Failures       int64
			}
			Conditions []metav1.Condition
		}
	}
	s := State{Name: stack.GetName(), Project: stack.GetLabels()[ProjectLabel]}
	content, err := json.Marshal(stack.Object)
	if err == nil {
		err = json.Unmarshal(content, &read)
	}
	if err != nil {
		s.Phase, s.Cause = Unseen, "its status cannot be read: "+err.Error()
		return s
	}
	last := read.Status.LastUpdate
	s.Destroys, s.Previews = read.Spec.DestroyOnFinalize && !read.Spec.Preview, read.Spec.Preview
	s.Last, s.Commit, s.Tried, s.Failures = last.State, last.LastSuccessfulCommit, last.LastAttemptedCommit, last.Failures
	s.Follows = read.Spec.Branch != "" || read.Spec.FluxSource != nil
	if last.LastResyncTime != nil {
		s.LastAt = &last.LastResyncTime.Time
	}
	s.Needs = lists.Map(read.Spec.Prerequisites, func(need Need) string { return need.Name })
	s.Phase, s.Cause = phaseOf(read.Status.Conditions)
	observed := read.Status.ObservedGeneration == stack.GetGeneration() &&
		read.Status.ObservedReconcileRequest == stack.GetAnnotations()[requestAnnotation]
	if read.Status.ObservedGeneration == 0 && stack.GetGeneration() == 1 {
		// When the operator adds its finalizer it loses what it has noted until it looks again,
		// which it does not where the Stack is stalled. Its conditions count.
		observed = len(read.Status.Conditions) > 0
	}
	switch {
	case stack.GetDeletionTimestamp() != nil && (s.Phase != Stalled || !observed):
		s.Phase = Deleting
	case !observed:
		s.Phase, s.Cause = Unseen, ""
	}
	return s
}

// phaseOf reads the conditions.
func phaseOf(conditions []metav1.Condition) (Phase, string) {
	for _, c := range conditions {
		if c.Status != metav1.ConditionTrue {
			continue
		}
		cause := strings.TrimSuffix(c.Reason+": "+c.Message, ": ")
		switch {
		case c.Type == "Stalled":
			return Stalled, cause
		case c.Type == "Reconciling" && c.Reason == "PrerequisiteNotSatisfied":
			return Waiting, cause
		case c.Type == "Reconciling":
			return Running, cause
		case c.Type == "Ready":
			return Ready, ""
		}
	}
	return Unseen, ""
}

// levels groups Stacks in the order of their deletion: nothing needs those of the
// first level, and only earlier ones those of the others.
func levels(left []State) [][]State {
	var levels [][]State
	for len(left) > 0 {
		isNeeded := func(s State) bool {
			return slices.ContainsFunc(left, func(other State) bool { return slices.Contains(other.Needs, s.Name) })
		}
		level := slices.DeleteFunc(slices.Clone(left), isNeeded)
		if len(level) == 0 { // a circle, which only hands can have made
			return append(levels, left)
		}
		left = slices.DeleteFunc(slices.Clone(left), func(s State) bool { return !isNeeded(s) })
		levels = append(levels, level)
	}
	return levels
}
