package manifest_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"mara/runner/internal/kube/manifest"
)

func TestObjects(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name, in string
		want     []string
		fails    bool
	}{
		{"nothing", "", nil, false},
		{"only comments", "---\n# Source: a chart\n---\n", nil, false},
		{"several", "kind: A\nmetadata: {name: x}\n---\n# c\nkind: B\nmetadata: {name: z, namespace: shop}\n", []string{"A x", "B shop/z"}, false},
		{"a list", "kind: List\nitems: [{kind: A, metadata: {name: x}}, {kind: B, metadata: {name: z}}]\n", []string{"A x", "B z"}, false},
		{"items that are no list", "kind: Menu\nmetadata: {name: x}\nitems: [a]\n", []string{"Menu x"}, false},
		{"a key twice", "kind: A\nkind: B\nmetadata: {name: x}\n", []string{"B x"}, false},
		{"no YAML", "kind: [\n", nil, true},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			objects, err := manifest.Objects(test.in)
			if (err != nil) != test.fails {
				t.Fatalf("error %v", err)
			}
			var got []string
			for _, object := range objects {
				got = append(got, object.String())
			}
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("objects (-want +got):\n%s", diff)
			}
		})
	}
}
