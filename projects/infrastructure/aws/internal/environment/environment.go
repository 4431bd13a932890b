// Package environment names and tags what an environment owns at AWS.
package environment

import (
	"github.com/pulumi/pulumi/sdk/v3/go/pulumi"

	"mara/projects"
	"mara/projects/naming"
)

// The longest names that AWS takes.
const (
	roleLimit = 64
)

// ClusterName returns the name of the cluster. The network needs it too, for the tags by which
// load balancers find their subnets.
func ClusterName(stack string) string {
	return naming.Environment(stack, "", projects.AWSClusterLimit)
}

// RoleName returns the name of one of the environment's IAM roles.
func RoleName(stack, role string) string {
	return naming.Environment(stack, role, roleLimit)
}

// Tags returns the tags of a resource: its name as the console shows it, its project and
// stack, and others given as key, value.
func Tags(ctx *pulumi.Context, name string, others ...string) pulumi.StringMap {
	tags := pulumi.StringMap{
		"Name":             pulumi.String(name),
		"mara.dev/project": pulumi.String(ctx.Project()),
		"mara.dev/stack":   pulumi.String(ctx.Stack()),
	}
	for i := 0; i+1 < len(others); i += 2 {
		tags[others[i]] = pulumi.String(others[i+1])
	}
	return tags
}
