// Package pods explains why the Pods of a namespace are not ready. Helm and Pulumi
// wait for them, and report only a timeout.
package pods

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"mara/runner/internal/kube/kubeconfig"
)

// most is how many Pods, or objects that could make none, are described.
const most = 5

// Describe lists the Pods of a namespace that are not ready, with the reason, one
// line each. If all Pods are ready, it lists other objects with warnings: they may
// have been unable to create Pods.
func Describe(ctx context.Context, api *kubeconfig.API, namespace string) ([]string, error) {
	var pods list[pod]
	if err := api.Get(ctx, "api/v1/namespaces/"+namespace+"/pods", &pods); err != nil {
		return nil, err
	}
	var events list[happening]
	if err := api.Get(ctx, "api/v1/namespaces/"+namespace+"/events", &events); err != nil {
		return nil, err
	}
	warned := lastWarnings(events.Items)
	waiting := slices.DeleteFunc(pods.Items, pod.isFine)
	if len(waiting) == 0 {
		return truncate(warned.ofOthers()), nil
	}
	slices.SortStableFunc(waiting, func(a, b pod) int { return cmp.Compare(a.reason().rank, b.reason().rank) })
	var lines []string
	for _, p := range waiting {
		line := fmt.Sprintf("Pod %s/%s is not ready: %s", namespace, p.Metadata.Name, p.reason().text)
		if e, ok := warned[object{"Pod", p.Metadata.Name}]; ok {
			line += "; last event: " + e.String()
		}
		lines = append(lines, line)
	}
	return truncate(lines), nil
}

// truncate cuts a list after a few lines, and adds how many more there are.
func truncate(lines []string) []string {
	if len(lines) <= most {
		return lines
	}
	return append(lines[:most:most], fmt.Sprintf("and %d more", len(lines)-most))
}

// list is a list of objects in the JSON of the API.
type list[T any] struct{ Items []T }

// pod holds the fields of a Pod that are used here.
type pod struct {
	Metadata struct{ Name, DeletionTimestamp string }
	Status   struct {
		Phase, Reason, Message                   string
		Conditions                               []condition
		InitContainerStatuses, ContainerStatuses []container
	}
}

type condition struct{ Type, Status, Reason, Message string }

type container struct {
	Name             string
	Ready            bool
	State, LastState struct {
		Waiting    *struct{ Reason, Message string }
		Running    *struct{}
		Terminated *ended
	}
}

// ended is the state of a container that has ended.
type ended struct {
	Reason   string
	ExitCode int
}

// String describes how the container has ended.
func (e ended) String() string { return fmt.Sprintf("%s, exit code %d", e.Reason, e.ExitCode) }

// isFine reports whether the Pod is ready, has succeeded or is being deleted.
func (p pod) isFine() bool {
	return p.Status.Phase == "Succeeded" || p.Metadata.DeletionTimestamp != "" || p.is("Ready", "True") != nil
}

// is returns the Pod's condition of a type, if it has this status.
func (p pod) is(kind, status string) *condition {
	i := slices.IndexFunc(p.Status.Conditions, func(c condition) bool { return c.Type == kind && c.Status == status })
	if i < 0 {
		return nil
	}
	return &p.Status.Conditions[i]
}

// Ranks of reasons: the ones that need a fix come first.
const (
	stuck = iota
	unready
	starting
)

// reason says why a Pod is not ready.
type reason struct {
	rank int
	text string
}

// reason returns the first reason that keeps the Pod from being ready.
func (p pod) reason() reason {
	if c := p.is("PodScheduled", "False"); c != nil {
		return reason{stuck, detail(c.Reason, c.Message)}
	}
	if p.Status.Reason != "" { // such as Evicted
		return reason{stuck, detail(p.Status.Reason, p.Status.Message)}
	}
	found := reason{starting, p.Status.Phase}
	for _, c := range slices.Concat(p.Status.InitContainerStatuses, p.Status.ContainerStatuses) {
		if why := c.reason(); why.rank < found.rank {
			found = why
		}
	}
	return found
}

// reason returns why a container is not ready.
func (c container) reason() reason {
	name := "container " + c.Name + ": "
	switch state := c.State; {
	case c.Ready:
	case state.Waiting != nil && state.Waiting.Reason != "ContainerCreating" && state.Waiting.Reason != "PodInitializing":
		text := name + detail(state.Waiting.Reason, state.Waiting.Message)
		if last := c.LastState.Terminated; last != nil {
			text += " (" + last.String() + ")"
		}
		return reason{stuck, text}
	case state.Terminated != nil && state.Terminated.ExitCode != 0:
		return reason{stuck, name + state.Terminated.String()}
	case state.Running != nil:
		return reason{unready, name + "runs, but is not ready"}
	}
	return reason{rank: starting}
}

// happening holds the fields of an Event that are used here.
type happening struct {
	InvolvedObject           object
	Type, Reason, Message    string
	LastTimestamp, EventTime string
	Metadata                 struct{ CreationTimestamp string }
}

type object struct{ Kind, Name string }

// String describes the event.
func (h happening) String() string { return detail(h.Reason, h.Message) }

// when returns the time of the last occurrence, as a string that sorts by time.
func (h happening) when() string {
	return cmp.Or(h.LastTimestamp, h.EventTime, h.Metadata.CreationTimestamp)
}

// warnings holds the last warning about each object.
type warnings map[object]happening

func lastWarnings(events []happening) warnings {
	last := warnings{}
	for _, e := range events {
		if known, ok := last[e.InvolvedObject]; e.Type == "Warning" && (!ok || known.when() <= e.when()) {
			last[e.InvolvedObject] = e
		}
	}
	return last
}

// ofOthers lists the warnings about objects that are not Pods, such as a ReplicaSet
// that is not allowed to create Pods.
func (w warnings) ofOthers() []string {
	var lines []string
	for o, e := range w {
		if o.Kind != "Pod" {
			lines = append(lines, o.Kind+" "+o.Name+": "+e.String())
		}
	}
	slices.Sort(lines)
	return lines
}

// detail joins a reason and its message in one line.
func detail(reason, message string) string {
	text := strings.Join(strings.Fields(message), " ")
	if text == "" {
		return reason
	}
	return strings.TrimPrefix(reason+": "+text, ": ")
}
