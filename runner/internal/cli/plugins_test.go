package cli

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
		writeFile(t, filepath.Join(folder, "pulumi-resource-kind"), "")
	}
	tests := []struct {
		name, provider string
		folders        []string
		simulated      bool
		want           map[string]string
	}{
		{name: "beside the runner", provider: "kind", folders: []string{empty, beside, further}, want: map[string]string{"kind": beside}},
		{name: "nowhere", provider: "kind", folders: []string{empty}, want: map[string]string{}},
		{name: "simulated", provider: "kind", folders: []string{beside}, simulated: true, want: map[string]string{}},
		{name: "not needed", provider: "aws", folders: []string{beside}, want: map[string]string{}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			provider, err := providers.ByName(test.provider)
			if err != nil {
				t.Fatal(err)
			}
			s := &session{provider: provider}
			s.findPlugins(Deps{PluginFolders: test.folders}, test.simulated)
			if diff := cmp.Diff(test.want, s.plugins); diff != "" {
				t.Error(diff)
			}
		})
	}
}
