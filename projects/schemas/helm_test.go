package schemas_test

import (
	"errors"
	"go/ast"
	"go/build"
	"go/parser"
	"go/token"
	"go/types"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/pulumi/pulumi/sdk/v3/go/pulumi"
)

// TestReleaseIsTheSDKs holds the types below, which a Helm release's schema is made
// from, equal to the SDK's. It reads the SDK's source: importing the package would
// compile all API groups of Kubernetes.
func TestReleaseIsTheSDKs(t *testing.T) {
	t.Parallel()
	sdk := structs(t, sdkDir(t, "kubernetes/helm/v3"))
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

// sdkDir returns the directory with the source of one of the SDK's packages.
func sdkDir(t *testing.T, name string) string {
	t.Helper()
	found, err := build.Import("github.com/pulumi/pulumi-kubernetes/sdk/v4/go/"+name, ".", build.FindOnly)
	if err != nil {
		t.Fatal(err)
	}
	return found.Dir
}

// structs lists the structs of a directory of Go files: the types and tags of
// their fields by name.
func structs(t *testing.T, dir string) map[string]map[string]string {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(dir, "*.go"))
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

// Release has all outputs of a Helm release.
type Release struct {
	pulumi.CustomResourceState

	AllowNullValues          pulumi.BoolPtrOutput             `pulumi:"allowNullValues"`
	Atomic                   pulumi.BoolPtrOutput             `pulumi:"atomic"`
	Chart                    pulumi.StringOutput              `pulumi:"chart"`
	CleanupOnFail            pulumi.BoolPtrOutput             `pulumi:"cleanupOnFail"`
	CreateNamespace          pulumi.BoolPtrOutput             `pulumi:"createNamespace"`
	DependencyUpdate         pulumi.BoolPtrOutput             `pulumi:"dependencyUpdate"`
	Description              pulumi.StringPtrOutput           `pulumi:"description"`
	Devel                    pulumi.BoolPtrOutput             `pulumi:"devel"`
	DisableCRDHooks          pulumi.BoolPtrOutput             `pulumi:"disableCRDHooks"`
	DisableOpenapiValidation pulumi.BoolPtrOutput             `pulumi:"disableOpenapiValidation"`
	DisableWebhooks          pulumi.BoolPtrOutput             `pulumi:"disableWebhooks"`
	ForceUpdate              pulumi.BoolPtrOutput             `pulumi:"forceUpdate"`
	Keyring                  pulumi.StringPtrOutput           `pulumi:"keyring"`
	Lint                     pulumi.BoolPtrOutput             `pulumi:"lint"`
	Manifest                 pulumi.MapOutput                 `pulumi:"manifest"`
	MaxHistory               pulumi.IntPtrOutput              `pulumi:"maxHistory"`
	Name                     pulumi.StringPtrOutput           `pulumi:"name"`
	Namespace                pulumi.StringPtrOutput           `pulumi:"namespace"`
	Postrender               pulumi.StringPtrOutput           `pulumi:"postrender"`
	RecreatePods             pulumi.BoolPtrOutput             `pulumi:"recreatePods"`
	RenderSubchartNotes      pulumi.BoolPtrOutput             `pulumi:"renderSubchartNotes"`
	Replace                  pulumi.BoolPtrOutput             `pulumi:"replace"`
	RepositoryOpts           RepositoryOptsPtrOutput          `pulumi:"repositoryOpts"`
	ResetValues              pulumi.BoolPtrOutput             `pulumi:"resetValues"`
	ResourceNames            pulumi.StringArrayMapOutput      `pulumi:"resourceNames"`
	ReuseValues              pulumi.BoolPtrOutput             `pulumi:"reuseValues"`
	SkipAwait                pulumi.BoolPtrOutput             `pulumi:"skipAwait"`
	SkipCrds                 pulumi.BoolPtrOutput             `pulumi:"skipCrds"`
	Status                   ReleaseStatusOutput              `pulumi:"status"`
	TakeOwnership            pulumi.BoolPtrOutput             `pulumi:"takeOwnership"`
	Timeout                  pulumi.IntPtrOutput              `pulumi:"timeout"`
	ValueYamlFiles           pulumi.AssetOrArchiveArrayOutput `pulumi:"valueYamlFiles"`
	Values                   pulumi.MapOutput                 `pulumi:"values"`
	Verify                   pulumi.BoolPtrOutput             `pulumi:"verify"`
	Version                  pulumi.StringPtrOutput           `pulumi:"version"`
	WaitForJobs              pulumi.BoolPtrOutput             `pulumi:"waitForJobs"`
}

// NewRelease sets what the SDK's function sets.
func NewRelease(_ *pulumi.Context, _ string, args *ReleaseArgs, _ ...pulumi.ResourceOption) (*Release, error) {
	args.Compat = pulumi.StringPtr("true")
	return nil, errors.New("only its type and its text count")
}

// ReleaseArgs are the inputs of a Release.
type ReleaseArgs struct {
	AllowNullValues          pulumi.BoolPtrInput
	Atomic                   pulumi.BoolPtrInput
	Chart                    pulumi.StringInput
	CleanupOnFail            pulumi.BoolPtrInput
	Compat                   pulumi.StringPtrInput
	CreateNamespace          pulumi.BoolPtrInput
	DependencyUpdate         pulumi.BoolPtrInput
	Description              pulumi.StringPtrInput
	Devel                    pulumi.BoolPtrInput
	DisableCRDHooks          pulumi.BoolPtrInput
	DisableOpenapiValidation pulumi.BoolPtrInput
	DisableWebhooks          pulumi.BoolPtrInput
	ForceUpdate              pulumi.BoolPtrInput
	Keyring                  pulumi.StringPtrInput
	Lint                     pulumi.BoolPtrInput
	Manifest                 pulumi.MapInput
	MaxHistory               pulumi.IntPtrInput
	Name                     pulumi.StringPtrInput
	Namespace                pulumi.StringPtrInput
	Postrender               pulumi.StringPtrInput
	RecreatePods             pulumi.BoolPtrInput
	RenderSubchartNotes      pulumi.BoolPtrInput
	Replace                  pulumi.BoolPtrInput
	RepositoryOpts           *RepositoryOptsArgs
	ResetValues              pulumi.BoolPtrInput
	ResourceNames            pulumi.StringArrayMapInput
	ReuseValues              pulumi.BoolPtrInput
	SkipAwait                pulumi.BoolPtrInput
	SkipCrds                 pulumi.BoolPtrInput
	TakeOwnership            pulumi.BoolPtrInput
	Timeout                  pulumi.IntPtrInput
	ValueYamlFiles           pulumi.AssetOrArchiveArrayInput
	Values                   pulumi.MapInput
	Verify                   pulumi.BoolPtrInput
	Version                  pulumi.StringPtrInput
	WaitForJobs              pulumi.BoolPtrInput
}

// ElementType returns the type of the inputs' values.
func (ReleaseArgs) ElementType() reflect.Type { return reflect.TypeFor[releaseArgs]() }

type releaseArgs struct {
	AllowNullValues          *bool                   `pulumi:"allowNullValues"`
	Atomic                   *bool                   `pulumi:"atomic"`
	Chart                    string                  `pulumi:"chart"`
	CleanupOnFail            *bool                   `pulumi:"cleanupOnFail"`
	Compat                   *string                 `pulumi:"compat"`
	CreateNamespace          *bool                   `pulumi:"createNamespace"`
	DependencyUpdate         *bool                   `pulumi:"dependencyUpdate"`
	Description              *string                 `pulumi:"description"`
	Devel                    *bool                   `pulumi:"devel"`
	DisableCRDHooks          *bool                   `pulumi:"disableCRDHooks"`
	DisableOpenapiValidation *bool                   `pulumi:"disableOpenapiValidation"`
	DisableWebhooks          *bool                   `pulumi:"disableWebhooks"`
	ForceUpdate              *bool                   `pulumi:"forceUpdate"`
	Keyring                  *string                 `pulumi:"keyring"`
	Lint                     *bool                   `pulumi:"lint"`
	Manifest                 map[string]any          `pulumi:"manifest"`
	MaxHistory               *int                    `pulumi:"maxHistory"`
	Name                     *string                 `pulumi:"name"`
	Namespace                *string                 `pulumi:"namespace"`
	Postrender               *string                 `pulumi:"postrender"`
	RecreatePods             *bool                   `pulumi:"recreatePods"`
	RenderSubchartNotes      *bool                   `pulumi:"renderSubchartNotes"`
	Replace                  *bool                   `pulumi:"replace"`
	RepositoryOpts           *RepositoryOpts         `pulumi:"repositoryOpts"`
	ResetValues              *bool                   `pulumi:"resetValues"`
	ResourceNames            map[string][]string     `pulumi:"resourceNames"`
	ReuseValues              *bool                   `pulumi:"reuseValues"`
	SkipAwait                *bool                   `pulumi:"skipAwait"`
	SkipCrds                 *bool                   `pulumi:"skipCrds"`
	TakeOwnership            *bool                   `pulumi:"takeOwnership"`
	Timeout                  *int                    `pulumi:"timeout"`
	ValueYamlFiles           []pulumi.AssetOrArchive `pulumi:"valueYamlFiles"`
	Values                   map[string]any          `pulumi:"values"`
	Verify                   *bool                   `pulumi:"verify"`
	Version                  *string                 `pulumi:"version"`
	WaitForJobs              *bool                   `pulumi:"waitForJobs"`
}

// RepositoryOptsArgs say where the chart's repository is.
type RepositoryOptsArgs struct {
	CaFile   pulumi.StringPtrInput `pulumi:"caFile"`
	CertFile pulumi.StringPtrInput `pulumi:"certFile"`
	KeyFile  pulumi.StringPtrInput `pulumi:"keyFile"`
	Password pulumi.StringPtrInput `pulumi:"password"`
	Repo     pulumi.StringPtrInput `pulumi:"repo"`
	Username pulumi.StringPtrInput `pulumi:"username"`
}

// ElementType returns the type of the inputs' values.
func (RepositoryOptsArgs) ElementType() reflect.Type { return reflect.TypeFor[RepositoryOpts]() }

// RepositoryOpts says where a chart's repository is.
type RepositoryOpts struct {
	CaFile   *string `pulumi:"caFile"`
	CertFile *string `pulumi:"certFile"`
	KeyFile  *string `pulumi:"keyFile"`
	Password *string `pulumi:"password"`
	Repo     *string `pulumi:"repo"`
	Username *string `pulumi:"username"`
}

// RepositoryOptsPtrOutput is where the chart's repository is, once that is known.
type RepositoryOptsPtrOutput struct{ *pulumi.OutputState }

// ElementType returns the type of the output's value.
func (RepositoryOptsPtrOutput) ElementType() reflect.Type { return reflect.TypeFor[*RepositoryOpts]() }

// ReleaseStatus is what Helm says of a release.
type ReleaseStatus struct {
	AppVersion *string `pulumi:"appVersion"`
	Chart      *string `pulumi:"chart"`
	Name       *string `pulumi:"name"`
	Namespace  *string `pulumi:"namespace"`
	Revision   *int    `pulumi:"revision"`
	Status     string  `pulumi:"status"`
	Version    *string `pulumi:"version"`
}

// ReleaseStatusOutput is what Helm says of a release, once it is installed.
type ReleaseStatusOutput struct{ *pulumi.OutputState }

// ElementType returns the type of the output's value.
func (ReleaseStatusOutput) ElementType() reflect.Type { return reflect.TypeFor[ReleaseStatus]() }
