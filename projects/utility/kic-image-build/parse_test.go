package imagebuild

import "testing"

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
		if registry, tag := parse(test.in); registry != test.registry || tag != test.tag {
			t.Errorf("%s: got %q, %q", test.name, registry, tag)
		}
	}
}
