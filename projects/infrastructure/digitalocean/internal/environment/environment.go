// Package environment names and tags what an environment owns at DigitalOcean.
package environment

import (
	"github.com/pulumi/pulumi/sdk/v3/go/pulumi"

	"mara/projects"
	"mara/projects/naming"
)

// Name returns the environment's name, or the name of a part of it.
func Name(stack, part string) string {
	return naming.Environment(stack, part, projects.DigitalOceanLimit)
}

// Tags returns the tags of a resource: its project and the environment.
func Tags(ctx *pulumi.Context) pulumi.StringArray {
	return pulumi.StringArray{pulumi.String(ctx.Project()), pulumi.String(Name(ctx.Stack(), ""))}
}
