package operate

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"

	"mara/config"
	"mara/projects/model"
	"mara/runner/internal/core/event"
	"mara/runner/internal/core/plan"
	"mara/runner/internal/core/refusal"
	"mara/runner/internal/core/session"
	"mara/runner/internal/core/stacks"
	"mara/runner/internal/core/ui"
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
func readDeployed(ctx context.Context, s *session.Reading, p plan.Plan) (deployed, error) {
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

// withCluster returns the projects that have made a Kubernetes cluster.
func (d deployed) withCluster() map[string]bool {
	projects := map[string]bool{}
	for _, project := range d {
		if slices.ContainsFunc(project.resources, func(r stacks.Resource) bool { return updateplan.IsCluster(r.Type) && goes(r) }) {
			projects[project.name] = true
		}
	}
	return projects
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
	return refusal.By(refusal.Protected, failure.Advise(err, fmt.Sprintf("skip their projects with --skip; to delete them, remove `protect` from the "+
		"program and run up, or run `%s -- state unprotect URN`", command)))
}

// list writes what a destroy deletes: first what holds data and what stays, then the resources of each project by type.
func (d deployed) list(w io.Writer, s *session.Resolved, width int) {
	fmt.Fprintf(w, "This destroys everything in these projects of %s:\n", model.Where(s.Provider.Name, s.Settings.Stack.Text))
	if protected := s.Settings.Config.Protected(); protected != (config.Origin{}) {
		fmt.Fprintf(w, "It is protected: %s\n", protected)
	}
	isStateful := func(r stacks.Resource) bool { return updateplan.IsStateful(r.Type) && goes(r) }
	isRetained := func(r stacks.Resource) bool { return r.Retained && r.ID != "" && !r.External }
	rows := append(d.rows("holds data", isStateful), d.rows("stays: its program says retainOnDelete", isRetained)...)
	fmt.Fprint(w, typeset.Table{Columns: make([]typeset.Column, 3), Rows: rows}.Text(0))
	for _, project := range d {
		var deleted []event.Difference
		for _, r := range project.resources {
			if goes(r) {
				deleted = append(deleted, event.Difference{Resource: event.Resource{Type: r.Type, Name: r.Name()},
					Action: event.Delete, Stateful: updateplan.IsStateful(r.Type)})
			}
		}
		text := "nothing but its stack"
		if len(deleted) > 0 {
			text = typeset.Counted(len(deleted), "resource") + ": " + strings.Join(ui.ByType(deleted), ", ")
		}
		fmt.Fprintln(w, typeset.Wrap("  "+project.name+", "+text, width, 6))
	}
}

// goes reports whether a destroy deletes something for a resource: for what is only in the state it does not.
func goes(r stacks.Resource) bool {
	return r.ID != "" && !r.External && !r.Retained && !strings.HasPrefix(r.Type, "pulumi:")
}

// rows returns the rows of a table with some of the resources, all with the same remark.
func (d deployed) rows(remark string, chosen func(stacks.Resource) bool) [][]string {
	const most = 20
	var rows [][]string
	for _, project := range d {
		for _, r := range project.resources {
			if chosen(r) {
				rows = append(rows, []string{"  " + project.name, r.Type + " " + r.Name(), remark})
			}
		}
	}
	if more := len(rows) - most; more > 0 {
		rows = append(rows[:most], []string{"  ...", fmt.Sprintf("%d more", more), remark})
	}
	return rows
}
