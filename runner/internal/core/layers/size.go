package layers

import (
	"bytes"
	"maps"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"gopkg.in/yaml.v3"

	"mara/config"
	"mara/config/files"
)

// A value that refers to others twice, which do the same, doubles with every value: forty
// of them take all the memory of a machine. So the size of values is known before
// they are evaluated.

const (
	// fewReferences is how many references are harmless, however they are arranged.
	fewReferences = 16
	// maxValue is the largest size of a value.
	maxValue = 1 << 20
)

// definition is a scalar of a file, with the values that it refers to.
type definition struct {
	file       string
	line       int
	path       string
	length     int
	references []string
}

var reference = regexp.MustCompile(`\$\{([^}]*)\}`)

// tooLarge returns the problem of a value, in the description or a layer that it imports,
// that would be too large; nil if there is none.
func (r *reader) tooLarge(content []byte) *config.Problem {
	if r.references += bytes.Count(content, []byte("${")); r.references <= fewReferences || r.sized {
		return nil
	}
	r.sized = true
	m := &measure{definitions: map[string][]definition{}, known: map[string]int{}, seen: map[string]bool{}}
	m.read(r, r.file, r.sources[r.file])
	m.paths = slices.Sorted(maps.Keys(m.definitions))
	for _, path := range m.paths {
		i := slices.IndexFunc(m.definitions[path], func(d definition) bool { return len(d.references) > 0 })
		if i >= 0 && m.size(path) > maxValue {
			d := m.definitions[path][i]
			return &config.Problem{File: d.file, Line: d.line, Key: path, Text: "grows beyond 1 MiB by the values that it " +
				"refers to, directly or indirectly"}
		}
	}
	return nil
}

// measure knows the definitions of all files.
type measure struct {
	definitions map[string][]definition // by path
	paths       []string                // of definitions, sorted
	known       map[string]int          // sizes, by path; 0 while one is computed
	seen        map[string]bool         // files
}

// read reads a file and its imports. The evaluation reports their problems.
func (m *measure) read(r *reader, file string, content []byte) {
	if m.seen[file] {
		return
	}
	m.seen[file] = true
	var parsed struct {
		Imports []yaml.Node `yaml:"imports"`
		Values  yaml.Node   `yaml:"values"`
	}
	if yaml.Unmarshal(content, &parsed) != nil {
		return
	}
	for _, node := range parsed.Imports {
		if node.Kind == yaml.MappingNode && len(node.Content) > 0 { // with options
			node = *node.Content[0]
		}
		if filepath.IsLocal(node.Value) {
			name := r.fileOf(node.Value)
			imported, _ := files.ReadCommitted(filepath.Join(r.root, filepath.FromSlash(name)), files.Text)
			m.read(r, name, imported)
		}
	}
	m.add(file, nil, &parsed.Values)
}

// add adds what a node defines. The arguments of a function belong to its value.
func (m *measure) add(file string, path []string, node *yaml.Node) {
	switch node.Kind {
	case yaml.MappingNode:
		for i := 0; i+1 < len(node.Content); i += 2 {
			at := path
			if key := node.Content[i].Value; !strings.HasPrefix(key, "fn::") {
				at = append(slices.Clip(path), key)
			}
			m.add(file, at, node.Content[i+1])
		}
	case yaml.SequenceNode:
		for i, item := range node.Content {
			m.add(file, append(slices.Clip(path), strconv.Itoa(i)), item)
		}
	case yaml.ScalarNode:
		d := definition{file: file, line: node.Line, path: strings.Join(path, "."), length: len(node.Value)}
		for _, found := range reference.FindAllStringSubmatch(node.Value, -1) {
			d.references = append(d.references, pathOf(found[1]))
		}
		m.definitions[d.path] = append(m.definitions[d.path], d)
	}
}

var bracket = regexp.MustCompile(`\["?([^"\]]*)"?\]`)

// pathOf returns the path that a reference names, without the import that it names.
func pathOf(text string) string {
	text = strings.TrimPrefix(bracket.ReplaceAllString(strings.TrimSpace(text), ".$1"), ".")
	if rest, ok := strings.CutPrefix(text, "imports."); ok {
		_, text, _ = strings.Cut(rest, ".")
	}
	return text
}

// size returns the size of a value, at most a little more than maxValue. Where several files
// define it, it is the sum: more than it will be.
func (m *measure) size(path string) int {
	if size, ok := m.known[path]; ok {
		return size
	}
	m.known[path] = 0 // a circle is refused elsewhere
	total := 0
	for _, other := range m.paths {
		isPart := other == path || strings.HasPrefix(other, path+".") || strings.HasPrefix(path, other+".")
		for _, d := range m.definitions[other] {
			if !isPart || total > maxValue {
				break
			}
			total += d.length
			for _, read := range d.references {
				total += m.size(read)
			}
		}
	}
	total = min(total, maxValue+1)
	m.known[path] = total
	return total
}
