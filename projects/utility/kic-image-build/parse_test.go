package imagebuild

import (
	"strings"
	"testing"
)

const digest = "sha256:099e049362a1526b2db71494e1947aae99bd16290d7c895f2b7ea312e3cbfaed"

func TestParse(t *testing.T) {
	t.Parallel()
	for _, test := range []struct{ name, in, registry, tag string }{
		{"Docker Hub", "nginx/nginx-ingress:5.5.4", "", "5.5.4"},
		{"official", "registry:3", "", "3"},
		{"a host", "ghcr.io/nginx/kic:edge", "ghcr.io", "edge"},
		{"a port", "localhost:5001/nginx-ingress:5.5.4", "localhost:5001", "5.5.4"},
		{"localhost", "localhost/kic:1", "localhost", "1"},
		{"pinned", "nginx/nginx-ingress:5.5.4@" + digest, "", "5.5.4"},
	} {
		registry, tag, err := parse(test.in)
		if err != nil || registry != test.registry || tag != test.tag {
			t.Errorf("%s: got %q, %q and error %v", test.name, registry, tag, err)
		}
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
			_, got, err := parse(test.in)
			if err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("got %v and error %v, want an error that says %q", got, err, test.want)
			}
		})
	}
}
