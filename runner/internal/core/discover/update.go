package discover

import (
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"

	"gopkg.in/yaml.v3"

	"mara/config"
	"mara/config/lists"
)

// Addition is what an update adds to a project of mara.yaml.
type Addition struct {
	Path  string `json:"path"`
	Name  string `json:"name"`
	Reads []Edge `json:"reads,omitempty"`
	IsNew bool   `json:"new,omitempty"` // the project itself
	// MovedFrom is the path that mara.yaml had for it.
	MovedFrom string `json:"moved_from,omitempty"`
	// Line is a line about all projects; there is no project then.
	Line string `json:"line,omitempty"`
}

// Update adds to a mara.yaml the projects it does not list, and to those it lists what they read besides. A project whose
// directory was moved gets its new path; exists reports whether a path of the file is a directory. It changes no
// other line. What people have removed stays out: an edge whose evidence is there as a comment is not added again.
func (a Adoption) Update(content []byte, exists func(path string) bool) (string, []Addition, error) {
	text, moved, err := a.move(content, exists)
	if err != nil {
		return "", nil, err
	}
	content = []byte(text)
	seen := map[string][]Edge{}
	names := map[string]string{}
	for _, p := range a.Projects {
		seen[p.Path], names[p.Path] = p.Reads, p.Name
	}
	text, added, err := AddReads(content, seen, names)
	if err != nil {
		return "", nil, err
	}
	added = append(moved, added...)
	file, err := readEntries([]byte(text))
	if err != nil {
		return "", nil, err
	}
	var entries []string
	for _, p := range a.Projects {
		if slices.ContainsFunc(file.entries, func(e entry) bool { return e.path == path.Clean(p.Path) }) {
			continue
		}
		entries = append(entries, indented(p.text(), file.indent-2)...)
		added = append(added, Addition{Path: p.Path, Name: p.Name, Reads: p.Reads, IsNew: true})
	}
	file.insert(file.end, entries...)
	mara, err := config.ParseMara(config.MaraFile, content)
	if err != nil {
		return "", nil, err
	}
	var has []string
	if mara.Backend.Text != "" {
		has = append(has, "backend")
	}
	if mara.Environments != nil {
		has = append(has, "environments")
	}
	for _, line := range a.head(has) {
		key, _, _ := strings.Cut(line, ":")
		added = append(added, Addition{Line: strings.TrimSpace(line), Name: key})
		file.insert(file.first, strings.TrimSuffix(line, "\n"))
		file.first++
	}
	return file.text(), added, nil
}

// AddReads adds to the projects of a mara.yaml what they read, by their paths, with the evidence as a comment. names
// are the names of all projects by path. Every other line stays as it is.
func AddReads(content []byte, seen map[string][]Edge, names map[string]string) (string, []Addition, error) {
	file, err := readEntries(content)
	if err != nil {
		return "", nil, err
	}
	var added []Addition
	for _, e := range slices.Backward(file.entries) { // from the end, so that lines keep their numbers
		edges := slices.DeleteFunc(slices.Clone(seen[e.path]), func(edge Edge) bool {
			return e.has(edge.Project, names) || file.mentions(e, edge.Project)
		})
		if len(edges) == 0 {
			continue
		}
		if err := file.addReads(e, edges); err != nil {
			return "", nil, err
		}
		added = append(added, Addition{Path: e.path, Name: names[e.path], Reads: edges})
	}
	slices.Reverse(added)
	text := file.text()
	_, err = config.ParseMara(config.MaraFile, []byte(text))
	return text, added, err
}

// entries is a mara.yaml with the places of its projects.
type entries struct {
	lines   []string
	entries []entry
	indent  int // of the lists' dashes
	end     int // the line after the last project
	first   int // the line of the key projects
}

// entry is a project of the file. Lines begin with 0.
type entry struct {
	path       string
	place      *yaml.Node // of the path
	start, end int        // its lines, and the one after them
	indent     int        // of its keys
	reads      *yaml.Node
	readsLine  int
	others     []string // projects it reads or comes after
	// isElsewhere is whether it is in another repository.
	isElsewhere bool
}

func (f *entries) text() string { return strings.Join(f.lines, "\n") }

func (f *entries) insert(at int, lines ...string) { f.lines = slices.Insert(f.lines, at, lines...) }

// errFlow refuses a file whose projects are written in one line.
var errFlow = errors.New("its projects are not a list with one entry a line, and cannot be edited")

