// Package discover analyzes existing Pulumi projects of a repository: which stacks form an
// environment, and which project reads which. It uses the stack references in the states
// or, for projects that are not deployed, the sources. The result is a mara.yaml with the
// evidence as comments. The package executes and changes nothing.
package discover

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"gopkg.in/yaml.v3"

	"mara/config"
	"mara/config/lists"
	"mara/projects/model"
	"mara/runner/internal/core/environments"
	"mara/runner/internal/core/references"
)

// Found is a project found in the repository.
type Found struct {
	references.Project
	Path    string   // directory below the root, with slashes
	Backend string   // backend in its Pulumi.yaml, or ""; directories are absolute
	Files   []string // stacks that have a file in its directory
}

// States are the states of stacks, by project and then by stack.
type States map[string]map[string]json.RawMessage

// Adoption is the result of the analysis.
type Adoption struct {
	Projects     []Project `json:"projects"`          // each after the projects it reads
	Environments []string  `json:"environments"`      // environments with stacks or stack files
	Backend      string    `json:"backend,omitempty"` // that mara.yaml is to name
	Refused      []Refused `json:"not_adopted"`
	Unsure       []string  `json:"unsure"`
	fromFiles    []string  // environments that the backend does not have
}

// Project is a project with its place among the others.
type Project struct {
	Name   string   `json:"name"`
	Path   string   `json:"path"`
	Stack  string   `json:"stack,omitempty"` // pattern of its stack names; "" for the names of the environments
	Stacks []string `json:"stacks"`          // existing stacks
	Reads  []Edge   `json:"reads"`
	Closes []Edge   `json:"closes_circle,omitempty"` // edges skipped because they close a cycle
	// Perhaps are edges with too little evidence, which reads does not have.
	Perhaps []Edge `json:"perhaps,omitempty"`
	// Computed are places of references whose projects are unknown.
	Computed []string `json:"computed,omitempty"`
}

// Edge is a project that another one reads, with the evidence.
type Edge = references.Edge

// Deployed is the certainty of an edge that a state has.
const Deployed references.Certainty = "deployed"

// New analyzes the projects below a root and their states, until the context ends. A reference to a project that is
// refused is a doubt.
func New(ctx context.Context, root string, found []Found, refused []Refused, states States) (Adoption, error) {
	a := adoption{found: found, states: states, names: patterns(found, states), reads: map[string][]Edge{},
		perhaps: map[string][]Edge{}, computed: map[string][]string{}}
	a.tellStacks()
	all := lists.Map(found, func(f Found) references.Project { return f.Project })
	for _, r := range refused {
		if r.Project.Name != "" && !a.has(r.Project.Name) {
			all = append(all, r.Project)
		}
	}
	sources, err := references.Read(ctx, root, all)
	if err != nil {
		return Adoption{}, err
	}
	for _, f := range found {
		if err := a.readStates(f); err != nil {
			return Adoption{}, err
		}
		if ctx.Err() != nil {
			return Adoption{}, context.Cause(ctx)
		}
		a.readSources(f, sources)
	}
	a.keepWithinBackends()
	a.tellComputed()
	a.tellGroups()
	return a.result(), nil
}

// adoption is the state of New.
type adoption struct {
	found  []Found
	states States
	names  model.StackNames
	reads  map[string][]Edge // by the reading project
	unsure []string

	perhaps  map[string][]Edge // the same, in doubt
	computed map[string][]string
	unnamed  []string // places of all projects with computed names
}

func (a *adoption) doubt(format string, args ...any) {
	if text := fmt.Sprintf(format, args...); !slices.Contains(a.unsure, text) {
		a.unsure = append(a.unsure, text)
	}
}

// tellStacks records doubts about the stacks.
func (a *adoption) tellStacks() {
	for _, f := range a.found {
		for _, stack := range slices.Sorted(maps.Keys(stacksOf(f, a.states))) {
			if _, ok := a.names.Environment(f.Name, stack); !ok {
				a.doubt("the stack %s of %s does not match the pattern %s of the project's other stacks, and belongs to no "+
					"environment", stack, f.Name, a.names[f.Name])
			}
		}
	}
}

