package helm_test

import (
	"go/ast"
	"go/build"
	"go/parser"
	"go/token"
	"go/types"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/pulumi/pulumi/sdk/v3/go/common/resource"
	"github.com/pulumi/pulumi/sdk/v3/go/pulumi"

	"mara/projects/helm"
)

// The test reads the SDK's source instead of importing the package, which
// would compile all API groups of Kubernetes.
func TestTypesAreThoseOfTheSDK(t *testing.T) {
	t.Parallel()
	sdk := structs(t, sdkFolder(t, "kubernetes/helm/v3"))
	ours := structs(t, ".")
	// Simpler here: there is one way to say where the repository is.
	sdk["ReleaseArgs"]["RepositoryOpts"] = "*RepositoryOptsArgs"
	for _, name := range []string{"Release", "ReleaseArgs", "releaseArgs", "ReleaseStatus", "RepositoryOpts", "RepositoryOptsArgs"} {
		if len(sdk[name]) == 0 {
			t.Errorf("the SDK has no struct %s", name)
		}
		if diff := cmp.Diff(sdk[name], ours[name]); diff != "" {
			t.Errorf("struct %s differs from the SDK's (-SDK +ours):\n%s", name, diff)
		}
	}
}

// sdkFolder is where the source of one of the SDK's packages is.
func sdkFolder(t *testing.T, name string) string {
	t.Helper()
	found, err := build.Import("github.com/pulumi/pulumi-kubernetes/sdk/v4/go/"+name, ".", build.FindOnly)
	if err != nil {
		t.Fatal(err)
	}
	return found.Dir
}

// structs lists the structs of a folder of Go files: the types and tags of
// their fields by name.
func structs(t *testing.T, folder string) map[string]map[string]string {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(folder, "*.go"))
	if err != nil {
		t.Fatal(err)
	}
	found := map[string]map[string]string{}
	for _, file := range files {
		parsed, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		ast.Inspect(parsed, func(node ast.Node) bool {
			if spec, ok := node.(*ast.TypeSpec); ok {
				if structure, ok := spec.Type.(*ast.StructType); ok {
					found[spec.Name.Name] = fields(structure)
				}
			}
			return true
		})
	}
	return found
}

func fields(structure *ast.StructType) map[string]string {
	found := map[string]string{}
	for _, field := range structure.Fields.List {
		description := strings.ReplaceAll(types.ExprString(field.Type), "interface{}", "any")
		if field.Tag != nil {
			description += " " + field.Tag.Value
		}
		for _, name := range field.Names {
			found[name.Name] = description
		}
	}
	return found
}

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
			Namespace:      pulumi.String("web").ToStringOutput().ToStringPtrOutput(),
			RepositoryOpts: &helm.RepositoryOptsArgs{Repo: pulumi.String("https://charts.example.com")},
			Timeout:        pulumi.Int(60),
			Values:         pulumi.Map{"list": pulumi.Array{pulumi.Int(1)}},
		})
		if err != nil {
			return err
		}
		release.Status.Namespace().ApplyT(func(namespace *string) error {
			if namespace == nil || *namespace != "web" {
				t.Errorf("the release's namespace is %v, want web", namespace)
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
