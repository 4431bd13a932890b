// Package helm is Pulumi's type for Helm releases, kubernetes:helm.sh/v3:Release,
// with what programs use of it. The Kubernetes SDK's own package for it imports all
// API groups of Kubernetes, which take longer to compile than everything else.
package helm

import (
	"errors"

	"github.com/pulumi/pulumi-kubernetes/sdk/v4/go/kubernetes/utilities"
	"github.com/pulumi/pulumi/sdk/v3/go/pulumi"

	"mara/projects/internal/contain"
	"mara/projects/internal/inputs"
)

// ReleaseType is the type's token.
const ReleaseType = "kubernetes:helm.sh/v3:Release"

// Release is a chart that is installed in a cluster.
type Release struct {
	pulumi.CustomResourceState

	Status pulumi.MapOutput `pulumi:"status"` // what Helm says of it, once it is installed
}

// Namespace returns the namespace of the release.
func (r *Release) Namespace() pulumi.StringOutput {
	return r.Status.MapIndex(pulumi.String("namespace")).ApplyT(contain.Value(func(namespace any) string {
		text, _ := namespace.(string)
		return text
	})).(pulumi.StringOutput)
}

// ReleaseArgs are inputs of a Release.
type ReleaseArgs struct {
	Chart          pulumi.StringInput    `pulumi:"chart"`
	CleanupOnFail  pulumi.BoolInput      `pulumi:"cleanupOnFail"`
	MaxHistory     pulumi.IntInput       `pulumi:"maxHistory"`
	Name           pulumi.StringInput    `pulumi:"name"`
	Namespace      pulumi.StringInput    `pulumi:"namespace"`
	RepositoryOpts pulumi.StringMapInput `pulumi:"repositoryOpts"`
	SkipCrds       pulumi.BoolInput      `pulumi:"skipCrds"`
	Timeout        pulumi.IntInput       `pulumi:"timeout"`
	Values         pulumi.MapInput       `pulumi:"values"`
	Version        pulumi.StringInput    `pulumi:"version"`
	WaitForJobs    pulumi.BoolInput      `pulumi:"waitForJobs"`
}

// NewRelease installs a chart.
func NewRelease(ctx *pulumi.Context, name string, args *ReleaseArgs, opts ...pulumi.ResourceOption) (*Release, error) {
	if args.Chart == nil {
		return nil, errors.New("a release needs a chart")
	}
	given := inputs.Of(*args)
	given["compat"] = pulumi.String("true") // as the SDK does
	release := &Release{}
	return release, ctx.RegisterResource(ReleaseType, name, given, release, utilities.PkgResourceDefaultOpts(opts)...)
}