// keepWithinBackends removes what projects read of projects in another backend, where Pulumi's references do not reach.
func (a *adoption) keepWithinBackends() {
	backends := map[string]string{}
	for _, f := range a.found {
		backends[f.Name] = f.Backend
	}
	for _, f := range a.found {
		isAcross := func(e Edge) bool {
			other := backends[e.Project]
			return other != "" && f.Backend != "" && !config.SameBackend(other, f.Backend)
		}
		for _, e := range a.reads[f.Name] {
			if isAcross(e) {
				a.doubt("%s reads %s (%s), which has its states in another backend: Pulumi's references do not reach there. Where it "+
					"only has to come later, write  after: [%s]", f.Name, e.Project, e.Evidence, e.Project)
			}
		}
		a.reads[f.Name] = slices.DeleteFunc(a.reads[f.Name], isAcross)
		a.perhaps[f.Name] = slices.DeleteFunc(a.perhaps[f.Name], isAcross)
	}
}

// tellGroups records that the projects are several groups which do not read one another.
func (a *adoption) tellGroups() {
	group := map[string]string{} // project -> a name that its group shares
	for _, f := range a.found {
		group[f.Name] = f.Name
	}
	for reader, edges := range a.reads {
		for _, e := range slices.Concat(edges, a.perhaps[reader]) {
			from, to := group[reader], group[e.Project]
			for name := range group {
				if group[name] == from {
					group[name] = to
				}
			}
		}
	}
	members := map[string]int{}
	for _, name := range group {
		members[name]++
	}
	several := 0
	for _, n := range members {
		if n > 1 {
			several++
		}
	}
	if several > 1 {
		a.doubt("%d groups of projects do not read each other: one mara.yaml runs all of them; for one group alone, "+
			"`runner adopt DIR`", several)
	}
}

// has reports whether a project is among those that are adopted.
func (a *adoption) has(project string) bool {
	return slices.ContainsFunc(a.found, func(f Found) bool { return f.Name == project })
}

// knows reports whether an edge is known.
func (a *adoption) knows(reader, read string) bool {
	return slices.ContainsFunc(a.reads[reader], func(e Edge) bool { return e.Project == read })
}

// add adds an edge, once.
func (a *adoption) add(reader string, e Edge) {
	if !a.knows(reader, e.Project) {
		a.reads[reader] = append(a.reads[reader], e)
	}
}

// result sorts the projects after the projects they read. Projects that read each other cannot be deployed in one run:
// of the edges of a cycle it skips the least certain.
func (a *adoption) result() Adoption {
	r := Adoption{Projects: []Project{}, Refused: []Refused{}}
	r.Environments, r.fromFiles = a.environments()
	kept, closes := a.withoutCycles()
	done := map[string]bool{}
	var visit func(f Found)
	visit = func(f Found) {
		if done[f.Name] {
			return
		}
		done[f.Name] = true
		p := Project{Name: f.Name, Path: f.Path, Stack: a.names[f.Name],
			Stacks: append([]string{}, slices.Sorted(maps.Keys(a.states[f.Name]))...),
			Reads:  []Edge{}, Closes: closes[f.Name], Perhaps: a.perhaps[f.Name], Computed: a.computed[f.Name]}
		for _, other := range a.found { // in a fixed order
			if i := slices.IndexFunc(kept[f.Name], func(e Edge) bool { return e.Project == other.Name }); i >= 0 {
				visit(other)
				p.Reads = append(p.Reads, kept[f.Name][i])
			}
		}
		r.Projects = append(r.Projects, p)
	}
	for _, f := range a.found {
		visit(f)
	}
	r.Unsure = append([]string{}, a.unsure...)
	return r
}

// withoutCycles returns the edges that form no cycle, the most certain ones first, and the edges that would close one.
func (a *adoption) withoutCycles() (kept, closes map[string][]Edge) {
	kept, closes = map[string][]Edge{}, map[string][]Edge{}
	var reaches func(from, to string) bool
	reaches = func(from, to string) bool {
		return from == to || slices.ContainsFunc(kept[from], func(e Edge) bool { return reaches(e.Project, to) })
	}
	isThrough := func(e Edge) bool { return strings.Contains(e.Evidence, ", through ") }
	for _, these := range []func(e Edge) bool{
		func(e Edge) bool { return e.Certainty == Deployed },
		func(e Edge) bool { return e.Certainty == references.Written && !isThrough(e) }, // the program's own words
		func(e Edge) bool { return e.Certainty == references.Written && isThrough(e) },
		func(e Edge) bool { return e.Certainty == references.Likely },
	} {
		for _, f := range a.found {
			for _, e := range a.reads[f.Name] {
				switch {
				case !these(e):
				case reaches(e.Project, f.Name):
					closes[f.Name] = append(closes[f.Name], e)
					a.doubt("%s and %s read each other, directly or through other projects; this edge is skipped: %s", f.Name,
						e.Project, e.Evidence)
				default:
					kept[f.Name] = append(kept[f.Name], e)
				}
			}
		}
	}
	return kept, closes
}

