package helm_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/pulumi/pulumi/sdk/v3/go/common/resource"
	"github.com/pulumi/pulumi/sdk/v3/go/pulumi"

	"mara/projects/helm"
)

// recorder keeps the registration of a resource.
type recorder struct{ seen pulumi.MockResourceArgs }

func (r *recorder) NewResource(args pulumi.MockResourceArgs) (string, resource.PropertyMap, error) {
	r.seen = args
	status := resource.PropertyMap{"status": resource.NewProperty("deployed"), "namespace": resource.NewProperty("web")}
	return "web/nginx", resource.PropertyMap{"status": resource.NewProperty(status)}, nil
}

func (r *recorder) Call(pulumi.MockCallArgs) (resource.PropertyMap, error) { return nil, nil }

func TestNewRelease(t *testing.T) {
	t.Parallel()
	var r recorder
	err := pulumi.RunErr(func(ctx *pulumi.Context) error {
		release, err := helm.NewRelease(ctx, "nginx", &helm.ReleaseArgs{
			Chart:          pulumi.String("nginx"),
			Namespace:      pulumi.String("web").ToStringOutput(),
			RepositoryOpts: pulumi.StringMap{"repo": pulumi.String("https://charts.example.com")},
			Timeout:        pulumi.Int(60),
			Values:         pulumi.Map{"list": pulumi.Array{pulumi.Int(1)}},
		})
		if err != nil {
			return err
		}
		release.Namespace().ApplyT(func(namespace string) error {
			if namespace != "web" {
				t.Errorf("the release's namespace is %q, want web", namespace)
			}
			return nil
		})
		return nil
	}, pulumi.WithMocks("project", "dev", &r))
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]any{
		"chart": "nginx", "compat": "true", "namespace": "web", "timeout": 60.0, "values": map[string]any{"list": []any{1.0}},
		"repositoryOpts": map[string]any{"repo": "https://charts.example.com"},
	}
	if diff := cmp.Diff(want, r.seen.Inputs.Mappable()); diff != "" {
		t.Errorf("inputs differ (-want +got):\n%s", diff)
	}
	if r.seen.TypeToken != "kubernetes:helm.sh/v3:Release" || r.seen.RegisterRPC.GetVersion() != "4.33.0" {
		t.Errorf("registered %s of plugin version %s", r.seen.TypeToken, r.seen.RegisterRPC.GetVersion())
	}
}
