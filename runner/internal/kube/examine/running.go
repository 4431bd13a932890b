package examine

import (
	"context"
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"mara/config/lists"
	"mara/projects/model"
	"mara/runner/internal/kube/kubeapi"
)

// Running is the image that the ready Pods of an application run.
type Running struct {
	Image  string // name, with its tag if it has one, without a digest
	Digest string // of the registry: sha256:...
	Pods   int
}

// Reference returns the image by its digest. The tag stays, for people.
func (r Running) Reference() string { return r.Image + "@" + r.Digest }

// RunningImage returns the image of an application's container in the cluster, by the digest that all its ready
// Pods run. It refuses to choose while Pods run several, and an image without a digest of a registry, such as
// one that was loaded into the nodes.
func RunningImage(ctx context.Context, c *kubeapi.Cluster, application string) (Running, error) {
	pods, err := kubeapi.List[corev1.Pod](ctx, c, "pods", application, "app.kubernetes.io/name="+application)
	if err != nil {
		return Running{}, err
	}
	var found Running
	var digests []string
	for _, pod := range pods {
		if _, isReady := condition(pod, corev1.PodReady, corev1.ConditionTrue); !isReady || pod.DeletionTimestamp != nil {
			continue
		}
		image, digest, err := imageOf(pod, application)
		if err != nil {
			return Running{}, err
		}
		found.Pods++
		found.Image, found.Digest = image, digest
		if !slices.Contains(digests, digest) {
			digests = append(digests, digest)
		}
	}
	switch {
	case found.Pods == 0:
		return Running{}, fmt.Errorf("no Pod of %s is ready", application)
	case len(digests) > 1:
		return Running{}, fmt.Errorf("the Pods of %s run %d images (%s): wait for the end of the rollout", application,
			len(digests), strings.Join(digests, ", "))
	}
	return found, nil
}

// imageOf returns the image of a Pod's container: the digest in its specification, or the one that the kubelet has
// pulled. Of an image for several architectures, that is the digest of the index.
func imageOf(pod corev1.Pod, container string) (image, digest string, err error) {
	status, ok := lists.Find(pod.Status.ContainerStatuses, func(s corev1.ContainerStatus) bool {
		return s.Name == container
	})
	if !ok {
		return "", "", fmt.Errorf("the Pod %s has no container %s", pod.Name, container)
	}
	named := status.Image
	if c, ok := lists.Find(pod.Spec.Containers, func(c corev1.Container) bool { return c.Name == container }); ok {
		named = c.Image
	}
	image, tag, digest := model.SplitImage(named)
	if tag != "" {
		image += ":" + tag
	}
	if digest == "" {
		_, digest, _ = strings.Cut(status.ImageID, "@")
	}
	if !strings.HasPrefix(digest, "sha256:") || strings.Contains(status.ImageID, "/import-") {
		return "", "", fmt.Errorf("the Pod %s runs %s, which has no digest of a registry (%q): it was loaded into the "+
			"node, and cannot be pulled elsewhere; push it to a registry", pod.Name, named, status.ImageID)
	}
	return image, digest, nil
}
