package kubeconfig

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestSecrets(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name, content string
		want          []string
	}{
		{"token", "users: [{name: u, user: {token: tok}}]", []string{"tok"}},
		{"JSON", `{"users":[{"name":"u","user":{"token":"tok"}}]}`, []string{"tok"}},
		{"password and key", "users:\n- name: u\n  user: {username: jane, password: pass, client-key-data: a2V5, client-certificate-data: Y2VydA==}\n", []string{"key", "pass"}},
		{"a provider of tokens", "users:\n- name: u\n  user: {auth-provider: {name: oidc, config: {id-token: id, refresh-token: again, client-id: public}}}\n", []string{"again", "id"}},
		{"several users", "users: [{name: a, user: {token: one}}, {name: b, user: {token: two}}, {name: c, user: {}}]", []string{"one", "two"}},
		{"none", "clusters: []", nil},
		{"nothing that can be read", "users: [", nil},
	} {
		got := Secrets([]byte(test.content))
		slices.Sort(got)
		if diff := cmp.Diff(test.want, got); diff != "" {
			t.Errorf("%s: %s", test.name, diff)
		}
	}
}
