package imagepush_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/pulumi/pulumi/sdk/v3/go/common/resource"
	"github.com/pulumi/pulumi/sdk/v3/go/pulumi"

	"mara/projects"
	"mara/projects/internal/programtest"
	imagepush "mara/projects/utility/kic-image-push"
)

const (
	tag           = "docker:index/tag:Tag"
	registryImage = "docker:index/registryImage:RegistryImage"
	digest        = "sha256:abcd"
)

// stacks returns the outputs of other projects that the program reads.
func stacks() map[string]resource.PropertyMap {
	outputs := func(values map[string]any) resource.PropertyMap { return resource.NewPropertyMapFromMap(values) }
	harbor := outputs(map[string]any{"harbor_hostname": "192-0-2-1.ip.linodeusercontent.com", "harbor_user": "admin"})
	harbor["harbor_password"] = resource.MakeSecret(resource.NewProperty("harbor-password"))
	return map[string]resource.PropertyMap{
		"kic-image-build": outputs(map[string]any{
			"image_name": "nginx/nginx-ingress:5.5.4", "image_tag": "5.5.4", "image_id": "sha256:1234",
		}),
		"aws-ecr": outputs(map[string]any{
			"repository_url": "123456789012.dkr.ecr.us-east-1.amazonaws.com/mara-dev", "registry_id": "123456789012",
		}),
		"linode-harbor": harbor,
		"kind-registry": outputs(map[string]any{"endpoint": "localhost:5001"}),
	}
}

// token answers for ECR.
func token(args pulumi.MockCallArgs) (resource.PropertyMap, error) {
	if args.Token != "aws:ecr/getAuthorizationToken:getAuthorizationToken" {
		return nil, fmt.Errorf("unexpected call of %s", args.Token)
	}
	return resource.NewPropertyMapFromMap(map[string]any{
		"userName": "AWS", "password": "token of " + args.Args["registryId"].StringValue(),
	}), nil
}

func run(t *testing.T, test programtest.Case) programtest.Result {
	t.Helper()
	test.Project, test.Program = projects.KICImagePush(), imagepush.Program
	test.Call = token
	test.Outputs = map[string]resource.PropertyMap{
		registryImage: resource.NewPropertyMapFromMap(map[string]any{"sha256Digest": digest}),
	}
	return programtest.Run(t, test)
}

func TestProgram(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name       string
		config     map[string]string
		repository string
		login      map[string]string
		secret     bool // whether the login is
		references []string
	}{
		{
			name:       "aws",
			config:     map[string]string{"kubernetes:infra_type": "aws"},
			repository: "123456789012.dkr.ecr.us-east-1.amazonaws.com/mara-dev",
			login: map[string]string{
				"address":  "https://123456789012.dkr.ecr.us-east-1.amazonaws.com",
				"username": "AWS", "password": "token of 123456789012",
			},
			secret:     true,
			references: []string{"aws-ecr", "kic-image-build"},
		},
		{
			name:       "linode",
			config:     map[string]string{"kubernetes:infra_type": "linode", "harbor:project": "platform"},
			repository: "192-0-2-1.ip.linodeusercontent.com/platform/nginx-ingress",
			login: map[string]string{
				"address":  "https://192-0-2-1.ip.linodeusercontent.com",
				"username": "admin", "password": "harbor-password",
			},
			secret:     true,
			references: []string{"kic-image-build", "linode-harbor"},
		},
		{
			name:       "kind",
			config:     map[string]string{"kubernetes:infra_type": "kind"},
			repository: "localhost:5001/nginx-ingress",
			login: map[string]string{
				"address":  "http://localhost:5001",
				"username": "anonymous", "password": "anonymous",
			},
			references: []string{"kic-image-build", "kind-registry"},
		},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			result := run(t, programtest.Case{Config: test.config, Stacks: stacks()})
			if result.Err != nil {
				t.Fatal(result.Err)
			}
			name := test.repository + ":5.5.4"
			wantTag := map[string]any{"sourceImage": "sha256:1234", "targetImage": name}
			if diff := cmp.Diff(wantTag, result.One(t, tag, "image").Inputs.Mappable()); diff != "" {
				t.Errorf("tag (-want +got):\n%s", diff)
			}
			pushed := result.One(t, registryImage, "image")
			if got := pushed.Value("name"); got != name {
				t.Errorf("pushed %v, want %s", got, name)
			}
			for field, want := range test.login {
				if got := pushed.Value("authConfig", field); got != want {
					t.Errorf("the login's %s is %v, want %s", field, got, want)
				}
			}
			if got := pushed.IsSecret("authConfig", "password"); got != test.secret {
				t.Errorf("the password is secret: %v, want %v", got, test.secret)
			}
			if got := pushed.Value("triggers", "image"); got != "sha256:1234" {
				t.Errorf("pushed again when %v changes, want the image's id", got)
			}
			if pushed.Value("keepRemotely") != true {
				t.Error("destroying removes an image that pods may still run")
			}
			if !pushed.DependsOn(tag, "image") {
				t.Error("the push does not wait for the tag")
			}
			if diff := cmp.Diff(test.references, result.References()); diff != "" {
				t.Errorf("references (-want +got):\n%s", diff)
			}
			for output, want := range map[string]string{
				"image_repository": test.repository, "image_tag": "5.5.4", "image_digest": digest,
				"image_reference": name + "@" + digest,
			} {
				if got := result.Export(t, output).Value; got != want {
					t.Errorf("%s is %v, want %s", output, got, want)
				}
			}
			result.CheckOutputs(t, projects.KICImagePush())
		})
	}
}

// TestDirInTheRegistry: where a registry's project decides on the directory, it is
// behind the host, and the login is for the host alone.
func TestDirInTheRegistry(t *testing.T) {
	t.Parallel()
	stacks := stacks()
	stacks["linode-harbor"]["harbor_hostname"] = resource.NewProperty("registry.example.com/mara-dev")
	result := run(t, programtest.Case{Config: map[string]string{"kubernetes:infra_type": "linode"}, Stacks: stacks})
	if result.Err != nil {
		t.Fatal(result.Err)
	}
	pushed := result.One(t, registryImage, "image")
	if got := pushed.Value("authConfig", "address"); got != "https://registry.example.com" {
		t.Errorf("the login is for %v", got)
	}
	if got := result.Export(t, "image_repository").Value; got != "registry.example.com/mara-dev/library/nginx-ingress" {
		t.Errorf("pushed to %v", got)
	}
}

func TestPreviewOfAnEmptyEnvironment(t *testing.T) {
	t.Parallel()
	for _, infraType := range programtest.Providers() {
		t.Run(infraType, func(t *testing.T) {
			t.Parallel()
			result := run(t, programtest.Case{
				Config:  map[string]string{"kubernetes:infra_type": infraType},
				Preview: true,
			})
			if result.Err != nil {
				t.Fatal(result.Err)
			}
			if result.Export(t, "image_repository").Known {
				t.Error("the repository of a registry that does not exist yet is known")
			}
		})
	}
}

func TestRefusals(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name   string
		config map[string]string
		want   string
	}{
		{"no provider", nil, `"kubernetes:infra_type"`},
		{"an unknown provider", map[string]string{"kubernetes:infra_type": "gcp"}, "allowed: " + strings.Join(programtest.Providers(), ", ")},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			result := run(t, programtest.Case{Config: test.config, Stacks: stacks()})
			result.CheckRefused(t, test.want)
		})
	}
}
