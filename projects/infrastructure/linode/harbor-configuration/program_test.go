package harborconfiguration

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/pulumi/pulumi/sdk/v3/go/common/resource"
	"github.com/pulumi/pulumi/sdk/v3/go/pulumi"

	"mara/projects"
	"mara/projects/internal/programtest"
	"mara/projects/model"
)

// harborOutputs returns the outputs of the linode-harbor project.
func harborOutputs(registry *harbor) map[string]resource.PropertyMap {
	outputs := resource.NewPropertyMapFromMap(map[string]any{
		"harbor_hostname": strings.TrimPrefix(registry.URL, "https://"), "harbor_user": user,
	})
	outputs["harbor_password"] = resource.MakeSecret(resource.NewProperty(password))
	return map[string]resource.PropertyMap{"linode-harbor": outputs}
}

// program runs against the stand-in.
func program(registry *harbor) pulumi.RunFunc {
	return func(ctx *pulumi.Context) error {
		return run(ctx, func(host, user, password string) *client {
			c := connect(host, user, password)
			c.http = registry.Client()
			return c
		})
	}
}

func TestProgram(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name     string
		config   map[string]string
		preview  bool
		requests []string
		public   map[string]bool
	}{
		{
			name:     "up",
			requests: []string{"GET projects/library", "PUT projects/library/metadatas/public"},
			public:   map[string]bool{"library": false},
		},
		{
			name:     "up with another project",
			config:   map[string]string{"harbor:project": "platform"},
			requests: []string{"GET projects/platform", "POST projects"},
			public:   map[string]bool{"library": true, "platform": false},
		},
		{name: "a preview does nothing", preview: true, public: map[string]bool{"library": true}},
		{
			name:   "a simulation does nothing",
			config: map[string]string{model.SimulatedKey: "true"},
			public: map[string]bool{"library": true},
		},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			registry := newHarbor(t, 0, map[string]bool{"library": true})
			result := programtest.Run(t, programtest.Case{
				Project: projects.LinodeHarborConfiguration(),
				Program: program(registry),
				Config:  test.config,
				Preview: test.preview,
				Stacks:  harborOutputs(registry),
			})
			if result.Err != nil {
				t.Fatal(result.Err)
			}
			if diff := cmp.Diff(test.requests, registry.requests); diff != "" {
				t.Errorf("requests (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(test.public, registry.public); diff != "" {
				t.Errorf("projects (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff([]string{"linode-harbor"}, result.References()); diff != "" {
				t.Errorf("references (-want +got):\n%s", diff)
			}
			result.CheckOutputs(t, projects.LinodeHarborConfiguration())
		})
	}
}

func TestRunAgain(t *testing.T) {
	t.Parallel()
	registry := newHarbor(t, 0, map[string]bool{"library": true})
	for range 2 {
		result := programtest.Run(t, programtest.Case{
			Project: projects.LinodeHarborConfiguration(), Program: program(registry), Stacks: harborOutputs(registry),
		})
		if result.Err != nil {
			t.Fatal(result.Err)
		}
	}
	want := []string{"GET projects/library", "PUT projects/library/metadatas/public", "GET projects/library"}
	if diff := cmp.Diff(want, registry.requests); diff != "" {
		t.Errorf("requests of two runs (-want +got):\n%s", diff)
	}
}

func TestPreviewOfAnEmptyEnvironment(t *testing.T) {
	t.Parallel()
	result := programtest.Run(t, programtest.Case{
		Project: projects.LinodeHarborConfiguration(), Program: Program, Preview: true,
	})
	if result.Err != nil {
		t.Fatal(result.Err)
	}
	if result.Export(t, "harbor_project_private").Known {
		t.Error("a project in a Harbor that does not exist yet is known to be private")
	}
}

func TestRefusals(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name   string
		config map[string]string
		want   string
	}{
		{"a bad project", map[string]string{"harbor:project": "My Images"}, "which is not a name that Harbor takes"},
		{"no time", map[string]string{"harbor:ready_timeout": "0"}, "smallest allowed value is 1"},
		{"too much time", map[string]string{"harbor:ready_timeout": "100000"}, "largest allowed value is 7200"},
		{"no pause", map[string]string{"harbor:poll_interval": "0"}, "smallest allowed value is 1"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			result := programtest.Run(t, programtest.Case{
				Project: projects.LinodeHarborConfiguration(), Program: Program, Config: test.config,
			})
			result.CheckRefused(t, test.want)
		})
	}
}
