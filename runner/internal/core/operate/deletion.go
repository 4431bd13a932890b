package operate

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"

	"mara/config"
	"mara/runner/internal/core/plan"
	"mara/runner/internal/core/session"
	"mara/runner/internal/core/stacks"
	"mara/runner/internal/core/updateplan"
	"mara/runner/internal/machine/failure"
	"mara/runner/internal/machine/parallel"
	"mara/runner/internal/machine/typeset"
)

// deployed has the resources in the states of the projects of a run, in its order.
type deployed []deployedProject

type deployedProject struct {
	name      string
	resources []stacks.Resource
}

// readDeployed reads the states of the projects that an operation works on. A state that
// cannot be read is an error: what is in it could be lost.
func readDeployed(ctx context.Context, s *session.Session, p plan.Plan) (deployed, error) {
	const atOnce = 8 // each may be a request to a bucket
	names := slices.DeleteFunc(p.Names(), func(name string) bool { return !s.Stacks.IsDeployed(name) })
	return parallel.Limited(ctx, atOnce, names, func(ctx context.Context, name string) (deployedProject, error) {
		resources, err := s.Stacks.Resources(ctx, name)
		if err != nil {
			err = fmt.Errorf("looking for protected resources: %w", err)
		}
		return deployedProject{name, resources}, err
	})
}

// protected returns the resources that Pulumi refuses to delete, each with its project.
func (d deployed) protected() []string {
	var lines []string
	for _, project := range d {
		for _, r := range project.resources {
			if r.Protected {
				lines = append(lines, fmt.Sprintf("%s: %s %s (%s)", project.name, r.Type, r.Name(), r.URN))
			}
		}
	}
	return lines
}

// ProtectedIn returns the resources that Pulumi refuses to delete in the states of some projects of an environment,
// each with its project.
func ProtectedIn(states map[string]json.RawMessage, projects []string) ([]string, error) {
	var found deployed
	for _, name := range projects {
		if len(states[name]) == 0 {
			continue
		}
		resources, err := stacks.ResourcesIn(states[name])
		if err != nil {
			return nil, fmt.Errorf("the state of %s: %w", name, err)
		}
		found = append(found, deployedProject{name, resources})
	}
	return found.protected(), nil
}

// RefuseProtected returns the error of a destroy that would delete resources with Pulumi's option protect. command runs
// Pulumi in a project.
func RefuseProtected(resources []string, command string) error {
	err := fmt.Errorf("%s in the way of the destroy; nothing was deleted:\n  %s",
		typeset.Counted(len(resources), "protected resource"), strings.Join(resources, "\n  "))
	return failure.Advise(err, fmt.Sprintf("skip their projects with --skip; to delete them, remove `protect` from the "+
		"program and run up, or run `%s -- state unprotect URN`", command))
}

// list writes what a destroy deletes: first the resources that hold data, then the projects.
func (d deployed) list(w io.Writer, s *session.Session, p plan.Plan) {
	fmt.Fprintf(w, "This destroys everything in these projects of %s, stack %s:\n", s.Provider.Name, s.Settings.Stack.Text)
	if protected := s.Settings.Config.Protected(); protected != (config.Origin{}) {
		fmt.Fprintf(w, "It is protected: %s\n", protected)
	}
	columns := make([]typeset.Column, 3)
	fmt.Fprint(w, typeset.Table{Columns: columns, Rows: d.stateful()}.Text(0))
	projects := typeset.Table{Columns: columns}
	for _, step := range p.Steps {
		if n := s.Stacks.Summary(step.Project.Name).Resources; n > 0 {
			row := []string{"  " + step.Project.Name, step.Project.Title, typeset.Counted(n, "resource")}
			projects.Rows = append(projects.Rows, row)
		}
	}
	fmt.Fprint(w, projects.Text(0))
}

// stateful returns the rows of a table with the resources that are known to hold data.
func (d deployed) stateful() [][]string {
	const most = 20
	var rows [][]string
	for _, project := range d {
		for _, r := range project.resources {
			if updateplan.IsStateful(r.Type) {
				rows = append(rows, []string{"  " + project.name, r.Type + " " + r.Name(), "holds data"})
			}
		}
	}
	if more := len(rows) - most; more > 0 {
		rows = append(rows[:most], []string{"  ...", fmt.Sprintf("%d more", more), "holds data"})
	}
	return rows
}
