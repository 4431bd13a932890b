// Package references finds the stack references in the sources of Pulumi projects, in every language of Pulumi, and
// which project each of them reads. It follows a reference's name through assignments, formatted and joined strings,
// functions and constants of the same repository, values in the stack files of a project, and paths to directories of
// projects. It executes nothing: what only a running program can know stays unknown.
//
// No parser for these languages exists in Go without cgo, except those for Go and YAML. The scanner knows of a language
// no more than its comments and strings, and how it writes assignments, functions and calls.
package references

import (
	"cmp"
	"fmt"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"mara/config/lists"
)

// Project is a project of the repository.
type Project struct {
	Name   string
	Dir    string   // absolute
	Nested []string // directories of other projects below it, absolute
}

// Certainty says how certain it is that a reference reads a project.
type Certainty string

// The certainties, from the lowest.
const (
	Doubtful Certainty = "doubtful" // the name or the directory of the project is near the reference
	Likely   Certainty = "likely"   // through a function that is not understood, or a value from the documentation
	Written  Certainty = "written"  // the sources say so
)

// Edge is a project that a reference reads.
type Edge struct {
	Project   string    `json:"project"`
	Evidence  string    `json:"evidence"`
	Certainty Certainty `json:"certainty"`
}

// Found is what the sources of one project say.
type Found struct {
	Edges    []Edge
	Missing  []string // references to projects that are not in the repository
	Computed []string // places of references whose projects are unknown
	Sites    int      // references that the sources make
}

// Of returns what the sources of a project say.
func (r *Repository) Of(p Project) Found {
	s := &search{repository: r, project: p, own: r.filesOf(p)}
	s.reach()
	for _, f := range s.files {
		s.readFile(f)
	}
	slices.Sort(s.found.Missing)
	s.found.Missing = slices.Compact(s.found.Missing)
	return s.found
}

// search is the search in the sources of one project.
type search struct {
	repository *Repository
	project    Project
	own        []*source // files of the project
	files      []*source // the same, and files of the repository that they import
	imports    map[*source][]*source
	settings   *settings
	words      map[[2]*source]map[string]bool // of importedWords
	found      Found
}

// reach adds the files of the repository that the project imports, directly or through others.
func (s *search) reach() {
	s.imports = map[*source][]*source{}
	seen := map[*source]bool{}
	s.files = slices.Clone(s.own)
	for _, f := range s.own {
		seen[f] = true
	}
	for i := 0; i < len(s.files); i++ {
		f := s.files[i]
		s.imports[f] = s.repository.importsOf(f, s.project)
		for _, other := range s.imports[f] {
			if !seen[other] {
				seen[other] = true
				s.files = append(s.files, other)
			}
		}
	}
}

func (s *search) readFile(f *source) {
	if f.isYAML() {
		s.readYAML(f)
		return
	}
	if !f.mentionsReference() {
		return
	}
	isOwn := slices.Contains(s.own, f)
	sites := f.sites()
	for _, at := range sites {
		name := f.referenceName(at)
		enclosing := f.functionAt(at)
		if !isOwn {
			s.readOffered(f, at, len(sites) == 1)
			continue
		}
		var calls []functionCall
		if enclosing != nil {
			calls = s.callsOf(f, enclosing)
		}
		if enclosing == nil || len(calls) == 0 {
			s.settle(f, f.tokens[at].line, s.evaluate(f, name, frame{function: enclosing}), "")
		}
		for _, c := range calls {
			values := s.evaluate(f, name, frame{function: enclosing, bound: c.bound, depth: 1})
			place := fmt.Sprintf("%s:%d", s.repository.shown(f.path), f.tokens[at].line)
			s.settle(c.file, c.line, values, ", through "+place)
		}
	}
}

// settle records which projects a reference reads by the values of its name.
func (s *search) settle(f *source, line int, values []value, through string) {
	place := fmt.Sprintf("%s:%d", s.repository.shown(f.path), line)
	s.found.Sites++
	resolved := false
	var hints []hint
	for _, v := range values {
		known := s.settleValue(v, place, through)
		resolved = resolved || known
		hints = append(hints, v.hints...)
	}
	if resolved {
		return
	}
	for _, h := range hints {
		s.add(Edge{h.project, place + through + ": " + h.why, Doubtful})
	}
	if !slices.Contains(s.found.Computed, place) {
		s.found.Computed = append(s.found.Computed, place)
	}
}

