package examine

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"

	"mara/runner/internal/kube/kubeapi"
)

// AppPod is a Pod of an application, as somebody on call looks at it.
type AppPod struct {
	Name     string    `json:"name"`
	Ready    bool      `json:"ready"`
	Restarts int       `json:"restarts"`
	Began    time.Time `json:"began"`
	Image    string    `json:"image,omitempty"`      // by its digest, as far as the kubelet has said it
	Reason   string    `json:"reason,omitempty"`     // why it is not ready; "" if it is
	Event    string    `json:"last_event,omitempty"` // the last warning about it; "" for none
	// Finished Pods are those of the command before a rollout.
	Finished bool `json:"finished,omitempty"`
}

// Application lists the Pods of an application, the youngest last. Those of its command before a rollout are among them.
func Application(ctx context.Context, c *kubeapi.Cluster, name string) ([]AppPod, error) {
	pods, err := kubeapi.List[corev1.Pod](ctx, c, "pods", name, "mara.dev/project="+name)
	if err != nil {
		return nil, err
	}
	events, err := kubeapi.List[corev1.Event](ctx, c, "events", name, "")
	if err != nil {
		return nil, err
	}
	warned := lastWarnings(events)
	found := make([]AppPod, 0, len(pods))
	for _, pod := range pods {
		_, isReady := condition(pod, corev1.PodReady, corev1.ConditionTrue)
		p := AppPod{
			Name: pod.Name, Ready: isReady, Began: pod.CreationTimestamp.Time, Finished: pod.Status.Phase == corev1.PodSucceeded,
		}
		for _, container := range pod.Status.ContainerStatuses {
			p.Restarts += int(container.RestartCount)
			p.Image = container.Image
			if _, digest, ok := strings.Cut(container.ImageID, "@"); ok && !strings.Contains(p.Image, "@") {
				p.Image += "@" + digest
			}
		}
		if !isReady && !p.Finished {
			p.Reason = whyPod(pod).text
		}
		if e, ok := warned[subject{"Pod", pod.Name}]; ok {
			p.Event = detail(e.Reason, e.Message)
		}
		found = append(found, p)
	}
	slices.SortStableFunc(found, func(a, b AppPod) int { return a.Began.Compare(b.Began) })
	return found, nil
}

// State says in a word how a Pod is.
func (p AppPod) State() string {
	switch {
	case p.Finished:
		return "finished"
	case p.Ready:
		return "ready"
	}
	return "not ready"
}

// String describes the Pod in one line.
func (p AppPod) String() string {
	line := p.Name + ": " + p.State()
	if p.Image != "" {
		line += ", " + p.Image
	}
	if p.Restarts > 0 {
		line += fmt.Sprintf(", restarted %d times", p.Restarts)
	}
	if p.Reason != "" {
		line += ": " + p.Reason
	}
	if p.Event != "" {
		line += "; last event: " + p.Event
	}
	return line
}
