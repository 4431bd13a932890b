// Package examine finds out what a run asks its cluster: why Pods are not ready, which load
// balancers and volumes the cluster would leave in its cloud, and what has changed in the
// Helm releases. It only reads.
package examine

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"

	"mara/config/lists"
	"mara/runner/internal/kube/kubeapi"
)

// most is how many Pods, or objects that could make none, are described.
const most = 5

// Pods lists the Pods of a namespace that are not ready, with the reason, one line each: Helm
// and Pulumi wait for them, and report only a timeout. If all Pods are ready, it lists other
// objects with warnings: they may have been unable to create Pods.
func Pods(ctx context.Context, c *kubeapi.Cluster, namespace string) ([]string, error) {
	pods, err := kubeapi.List[corev1.Pod](ctx, c, "pods", namespace, "")
	if err != nil {
		return nil, err
	}
	events, err := kubeapi.List[corev1.Event](ctx, c, "events", namespace, "")
	if err != nil {
		return nil, err
	}
	warned := lastWarnings(events)
	waiting := slices.DeleteFunc(pods, func(p corev1.Pod) bool {
		_, isReady := condition(p, corev1.PodReady, corev1.ConditionTrue)
		return isReady || p.Status.Phase == corev1.PodSucceeded || p.DeletionTimestamp != nil
	})
	if len(waiting) == 0 {
		return truncate(warned.ofOthers()), nil
	}
	slices.SortStableFunc(waiting, func(a, b corev1.Pod) int { return cmp.Compare(whyPod(a).rank, whyPod(b).rank) })
	var lines []string
	for _, p := range waiting {
		line := fmt.Sprintf("Pod %s/%s is not ready: %s", namespace, p.Name, whyPod(p).text)
		if e, ok := warned[subject{"Pod", p.Name}]; ok {
			line += "; last event: " + detail(e.Reason, e.Message)
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

// condition returns the Pod's condition of a type, if it has this status.
func condition(p corev1.Pod, kind corev1.PodConditionType, status corev1.ConditionStatus) (corev1.PodCondition, bool) {
	return lists.Find(p.Status.Conditions, func(c corev1.PodCondition) bool {
		return c.Type == kind && c.Status == status
	})
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

// whyPod returns the first reason that keeps the Pod from being ready.
func whyPod(p corev1.Pod) reason {
	if c, ok := condition(p, corev1.PodScheduled, corev1.ConditionFalse); ok {
		return reason{stuck, detail(c.Reason, c.Message)}
	}
	if p.Status.Reason != "" { // such as Evicted
		return reason{stuck, detail(p.Status.Reason, p.Status.Message)}
	}
	found := reason{starting, string(p.Status.Phase)}
	for _, c := range slices.Concat(p.Status.InitContainerStatuses, p.Status.ContainerStatuses) {
		if why := whyContainer(c); why.rank < found.rank {
			found = why
		}
	}
	return found
}

// whyContainer returns why a container is not ready.
func whyContainer(c corev1.ContainerStatus) reason {
	name := "container " + c.Name + ": "
	switch state := c.State; {
	case c.Ready:
	case state.Waiting != nil && state.Waiting.Reason != "ContainerCreating" && state.Waiting.Reason != "PodInitializing":
		text := name + detail(state.Waiting.Reason, state.Waiting.Message)
		if last := c.LastTerminationState.Terminated; last != nil {
			text += " (" + describeEnd(last) + ")"
		}
		return reason{stuck, text}
	case state.Terminated != nil && state.Terminated.ExitCode != 0:
		return reason{stuck, name + describeEnd(state.Terminated)}
	case state.Running != nil:
		return reason{unready, name + "runs, but is not ready"}
	}
	return reason{rank: starting}
}

// describeEnd describes how a container has ended.
func describeEnd(ended *corev1.ContainerStateTerminated) string {
	return fmt.Sprintf("%s, exit code %d", ended.Reason, ended.ExitCode)
}

// subject names an object of the namespace.
type subject struct{ kind, name string }

// warnings holds the last warning about each object.
type warnings map[subject]corev1.Event

func lastWarnings(events []corev1.Event) warnings {
	when := func(e corev1.Event) time.Time {
		return cmp.Or(e.LastTimestamp.Time, e.EventTime.Time, e.CreationTimestamp.Time)
	}
	last := warnings{}
	for _, e := range events {
		about := subject{e.InvolvedObject.Kind, e.InvolvedObject.Name}
		if known, ok := last[about]; e.Type == corev1.EventTypeWarning && (!ok || !when(known).After(when(e))) {
			last[about] = e
		}
	}
	return last
}

// ofOthers lists the warnings about objects that are not Pods, such as a ReplicaSet
// that is not allowed to create Pods.
func (w warnings) ofOthers() []string {
	var lines []string
	for o, e := range w {
		if o.kind != "Pod" {
			lines = append(lines, o.kind+" "+o.name+": "+detail(e.Reason, e.Message))
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
