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
	for _, folder := range []string{beside, further} {
		put(t, filepath.Join(folder, "pulumi-resource-kind"), "")
	}
	tests := []struct {
		name, provider string
		folders        []string
		want           map[string]string
	}{
		{name: "beside the runner", provider: "kind", folders: []string{empty, beside, further}, want: map[string]string{"kind": beside}},
		{name: "nowhere", provider: "kind", folders: []string{empty}, want: map[string]string{}},
		{name: "not needed", provider: "aws", folders: []string{beside}, want: map[string]string{}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			provider, err := providers.ByName(test.provider)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(test.want, findPlugins(provider, test.folders)); diff != "" {
				t.Error(diff)
			}
		})
	}
}
