package naming_test

import (
	"testing"

	"mara/projects/naming"
)

func TestInMirror(t *testing.T) {
	t.Parallel()
	const at = "registry.example.com:5000/mirror"
	for _, test := range []struct{ mirror, name, want string }{
		{"", "quay.io/jetstack/x:1", "quay.io/jetstack/x:1"},
		{at, "quay.io/jetstack/x:1@sha256:ab", at + "/jetstack/x:1@sha256:ab"},
		{at, "localhost:5001/x:1", at + "/x:1"},
		{at, "localhost/x:1", at + "/x:1"},
		{at, "nginx/nginx-ingress:5.5.4", at + "/nginx/nginx-ingress:5.5.4"},
		{at, "docker.io/library/busybox", at + "/library/busybox"},
		{at, "registry:3", at + "/library/registry:3"},
		{at, at + "/x:1", at + "/x:1"},
		{"/" + at + "/", "localhost/x:1", at + "/x:1"},
		{at, "nginx/nginx-ingress", at + "/nginx/nginx-ingress"},
		{at, "us-docker.pkg.dev/a/b/c@sha256:123", at + "/a/b/c@sha256:123"},
	} {
		if got := naming.InMirror(test.mirror, test.name); got != test.want {
			t.Errorf("%s in %q is %s, want %s", test.name, test.mirror, got, test.want)
		}
	}
}
