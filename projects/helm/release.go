// Package helm is Pulumi's type for Helm releases, kubernetes:helm.sh/v3:Release,
// as the Kubernetes SDK has it. The SDK's own package for it imports all API
// groups of Kubernetes, which take longer to compile than everything else.
package helm

import (
	"errors"
	"reflect"

	"github.com/pulumi/pulumi-kubernetes/sdk/v4/go/kubernetes/utilities"
	"github.com/pulumi/pulumi/sdk/v3/go/pulumi"
)

// ReleaseType is the type's token.
const ReleaseType = "kubernetes:helm.sh/v3:Release"

// Release is a chart that is installed in a cluster.
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

// NewRelease installs a chart.
func NewRelease(ctx *pulumi.Context, name string, args *ReleaseArgs, opts ...pulumi.ResourceOption) (*Release, error) {
	if args.Chart == nil {
		return nil, errors.New("a release needs a chart")
	}
	args.Compat = pulumi.StringPtr("true") // as the SDK does
	var release Release
	err := ctx.RegisterResource(ReleaseType, name, args, &release, utilities.PkgResourceDefaultOpts(opts)...)
	if err != nil {
		return nil, err
	}
	return &release, nil
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

// ElementType is the type of the inputs' values.
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

// ElementType is the type of the inputs' values.
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

// ElementType is the type of the output's value.
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

// ElementType is the type of the output's value.
func (ReleaseStatusOutput) ElementType() reflect.Type { return reflect.TypeFor[ReleaseStatus]() }

// Namespace is where the release is.
func (o ReleaseStatusOutput) Namespace() pulumi.StringPtrOutput {
	return o.ApplyT(func(status ReleaseStatus) *string { return status.Namespace }).(pulumi.StringPtrOutput)
}