// readEntries finds the projects in the lines of a mara.yaml.
func readEntries(content []byte) (*entries, error) {
	if _, err := config.ParseMara(config.MaraFile, content); err != nil {
		return nil, err
	}
	f := &entries{lines: strings.Split(string(content), "\n")}
	var document yaml.Node
	if err := yaml.Unmarshal(content, &document); err != nil {
		return nil, err
	}
	if len(document.Content) == 0 || document.Content[0].Kind != yaml.MappingNode {
		return nil, errFlow
	}
	root := document.Content[0]
	list := config.Child(root, "projects")
	if list == nil || list.Kind != yaml.SequenceNode || list.Style&yaml.FlowStyle != 0 || len(list.Content) == 0 {
		return nil, errFlow
	}
	for i := 0; i < len(root.Content); i += 2 {
		if root.Content[i+1] == list {
			f.first = root.Content[i].Line - 1
		}
	}
	limit := len(f.lines)
	for i := 0; i < len(root.Content); i += 2 {
		if line := root.Content[i].Line - 1; line > list.Line-1 && line < limit && root.Content[i+1] != list {
			limit = line
		}
	}
	f.indent = strings.Index(f.lines[list.Content[0].Line-1], "-")
	for i, item := range list.Content {
		if item.Kind != yaml.MappingNode || item.Style&yaml.FlowStyle != 0 || item.Column-1 <= f.indent {
			return nil, errFlow
		}
		e := entry{start: item.Line - 1, indent: item.Column - 1, end: limit}
		if i+1 < len(list.Content) {
			e.end = list.Content[i+1].Line - 1
		}
		for e.end > e.start+1 && f.isOutside(f.lines[e.end-1], e.indent) {
			e.end--
		}
		e.read(item)
		f.entries = append(f.entries, e)
	}
	f.end = f.entries[len(f.entries)-1].end
	return f, nil
}

// isOutside reports whether a line at the end of an entry does not belong to it: an empty one, or a comment further to
// the left.
func (f *entries) isOutside(line string, indent int) bool {
	trimmed := strings.TrimSpace(line)
	return trimmed == "" || strings.HasPrefix(trimmed, "#") && strings.Index(line, "#") < indent
}

// read reads the keys of an entry.
func (e *entry) read(item *yaml.Node) {
	for i := 0; i+1 < len(item.Content); i += 2 {
		key, value := item.Content[i], item.Content[i+1]
		switch key.Value {
		case "path":
			e.path, e.place = path.Clean(value.Value), value
		case "git":
			e.isElsewhere = true
		case "reads":
			e.reads, e.readsLine = value, key.Line-1
			e.others = append(e.others, texts(value)...)
		case "after":
			e.others = append(e.others, texts(value)...)
		}
	}
}

func texts(node *yaml.Node) []string {
	if node.Kind == yaml.ScalarNode {
		return []string{node.Value}
	}
	return lists.Map(node.Content, func(item *yaml.Node) string { return item.Value })
}

// has reports whether an entry reads a project, which may be written as a name or a path.
func (e entry) has(project string, names map[string]string) bool {
	return slices.ContainsFunc(e.others, func(other string) bool {
		return other == project || names[path.Clean(other)] == project
	})
}

// mentions reports whether a comment of an entry is about a project: people have removed it, or it closes a cycle.
func (f *entries) mentions(e entry, project string) bool {
	return slices.ContainsFunc(f.lines[e.start:e.end], func(line string) bool {
		comment, isComment := strings.CutPrefix(strings.TrimSpace(line), "#")
		return isComment && (strings.HasPrefix(strings.TrimSpace(comment), project+":") ||
			strings.Contains(comment, "closes a cycle: "+project+":"))
	})
}

// addReads adds edges to an entry.
func (f *entries) addReads(e entry, edges []Edge) error {
	margin := strings.Repeat(" ", e.indent)
	words := quotedProjects(edges)
	comments := lists.Map(edges, func(e Edge) string { return fmt.Sprintf("%s# %s: %s", margin, e.Project, e.Evidence) })
	switch {
	case e.reads == nil:
		f.insert(e.end, append(comments, margin+"reads: ["+strings.Join(words, ", ")+"]")...)
		return nil
	case e.reads.Kind == yaml.ScalarNode:
		line, at := f.lines[e.readsLine], e.reads.Column-1
		end := at + len(strings.TrimRight(before(line[at:], " #"), " "))
		all := strings.Join(append([]string{line[at:end]}, words...), ", ")
		f.lines[e.readsLine] = line[:at] + "[" + all + "]" + line[end:]
	case e.reads.Style&yaml.FlowStyle != 0:
		line := e.reads.Line - 1
		for line < e.end && !strings.Contains(f.lines[line], "]") {
			line++
		}
		if line == e.end {
			return errFlow
		}
		at := strings.LastIndex(before(f.lines[line], " #"), "]")
		separator := ", "
		if len(e.reads.Content) == 0 {
			separator = ""
		}
		f.lines[line] = f.lines[line][:at] + separator + strings.Join(words, ", ") + f.lines[line][at:]
	default:
		last := e.reads.Content[len(e.reads.Content)-1]
		dash := f.lines[last.Line-1][:strings.Index(f.lines[last.Line-1], "-")]
		for i, word := range words {
			f.insert(last.Line+i, dash+"- "+word)
		}
	}
	f.insert(e.readsLine, comments...)
	return nil
}

// before returns the text before a separator.
func before(text, separator string) string {
	head, _, _ := strings.Cut(text, separator)
	return head
}

// indented returns the lines of a text, moved to the right or the left.
func indented(text string, by int) []string {
	lines := strings.Split(strings.TrimSuffix(text, "\n"), "\n")
	for i := range lines {
		if by >= 0 {
			lines[i] = strings.Repeat(" ", by) + lines[i]
		} else {
			lines[i] = strings.TrimPrefix(lines[i], strings.Repeat(" ", -by))
		}
	}
	return lines
}