// settleValue records the project that a value names, and reports whether it is known.
func (s *search) settleValue(v value, place, through string) bool {
	evidence := place + through + v.shownOrigins()
	segment, ok := projectSegment(v.text)
	if !ok {
		return false
	}
	if !strings.Contains(segment, unknown) {
		switch {
		case segment == s.project.Name:
		case s.repository.isProject(segment):
			s.add(Edge{segment, evidence, v.certainty()})
		default:
			s.found.Missing = append(s.found.Missing, strings.ReplaceAll(v.text, unknown, "…")+" ("+place+")")
		}
		return true
	}
	for _, project := range s.repository.matching(segment, s.project.Name) {
		s.add(Edge{project, evidence + ": its name begins or ends like this project's", Doubtful})
	}
	return false
}

// projectSegment returns the part of a stack's name that names the project: org/PROJECT/stack or PROJECT/stack.
func projectSegment(name string) (string, bool) {
	parts := strings.Split(name, "/")
	if len(parts) != 2 && len(parts) != 3 {
		return "", false
	}
	segment := parts[len(parts)-2]
	return segment, segment != unknown && segment != ""
}

// add adds an edge; of edges to the same project it keeps the most certain one.
func (s *search) add(e Edge) {
	rank := func(c Certainty) int { return slices.Index([]Certainty{Doubtful, Likely, Written}, c) }
	i := slices.IndexFunc(s.found.Edges, func(other Edge) bool { return other.Project == e.Project })
	switch {
	case i < 0:
		s.found.Edges = append(s.found.Edges, e)
	case rank(e.Certainty) > rank(s.found.Edges[i].Certainty):
		s.found.Edges[i] = e
	}
}

// matching returns the projects whose names fit a name with unknown parts.
func (r *Repository) matching(segment, reader string) []string {
	literal := strings.ReplaceAll(segment, unknown, "")
	if len(literal) < 3 {
		return nil
	}
	parts := lists.Map(strings.Split(segment, unknown), regexp.QuoteMeta)
	fits := regexp.MustCompile("^" + strings.Join(parts, ".*") + "$")
	var names []string
	for _, p := range r.projects {
		if p.Name != reader && fits.MatchString(p.Name) {
			names = append(names, p.Name)
		}
	}
	return names
}

func (r *Repository) isProject(name string) bool {
	return slices.ContainsFunc(r.projects, func(p Project) bool { return p.Name == name })
}

// projectIn returns the project in a directory, given as that or as its Pulumi.yaml, or "".
func (r *Repository) projectIn(dir string) string {
	dir = path.Clean(strings.TrimSuffix(filepath.ToSlash(dir), "/Pulumi.yaml"))
	found, _ := lists.Find(r.projects, func(p Project) bool { return filepath.ToSlash(p.Dir) == dir })
	return found.Name
}

// shown returns a path as it is shown, below the root.
func (r *Repository) shown(file string) string {
	relative, err := filepath.Rel(r.root, file)
	if err != nil {
		return file
	}
	return filepath.ToSlash(relative)
}

// unknown stands for the parts of a value that only a running program knows.
const unknown = "\x00"

// value is a text that an expression may have.
type value struct {
	text    string
	origins []string // where it comes from, if that is not the line of the reference
	weak    bool     // through something that is not understood
	hints   []hint
}

// hint is a project whose name or directory is near a value that is not known.
type hint struct{ project, why string }

func (v value) certainty() Certainty {
	if v.weak {
		return Likely
	}
	return Written
}

func (v value) shownOrigins() string {
	if len(v.origins) == 0 {
		return ""
	}
	return " (" + strings.Join(v.origins, ", ") + ")"
}

// with returns the value followed by another one.
func (v value) with(other value) value {
	origins := slices.Clone(v.origins)
	for _, o := range other.origins {
		if !slices.Contains(origins, o) {
			origins = append(origins, o)
		}
	}
	return value{v.text + other.text, origins, v.weak || other.weak, slices.Concat(v.hints, other.hints)}
}

// maxValues limits the values of an expression, and maxDepth the definitions that lead to one.
const (
	maxValues = 12
	maxDepth  = 12
)

// combine returns each value of the first followed by each of the second.
func combine(first, second []value) []value {
	var all []value
	for _, a := range first {
		for _, b := range second {
			if len(all) < maxValues {
				all = append(all, a.with(b))
			}
		}
	}
	return all
}

// distinct removes values with the same text.
func distinct(values []value) []value {
	slices.SortStableFunc(values, func(a, b value) int { return cmp.Compare(a.text, b.text) })
	return slices.CompactFunc(values, func(a, b value) bool {
		return a.text == b.text && len(a.hints) == 0 && len(b.hints) == 0
	})
}
