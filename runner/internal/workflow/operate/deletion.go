package operate

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"sync"

	"golang.org/x/sync/errgroup"

	"mara/config"
	"mara/runner/internal/environment/session"
	"mara/runner/internal/guard/updateplan"
	"mara/runner/internal/machine/typeset"
	"mara/runner/internal/pulumi/stacks"
	"mara/runner/internal/run/plan"
)

// deployed has the resources in the states of the projects of a run.
type deployed struct {
	projects  []string // with resources, in the order of the run
	resources map[string][]stacks.Resource
}

// readDeployed reads the states of the projects that an operation works on. A state that
// cannot be read is an error: what is in it could be lost.
func readDeployed(ctx context.Context, s *session.Session, p plan.Plan) (deployed, error) {
	const atOnce = 8 // each may be a request to a bucket
	found := deployed{resources: map[string][]stacks.Resource{}}
	var mu sync.Mutex
	var readers errgroup.Group
	readers.SetLimit(atOnce)
	for _, name := range p.Names() {
		if !s.Stacks.IsDeployed(name) {
			continue
		}
		found.projects = append(found.projects, name)
		readers.Go(func() error {
			resources, err := s.Stacks.Resources(ctx, name)
			if err != nil {
				return fmt.Errorf("looking for protected resources: %w", err)
			}
			mu.Lock()
			defer mu.Unlock()
			found.resources[name] = resources
			return nil
		})
	}
	return found, readers.Wait()
}

// protected returns the resources that Pulumi refuses to delete, each with its project.
func (d deployed) protected() []string {
	var lines []string
	for _, name := range d.projects {
		for _, r := range d.resources[name] {
			if r.Protected {
				lines = append(lines, fmt.Sprintf("%s: %s %s (%s)", name, r.Type, r.Name(), r.URN))
			}
		}
	}
	return lines
}

// checkDestroy refuses a destroy that Pulumi would refuse half way, when everything that
// depends on the protected resources is gone.
func (d deployed) checkDestroy(s *session.Session) error {
	lines := d.protected()
	if len(lines) == 0 {
		return nil
	}
	return &ProtectedError{Lines: lines, Pulumi: s.Command("pulumi PROJECT")}
}

// ProtectedIn returns the resources that Pulumi refuses to delete in the states of some projects of an environment,
// each with its project.
func ProtectedIn(states map[string]json.RawMessage, projects []string) ([]string, error) {
	found := deployed{resources: map[string][]stacks.Resource{}}
	for _, name := range projects {
		if len(states[name]) == 0 {
			continue
		}
		resources, err := stacks.ResourcesIn(states[name])
		if err != nil {
			return nil, fmt.Errorf("the state of %s: %w", name, err)
		}
		found.projects = append(found.projects, name)
		found.resources[name] = resources
	}
	return found.protected(), nil
}

// ProtectedError names the resources with Pulumi's option protect that a destroy would delete.
type ProtectedError struct {
	Lines  []string
	Pulumi string // command that runs Pulumi in a project
}

// Error names each of them.
func (e *ProtectedError) Error() string {
	return fmt.Sprintf("%s in the way of the destroy; nothing was deleted:\n  %s",
		typeset.Counted(len(e.Lines), "protected resource"), strings.Join(e.Lines, "\n  "))
}

// NextStep says how to skip the resources, and how to remove their protection.
func (e *ProtectedError) NextStep() string {
	return fmt.Sprintf("skip their projects with --skip; to delete them, remove `protect` from the program and run up, "+
		"or run `%s -- state unprotect URN`", e.Pulumi)
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
	for _, name := range d.projects {
		for _, r := range d.resources[name] {
			if updateplan.IsStateful(r.Type) {
				rows = append(rows, []string{"  " + name, r.Type + " " + r.Name(), "holds data"})
			}
		}
	}
	if more := len(rows) - most; more > 0 {
		rows = append(rows[:most], []string{"  ...", fmt.Sprintf("%d more", more), "holds data"})
	}
	return rows
}
