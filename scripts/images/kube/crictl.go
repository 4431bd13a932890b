package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"time"

	criapi "k8s.io/cri-api/pkg/apis"
	runtimeapi "k8s.io/cri-api/pkg/apis/runtime/v1"
	cri "k8s.io/cri-client/pkg"
)

const containerd = "unix:///run/containerd/containerd.sock"

// crictl implements the commands about images that kind and our tests use of the program
// crictl.
func crictl(ctx context.Context, args []string) error {
	images, err := cri.NewRemoteImageService(ctx, containerd, 5*time.Minute, nil, false)
	if err != nil {
		return err
	}
	switch {
	case len(args) == 1 && args[0] == "images":
		return list(ctx, images)
	case len(args) == 2 && args[0] == "pull":
		id, err := images.PullImage(ctx, &runtimeapi.ImageSpec{Image: args[1]}, nil, nil)
		fmt.Println(id)
		return err
	case len(args) == 2 && args[0] == "inspecti":
		return inspect(ctx, images, args[1])
	}
	return errors.New("usage: crictl images | pull IMAGE | inspecti IMAGE")
}

func list(ctx context.Context, images criapi.ImageManagerService) error {
	all, err := images.ListImages(ctx, nil)
	for _, image := range all {
		fmt.Println(image.Id, image.RepoTags)
	}
	return err
}

// inspect prints as much as kind reads, when it asks whether a node has an image.
func inspect(ctx context.Context, images criapi.ImageManagerService, name string) error {
	answer, err := images.ImageStatus(ctx, &runtimeapi.ImageSpec{Image: name}, false)
	if err != nil {
		return err
	}
	if answer.Image == nil {
		return fmt.Errorf("no such image %q present", name)
	}
	status := map[string]any{
		"id": answer.Image.Id, "repoTags": answer.Image.RepoTags, "repoDigests": answer.Image.RepoDigests,
	}
	return json.NewEncoder(os.Stdout).Encode(map[string]any{"status": status})
}
