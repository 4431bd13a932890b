package image_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"mara/projects/utility/internal/image"
)

const digest = "sha256:099e049362a1526b2db71494e1947aae99bd16290d7c895f2b7ea312e3cbfaed"

func TestParse(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name string
		in   string
		want image.Reference
	}{
		{"Docker Hub", "nginx/nginx-ingress:5.5.4", image.Reference{Repository: "nginx/nginx-ingress", Tag: "5.5.4"}},
		{"official", "registry:3", image.Reference{Repository: "registry", Tag: "3"}},
		{"a host", "ghcr.io/nginx/kic:edge", image.Reference{Registry: "ghcr.io", Repository: "nginx/kic", Tag: "edge"}},
		{
			"a port", "localhost:5001/nginx-ingress:5.5.4",
			image.Reference{Registry: "localhost:5001", Repository: "nginx-ingress", Tag: "5.5.4"},
		},
		{"localhost", "localhost/kic:1", image.Reference{Registry: "localhost", Repository: "kic", Tag: "1"}},
		{
			"pinned", "nginx/nginx-ingress:5.5.4@" + digest,
			image.Reference{Repository: "nginx/nginx-ingress", Tag: "5.5.4", Digest: digest},
		},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			got, err := image.Parse(test.in)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("parts (-want +got):\n%s", diff)
			}
			if got.String() != test.in {
				t.Errorf("put together again it is %q", got)
			}
		})
	}
}

func TestParseRefuses(t *testing.T) {
	t.Parallel()
	tests := []struct{ name, in, want string }{
		{"no tag", "nginx/nginx-ingress", "has no tag"},
		{"a port but no tag", "localhost:5001/nginx-ingress", "has no tag"},
		{"a digest but no tag", "nginx@" + digest, "has no tag"},
		{"a short digest", "nginx:1@sha256:abc", "64 hexadecimal digits"},
		{"capitals", "Nginx:1", "not the name of an image"},
		{"spaces", "my nginx:1", "not the name of an image"},
		{"nothing", "", "has no tag"},
		{"only a host", "ghcr.io/:1", "not the name of an image"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			got, err := image.Parse(test.in)
			if err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("got %v and error %v, want an error that says %q", got, err, test.want)
			}
		})
	}
}