// environments returns the environments with stacks or stack files, and those of them that the backend does not have.
func (a *adoption) environments() (all, fromFiles []string) {
	deployed := map[string]bool{}
	all = []string{}
	for project, stacks := range a.states {
		for stack := range stacks {
			if environment, ok := a.names.Environment(project, stack); ok {
				deployed[environment] = true
				all = append(all, environment)
			}
		}
	}
	for _, f := range a.found {
		for _, stack := range f.Files {
			if environment, ok := a.names.Environment(f.Name, stack); ok && !deployed[environment] && !environments.IsTemplate(environment) {
				all, fromFiles = append(all, environment), append(fromFiles, environment)
			}
		}
	}
	slices.Sort(all)
	slices.Sort(fromFiles)
	return slices.Compact(all), slices.Compact(fromFiles)
}

// Text returns the mara.yaml of the adoption, with the evidence as comments.
func (a Adoption) Text() string {
	var b strings.Builder
	b.WriteString("# Made by `runner adopt` from the projects below this directory and their stacks.\n")
	b.WriteString("# Edit it as needed. Stacks, stack files and their encryption were not changed.\n")
	b.WriteString(strings.Join(a.head(nil), ""))
	b.WriteString("projects:\n")
	for _, p := range a.Projects {
		b.WriteString(p.text())
	}
	for _, r := range a.Refused {
		fmt.Fprintf(&b, "  # not adopted: %s\n  # - path: %s\n", strings.ReplaceAll(r.Reason, "\n", " "), quote(r.Path))
	}
	return b.String()
}

// head returns the lines about all projects, without those of some keys.
func (a Adoption) head(without []string) (lines []string) {
	if a.Backend != "" && !slices.Contains(without, "backend") {
		lines = append(lines, fmt.Sprintf("backend: %s\n", quote(a.Backend)))
	}
	if len(a.Environments) > 0 && !slices.Contains(without, "environments") {
		comment := ""
		if len(a.fromFiles) > 0 {
			comment = " # from stack files, not from the backend: " + strings.Join(a.fromFiles, ", ")
		}
		names := strings.Join(lists.Map(a.Environments, quote), ", ")
		lines = append(lines, fmt.Sprintf("environments: [%s]%s\n", names, comment))
	}
	return lines
}

// text returns the entry of a project.
func (p Project) text() string {
	var b strings.Builder
	fmt.Fprintf(&b, "  - path: %s\n", quote(p.Path))
	deployed := "no stack"
	if len(p.Stacks) > 0 {
		deployed = "stacks: " + strings.Join(p.Stacks, ", ")
	}
	fmt.Fprintf(&b, "    # %s; %s\n", p.Name, deployed)
	if p.Stack != "" {
		fmt.Fprintf(&b, "    stack: %q\n", p.Stack)
	}
	fmt.Fprintf(&b, "    stackFile: %s\n", config.OwnStackFile)
	for _, edge := range p.Reads {
		fmt.Fprintf(&b, "    # %s: %s\n", edge.Project, edge.Evidence)
	}
	for _, edge := range p.Closes {
		fmt.Fprintf(&b, "    # skipped, because it closes a cycle: %s: %s\n", edge.Project, edge.Evidence)
	}
	for _, edge := range p.Perhaps {
		fmt.Fprintf(&b, "    # ? reads: [%s], because of %s\n", edge.Project, edge.Evidence)
	}
	unnamed := slices.DeleteFunc(slices.Clone(p.Computed), func(place string) bool {
		return slices.ContainsFunc(p.Perhaps, func(e Edge) bool { return strings.HasPrefix(e.Evidence, place) })
	})
	for _, in := range byFile(unnamed) {
		if in.places == 1 {
			fmt.Fprintf(&b, "    # ? %s makes a reference to a project that its sources do not name\n", in)
			continue
		}
		fmt.Fprintf(&b, "    # ? %s makes %d references to projects that its sources do not name\n", in, in.places)
	}
	if len(p.Reads) > 0 {
		fmt.Fprintf(&b, "    reads: [%s]\n", strings.Join(quotedProjects(p.Reads), ", "))
	}
	return b.String()
}

func quotedProjects(edges []Edge) []string {
	return lists.Map(edges, func(e Edge) string { return quote(e.Project) })
}

// quote quotes a string for YAML if necessary.
func quote(text string) string {
	content, _ := yaml.Marshal([]string{text}) // strings always marshal
	return strings.TrimSpace(strings.TrimPrefix(string(content), "- "))
}
