package session

import (
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"mara/providers"
)

func TestFindPlugins(t *testing.T) {
	t.Parallel()
	beside, further, empty := t.TempDir(), t.TempDir(), t.TempDir()
	for _, directory := range []string{beside, further} {
		put(t, filepath.Join(directory, "pulumi-resource-kind"), "")
	}
	tests := []struct {
		name, provider string
		directories    []string
		want           map[string]string
	}{
		{name: "beside the runner", provider: "kind", directories: []string{empty, beside, further}, want: map[string]string{"kind": beside}},
		{name: "nowhere", provider: "kind", directories: []string{empty}, want: map[string]string{}},
		{name: "not needed", provider: "aws", directories: []string{beside}, want: map[string]string{}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			provider, err := providers.ByName(test.provider)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(test.want, findPlugins(provider, test.directories)); diff != "" {
				t.Error(diff)
			}
		})
	}
}
