// Package adopt finds out how the Pulumi projects of a repository that exists hang
// together: which stacks make up an environment, and which project reads which.
// Stack references in the states tell that; where nothing is deployed, the
// sources do as far as they can. The result is a mara.yaml that says why it is as
// it is. Nothing is executed or changed here.
package adopt

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"

	"mara/projects"
)

// Found is a project as it lies in the repository.
type Found struct {
	Name    string
	Path    string   // folder below the root, with slashes
	Dir     string   // the same, absolute
	Nested  []string // folders of other projects below it, absolute
	Backend string   // that its Pulumi.yaml names; "" for none
}

// States are the states of stacks, by project and then by stack.
type States map[string]map[string]json.RawMessage

// Adoption is what was found out.
type Adoption struct {
	Projects     []Project `json:"projects"`     // each behind what it reads
	Environments []string  `json:"environments"` // that have stacks
	Unsure       []string  `json:"unsure"`
}

// Project is a project with its place among the others.
type Project struct {
	Name   string   `json:"name"`
	Path   string   `json:"path"`
	Stack  string   `json:"stack,omitempty"` // pattern of the names of its stacks; "" for those of the environments
	Stacks []string `json:"stacks"`          // that exist
	Reads  []Edge   `json:"reads"`
	Closes []Edge   `json:"closes_circle,omitempty"` // edges that are left out
}

// Edge says that a project reads another, and how that is known.
type Edge struct {
	Project  string `json:"project"`
	Evidence string `json:"evidence"`
}

// New finds out how projects hang together.
func New(found []Found, states States) (Adoption, error) {
	a := adoption{found: found, states: states, names: patterns(found, states), reads: map[string][]Edge{}}
	a.tellStacks()
	for _, f := range found {
		if len(states[f.Name]) == 0 {
			a.readSources(f)
			continue
		}
		if err := a.readStates(f); err != nil {
			return Adoption{}, err
		}
	}
	return a.result(), nil
}

// adoption is New at work.
type adoption struct {
	found  []Found
	states States
	names  projects.StackNames
	reads  map[string][]Edge // by the project that reads
	unsure []string
}

func (a *adoption) doubt(format string, args ...any) {
	if text := fmt.Sprintf(format, args...); !slices.Contains(a.unsure, text) {
		a.unsure = append(a.unsure, text)
	}
}

// tellStacks tells what is odd about the stacks.
func (a *adoption) tellStacks() {
	for _, f := range a.found {
		for _, stack := range slices.Sorted(maps.Keys(a.states[f.Name])) {
			if _, ok := a.names.Environment(f.Name, stack); !ok {
				a.doubt("the stack %s of %s does not follow the pattern %s of its others, and belongs to no environment", stack, f.Name, a.names[f.Name])
			}
		}
		if f.Backend != "" {
			a.doubt("%s/Pulumi.yaml names the backend %s; the runner takes one for all projects: PULUMI_BACKEND_URL, or the one you are logged in to", f.Path, f.Backend)
		}
	}
}

func (a *adoption) isFound(project string) bool {
	return slices.ContainsFunc(a.found, func(f Found) bool { return f.Name == project })
}

// add adds an edge, once.
func (a *adoption) add(reader, read, evidence string) {
	if !slices.ContainsFunc(a.reads[reader], func(e Edge) bool { return e.Project == read }) {
		a.reads[reader] = append(a.reads[reader], Edge{read, evidence})
	}
}

// result puts everything behind what it reads. An edge that closes a circle is
// left out: projects that read each other cannot be deployed in one go.
func (a *adoption) result() Adoption {
	r := Adoption{Projects: []Project{}, Environments: a.environments()}
	done, open := map[string]bool{}, map[string]bool{}
	var visit func(f Found)
	visit = func(f Found) {
		if done[f.Name] {
			return
		}
		open[f.Name] = true
		p := Project{Name: f.Name, Path: f.Path, Stack: a.names[f.Name], Stacks: slices.Sorted(maps.Keys(a.states[f.Name])), Reads: []Edge{}}
		for _, other := range a.found { // in one order, whatever the evidence
			i := slices.IndexFunc(a.reads[f.Name], func(e Edge) bool { return e.Project == other.Name })
			switch {
			case i < 0:
			case open[other.Name]:
				p.Closes = append(p.Closes, a.reads[f.Name][i])
				a.doubt("%s and %s read each other, directly or by way of others; the edge is left out: %s", f.Name, other.Name, a.reads[f.Name][i].Evidence)
			default:
				visit(other)
				p.Reads = append(p.Reads, a.reads[f.Name][i])
			}
		}
		open[f.Name], done[f.Name] = false, true
		r.Projects = append(r.Projects, p)
	}
	for _, f := range a.found {
		visit(f)
	}
	r.Unsure = append([]string{}, a.unsure...)
	return r
}

// environments returns those that have a stack.
func (a *adoption) environments() []string {
	names := map[string]bool{}
	for project, stacks := range a.states {
		for stack := range stacks {
			if environment, ok := a.names.Environment(project, stack); ok {
				names[environment] = true
			}
		}
	}
	return slices.AppendSeq([]string{}, slices.Values(slices.Sorted(maps.Keys(names))))
}
