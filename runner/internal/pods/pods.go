// Package pods says why the Pods of a namespace are not ready. Helm and Pulumi
// wait for them, and then only tell that they have waited too long.
package pods

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"mara/runner/internal/kubeconfig"
)

// most is how many Pods, or objects that could make none, are described.
const most = 5

// Describe says in one line each which Pods of a namespace are not ready, and
// why. Where all Pods are, it says which objects have warnings: those that could
// not make Pods.
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
		return short(warned.ofOthers()), nil
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
	return short(lines), nil
}

// short cuts a list, and says how many more there are.
func short(lines []string) []string {
	if len(lines) <= most {
		return lines
	}
	return append(lines[:most:most], fmt.Sprintf("and %d more", len(lines)-most))
}

// list is a list of objects in the API's JSON.
type list[T any] struct{ Items []T }

// pod is the part of a Pod that matters here.
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

// ended is how a container has ended.
type ended struct {
	Reason   string
	ExitCode int
}

// String says how the container has ended.
func (e ended) String() string { return fmt.Sprintf("%s, exit code %d", e.Reason, e.ExitCode) }

// isFine reports whether nobody waits for the Pod: it is ready, has done its work,
// or goes.
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

// Ranks of reasons: what will not pass by itself comes first.
const (
	stuck = iota
	unready
	starting
)

// reason is why a Pod is not ready.
type reason struct {
	rank int
	text string
}

// reason is the first of what keeps the Pod from being ready.
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

// reason is why a container is not ready.
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

// happening is the part of an Event that matters here.
type happening struct {
	InvolvedObject           object
	Type, Reason, Message    string
	LastTimestamp, EventTime string
	Metadata                 struct{ CreationTimestamp string }
}

type object struct{ Kind, Name string }

// String says what has happened.
func (h happening) String() string { return detail(h.Reason, h.Message) }

// when is when it has happened last. Texts of this kind sort as times do.
func (h happening) when() string {
	return cmp.Or(h.LastTimestamp, h.EventTime, h.Metadata.CreationTimestamp)
}

// warnings are the last ones about each object.
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

// ofOthers lists the warnings about what is no Pod, such as a ReplicaSet that may
// not make Pods.
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

// detail is a reason with its message, in one line.
func detail(reason, message string) string {
	text := strings.Join(strings.Fields(message), " ")
	if text == "" {
		return reason
	}
	return strings.TrimPrefix(reason+": "+text, ": ")
}
