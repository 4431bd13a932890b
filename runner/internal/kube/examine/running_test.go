package examine

import (
	"fmt"
	"strings"
	"testing"
)

// runningPod returns a Pod of the application shop.
func runningPod(name, image, id, ready string) string {
	return fmt.Sprintf(`{"metadata":{"name":%q,"namespace":"shop"},"spec":{"containers":[{"name":"proxy","image":"p"},{"name":"shop","image":%q}]},`+
		`"status":{"conditions":[{"type":"Ready","status":%q}],"containerStatuses":[{"name":"proxy","image":"p","imageID":"x"},{"name":"shop","image":%q,"imageID":%q}]}}`,
		name, image, ready, image, id)
}

// TestRunningImage: the digest is that of all ready Pods, and of a registry.
func TestRunningImage(t *testing.T) {
	t.Parallel()
	a, b := "sha256:"+strings.Repeat("a", 64), "sha256:"+strings.Repeat("b", 64)
	const image = "ghcr.io/acme/shop:1.2.3"
	for _, test := range []struct {
		name string
		pods []string
		want string
	}{
		{"pulled", []string{runningPod("1", image, "ghcr.io/acme/shop@"+a, "True"), runningPod("2", image, "ghcr.io/acme/shop@"+a, "True")}, image + "@" + a},
		{"not ready", []string{runningPod("1", image, "ghcr.io/acme/shop@"+a, "True"), runningPod("2", image, "ghcr.io/acme/shop@"+b, "False")}, image + "@" + a},
		{"pinned", []string{runningPod("1", image+"@"+a, "ghcr.io/acme/shop@"+b, "True")}, image + "@" + a},
		{"docker", []string{runningPod("1", image, "docker-pullable://ghcr.io/acme/shop@"+a, "True")}, image + "@" + a},
		{"a rollout", []string{runningPod("1", image, "ghcr.io/acme/shop@"+a, "True"), runningPod("2", image, "ghcr.io/acme/shop@"+b, "True")}, "wait for the end of the rollout"},
		{"loaded", []string{runningPod("1", image, "sha256:"+strings.Repeat("c", 64), "True")}, "push it to a registry"},
		{"imported", []string{runningPod("1", image, "docker.io/library/import-2026-11-25@"+a, "True")}, "push it to a registry"},
		{"none", nil, "no Pod of shop is ready"},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			got, err := RunningImage(t.Context(), servePods(t, test.pods, nil), "shop")
			text := got.Reference()
			if err != nil {
				text = err.Error()
			}
			if !strings.Contains(text, test.want) {
				t.Errorf("%s, want %s", text, test.want)
			}
		})
	}
}
