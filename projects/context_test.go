package projects

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"mara/config"
)

const twoContexts = `apiVersion: v1
kind: Config
current-context: other
clusters:
- {name: c, cluster: {server: "https://127.0.0.1:6443", certificate-authority: ca.crt}}
- {name: d, cluster: {server: "https://127.0.0.2:6443"}}
users:
- {name: u, user: {client-certificate: u.crt, client-key: u.key}}
- {name: x, user: {tokenFile: token}}
- {name: y, user: {exec: {command: get-token, apiVersion: client.authentication.k8s.io/v1}}}
contexts:
- {name: mine, context: {cluster: c, user: u, namespace: team}}
- {name: other, context: {cluster: d, user: x}}
- {name: plugin, context: {cluster: d, user: y}}
- {name: broken, context: {cluster: d, user: absent}}
`

// TestOneContext: the named context is taken with what belongs to it, and files become content.
func TestOneContext(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for name, content := range map[string]string{"ca.crt": "the ca", "u.crt": "the certificate", "u.key": "hidden-key", "token": "hidden-token\n"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	file := filepath.Join(dir, "config")
	text, cluster, err := OneContext([]byte(twoContexts), file, "the file", "mine")
	want := `apiVersion: v1
kind: Config
clusters:
    - name: c
      cluster:
        certificate-authority-data: dGhlIGNh
        server: https://127.0.0.1:6443
users:
    - name: u
      user:
        client-certificate-data: dGhlIGNlcnRpZmljYXRl
        client-key-data: aGlkZGVuLWtleQ==
contexts:
    - name: mine
      context:
        cluster: c
        namespace: team
        user: u
current-context: mine
`
	if diff := cmp.Diff(want, text); diff != "" || cluster != "c" || err != nil {
		t.Errorf("cluster %q, %v: %s", cluster, err, diff)
	}
	for name, part := range map[string]string{"other": "token: hidden-token\n", "plugin": "command: get-token"} {
		if text, _, err := OneContext([]byte(twoContexts), file, "the file", name); err != nil || !strings.Contains(text, part) {
			t.Errorf("%s: %v: %s", name, err, text)
		}
	}
	for _, tt := range []struct{ content, file, context, want string }{
		{twoContexts, file, "mien", `the file has no context "mien"; it has mine, other, plugin, broken; did you mean "mine"?`},
		{twoContexts, file, "broken", `the context "broken" of the file names a cluster or a user that is not in it`},
		{twoContexts, "", "mine", "certificate-authority names a file, which a kubeconfig without a place of its own cannot do"},
		{twoContexts, filepath.Join(dir, "elsewhere", "config"), "other", "tokenFile: open "},
		{"a: [hidden-token", file, "mine", "the file is not a kubeconfig"},
	} {
		_, _, err := OneContext([]byte(tt.content), tt.file, "the file", tt.context)
		if err == nil || !strings.Contains(err.Error(), tt.want) || strings.Contains(err.Error(), "hidden") {
			t.Errorf("%s: %v", tt.want, err)
		}
	}
}

// TestPublicImage: without a registry of its own, an environment takes the public image.
func TestPublicImage(t *testing.T) {
	t.Parallel()
	values := func(set map[string]any) func(string) any { return func(key string) any { return set[key] } }
	for _, tt := range []struct {
		set  map[string]any
		want string
	}{
		{map[string]any{}, ""},
		{map[string]any{"kic:nginx_plus": true, "kic:image_origin": "source"}, "kic:nginx_plus kic:image_origin"},
		{map[string]any{"kic:nginx_plus": true, "cluster:registry": "registry.example.com"}, ""},
	} {
		var keys []string
		for _, finding := range publicImage(config.Values{Get: values(tt.set), IsSet: func(key string) bool { return tt.set[key] != nil }}) {
			keys = append(keys, finding.Key)
		}
		if got := strings.Join(keys, " "); got != tt.want {
			t.Errorf("%v: %q, want %q", tt.set, got, tt.want)
		}
	}
}
