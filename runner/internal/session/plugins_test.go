package session

import (
	"errors"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/pulumi/pulumi/sdk/v3/go/common/resource"
	"github.com/pulumi/pulumi/sdk/v3/go/pulumi"

	"mara/projects"
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

// TestRooted holds that programs learn the root.
func TestRooted(t *testing.T) {
	t.Parallel()
	var root any
	all := rooted(func(project string) (pulumi.RunFunc, bool) {
		return func(ctx *pulumi.Context) error { root = ctx.Value(projects.RootKey{}); return nil }, project == "known"
	}, "/root")
	if _, ok := all("unknown"); ok {
		t.Error("an unknown project was found")
	}
	program, ok := all("known")
	if !ok {
		t.Fatal("a known project was not found")
	}
	if err := pulumi.RunErr(program, pulumi.WithMocks("p", "s", noMocks{})); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff("/root", root); diff != "" {
		t.Error(diff)
	}
}

// noMocks is for programs without resources.
type noMocks struct{}

var errNone = errors.New("there is nothing here")

func (noMocks) NewResource(pulumi.MockResourceArgs) (string, resource.PropertyMap, error) {
	return "", nil, errNone
}

func (noMocks) Call(pulumi.MockCallArgs) (resource.PropertyMap, error) { return nil, errNone }
