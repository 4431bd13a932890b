// Command standalone runs any of the projects under plain `pulumi up`: every
// Pulumi.yaml names this folder as its main, and the name of the project says
// which program it is.
package main

import (
	"fmt"
	"strings"

	"github.com/pulumi/pulumi/sdk/v3/go/pulumi"

	"mara/projects"
	"mara/projects/programs"
)

func main() {
	pulumi.Run(dispatch)
}

// dispatch runs the program of the project that Pulumi is working on.
func dispatch(ctx *pulumi.Context) error {
	program, ok := programs.ByName(ctx.Project())
	if !ok {
		return fmt.Errorf("no program for project %q: the name in Pulumi.yaml must be one of %s",
			ctx.Project(), strings.Join(names(), ", "))
	}
	return program(ctx)
}

// names lists the projects in the order of the catalogue.
func names() []string {
	var names []string
	for _, project := range projects.All() {
		names = append(names, project.Name)
	}
	return names
}
