// Package environment names and tags what an environment owns at Linode.
package environment

import (
	"strconv"

	"github.com/pulumi/pulumi/sdk/v3/go/pulumi"

	"mara/projects"
	"mara/projects/internal/contain"
	"mara/projects/naming"
)

// tagLimit is the longest tag that Linode takes.
const tagLimit = 50

// Label names a part of the environment, or with part "" the environment itself.
func Label(stack, part string) pulumi.String {
	return pulumi.String(naming.Environment(stack, part, projects.LinodeLimit))
}

// Tags returns the tags of a resource: its project and the environment.
func Tags(ctx *pulumi.Context) pulumi.StringArray {
	return pulumi.StringArray{
		pulumi.String(ctx.Project()),
		pulumi.String(naming.Environment(ctx.Stack(), "", tagLimit)),
	}
}

// Number returns a resource's ID as other resources refer to it.
func Number(id pulumi.IDOutput) pulumi.IntOutput {
	return id.ApplyT(contain.Try(func(id pulumi.ID) (int, error) { return strconv.Atoi(string(id)) })).(pulumi.IntOutput)
}
