package registry_test

import (
	"encoding/base64"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/pulumi/pulumi/sdk/v3/go/common/resource"
	"github.com/pulumi/pulumi/sdk/v3/go/pulumi"

	"mara/projects"
	registry "mara/projects/infrastructure/digitalocean/container-registry"
	"mara/projects/internal/programtest"
)

const (
	registryType = "digitalocean:index/containerRegistry:ContainerRegistry"
	loginType    = "digitalocean:index/containerRegistryDockerCredentials:ContainerRegistryDockerCredentials"
)

// lookup answers for DigitalOcean, where there is the registry example.
func lookup(args pulumi.MockCallArgs) (resource.PropertyMap, error) {
	if name := args.Args["name"].StringValue(); args.Token != "digitalocean:index/getContainerRegistry:getContainerRegistry" || name != "example" {
		return nil, fmt.Errorf("404: there is no registry %q", name)
	}
	return resource.NewPropertyMapFromMap(map[string]any{"name": "example", "endpoint": "registry.digitalocean.com/example"}), nil
}

func run(t *testing.T, config map[string]string, login string) programtest.Result {
	t.Helper()
	return programtest.Run(t, programtest.Case{
		Project: projects.DigitalOceanRegistry(), Program: registry.Program, Config: config, Call: lookup,
		Outputs: map[string]resource.PropertyMap{
			registryType: resource.NewPropertyMapFromMap(map[string]any{"name": "mara-dev-1a2b3c4", "endpoint": "registry.digitalocean.com/mara-dev-1a2b3c4"}),
			loginType:    resource.NewPropertyMapFromMap(map[string]any{"dockerCredentials": login}),
		},
	})
}

func login(pair string) string {
	return fmt.Sprintf(`{"auths": {"registry.digitalocean.com": {"auth": %q}}}`, base64.StdEncoding.EncodeToString([]byte(pair)))
}

func TestProgram(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name     string
		config   map[string]string
		made     map[string]any // nil when none is made
		registry string
	}{
		{"defaults", nil, map[string]any{"subscriptionTierSlug": "starter"}, "mara-dev-1a2b3c4"},
		{"tier and region", map[string]string{"docr:tier": "basic", "docr:region": "fra1"}, map[string]any{"subscriptionTierSlug": "basic", "region": "fra1"}, "mara-dev-1a2b3c4"},
		{"the account's own", map[string]string{"docr:registry": "example"}, nil, "example"},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			result := run(t, test.config, login("user:pass:word"))
			if result.Err != nil {
				t.Fatal(result.Err)
			}
			if test.made == nil && len(result.All(registryType)) > 0 {
				t.Error("made a registry beside the account's")
			}
			if test.made != nil {
				if diff := cmp.Diff(test.made, result.One(t, registryType, "mara-dev").Inputs.Mappable()); diff != "" {
					t.Errorf("registry (-want +got):\n%s", diff)
				}
			}
			if diff := cmp.Diff(map[string]any{"registryName": test.registry, "write": true}, result.One(t, loginType, "push").Inputs.Mappable()); diff != "" {
				t.Errorf("login (-want +got):\n%s", diff)
			}
			want := map[string]programtest.Export{
				"registry_name":     {Value: test.registry, Known: true},
				"registry_endpoint": {Value: "registry.digitalocean.com/" + test.registry, Known: true},
				"registry_user":     {Value: "user", Known: true, Secret: true},
				"registry_password": {Value: "pass:word", Known: true, Secret: true},
			}
			if diff := cmp.Diff(want, result.Exports); diff != "" {
				t.Errorf("outputs (-want +got):\n%s", diff)
			}
			result.CheckOutputs(t, projects.DigitalOceanRegistry())
		})
	}
}

func TestRefusals(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name, login, want string
		config            map[string]string
	}{
		{"a tier that does not exist", login("a:b"), "allowed: starter, basic, professional", map[string]string{"docr:tier": "free"}},
		{"a registry that is not there", login("a:b"), `docr:registry: looking for the registry "other"`, map[string]string{"docr:registry": "other"}},
		{"a login that is not JSON", "hidden-token", "the registry's login is not JSON", nil},
		{"a login without a password", login("hidden-token"), "the registry's login has no user and password", nil},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			err := run(t, test.config, test.login).Err
			if err == nil || !strings.Contains(err.Error(), test.want) {
				t.Fatalf("error %v, want one that says %q", err, test.want)
			}
			if strings.Contains(err.Error(), "hidden-token") {
				t.Errorf("the error shows the login: %v", err)
			}
		})
	}
}
