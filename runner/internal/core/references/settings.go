package references

import (
	"cmp"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"gopkg.in/yaml.v3"

	"mara/config"
	"mara/config/files"
	"mara/config/lists"
)

// settings are the values of a project's configuration that the repository has.
type settings struct {
	values        map[string][]value // from stack files and Pulumi.yaml, by key without its namespace
	documentation []document
}

// document is a text that may tell how to configure a project.
type document struct{ dir, shown, content string }

// setting returns the values of a configuration key, from the arguments of the function that asks for it.
func (p *parser) setting(names []string, args []result) (result, bool) {
	if len(args) > 0 && len(args[0].values) == 1 && args[0].values[0].text == unknown {
		args = args[1:] // Go's context
	}
	if len(args) == 0 || len(args[0].values) != 1 || strings.Contains(args[0].values[0].text, unknown) {
		return unknownResult, slices.Contains(names, "config") || slices.Contains(names, "cfg")
	}
	key := args[0].values[0].text
	if values := p.configured(key); len(values) > 0 {
		return result{values: values}, true
	}
	var hints []hint
	for _, project := range p.repository.projects {
		if project.Name != p.project.Name && resembles(key, project.Name) {
			hints = append(hints, hint{project.Name, fmt.Sprintf("the configuration key %s resembles its name", key)})
		}
	}
	return result{values: []value{{text: unknown, hints: hints}}}, true
}

// resembles reports whether a key such as networkStack is about a project such as network.
func resembles(key, project string) bool {
	if _, after, ok := strings.Cut(key, ":"); ok {
		key = after
	}
	key = strings.ReplaceAll(plain(key), "-", "")
	for _, ending := range []string{"reference", "name", "ref", "stack", "project"} {
		key = strings.TrimSuffix(key, ending)
	}
	name := strings.ReplaceAll(plain(project), "-", "")
	return len(key) > 2 && (key == name || strings.HasSuffix(name, key) || strings.HasPrefix(name, key))
}

// configured returns the values that stack files or, without any, the documentation give to a key.
func (s *search) configured(key string) []value {
	if s.settings == nil {
		s.settings = s.readSettings()
	}
	if _, after, ok := strings.Cut(key, ":"); ok {
		key = after
	}
	if values := s.settings.values[key]; len(values) > 0 {
		return distinct(slices.Clone(values))
	}
	set := regexp.MustCompile(`config set (?:-\S+ )*(?:([\w-]+):)?` + regexp.QuoteMeta(key) + "\\s+[\"']?([^\\s\"'`]+)")
	for _, d := range s.settings.documentation {
		var values []value
		for _, at := range set.FindAllStringSubmatchIndex(d.content, -1) {
			text := d.content[at[4]:at[5]]
			project, ok := projectSegment(text)
			if !ok || project == s.project.Name || !s.repository.isProject(project) {
				continue
			}
			line := 1 + strings.Count(d.content[:at[0]], "\n")
			origin := fmt.Sprintf("%s:%d sets %s", d.shown, line, key)
			names := at[2] >= 0 && d.content[at[2]:at[3]] == s.project.Name
			if names || d.dir == s.project.Dir || s.repository.isIn(project, d.dir) {
				values = append(values, value{text: text, weak: true, origins: []string{origin}})
			} else { // it may be about another project, in this directory or in that of the owner
				values = append(values, value{text: unknown, hints: []hint{{project, origin}}})
			}
		}
		if len(values) > 0 {
			return distinct(values)
		}
	}
	return nil
}

// isIn reports whether a project is below a directory.
func (r *Repository) isIn(name, dir string) bool {
	return slices.ContainsFunc(r.projects, func(p Project) bool { return p.Name == name && isBelow(p.Dir, dir) })
}

// readSettings reads the stack files of a project, its Pulumi.yaml, and the documents in its directory and above.
func (s *search) readSettings() *settings {
	all := &settings{values: map[string][]value{}}
	for _, f := range s.own {
		name := filepath.Base(f.path)
		if filepath.Dir(f.path) == s.project.Dir && strings.HasPrefix(name, "Pulumi.") && f.isYAML() {
			s.readStackFile(f, all.values)
		}
	}
	for dir := s.project.Dir; ; dir = filepath.Dir(dir) {
		entries, _ := os.ReadDir(dir)
		for _, e := range entries {
			if !e.Type().IsRegular() || !isDocument(e.Name()) {
				continue
			}
			if info, err := e.Info(); err != nil || info.Size() > maxSource {
				continue
			}
			file := filepath.Join(dir, e.Name())
			if content, err := files.ReadCommitted(file, files.Text); err == nil {
				all.documentation = append(all.documentation, document{dir, s.repository.shown(file), string(content)})
			}
		}
		if dir == s.repository.root || len(dir) < len(s.repository.root) {
			return all
		}
	}
}

// isDocument reports whether a file may have commands that configure a project.
func isDocument(name string) bool {
	return slices.Contains([]string{".md", ".sh", ".mk", ".txt", ".rst", ".adoc"}, filepath.Ext(name)) ||
		slices.Contains([]string{"Makefile", "justfile", "package.json"}, name)
}

// readStackFile adds the values of a stack file, or the defaults of a Pulumi.yaml.
func (s *search) readStackFile(f *source, values map[string][]value) {
	var doc struct {
		Config yaml.Node `yaml:"config"`
	}
	if yaml.Unmarshal([]byte(f.content), &doc) != nil || doc.Config.Kind != yaml.MappingNode {
		return
	}
	for i := 0; i+1 < len(doc.Config.Content); i += 2 {
		key, node := doc.Config.Content[i], doc.Config.Content[i+1]
		if node.Kind == yaml.MappingNode {
			node = cmp.Or(config.Child(node, "value"), config.Child(node, "default"))
		}
		if node == nil || node.Kind != yaml.ScalarNode || node.Value == "" {
			continue
		}
		name := key.Value
		if at := strings.LastIndex(name, ":"); at >= 0 {
			name = name[at+1:]
		}
		origin := fmt.Sprintf("%s:%d", s.repository.shown(f.path), key.Line)
		values[name] = append(values[name], value{text: node.Value, origins: []string{origin}})
	}
}

// readYAML finds the references of a program in YAML.
func (s *search) readYAML(f *source) {
	if !f.mentionsReference() {
		return
	}
	var doc yaml.Node
	if yaml.Unmarshal([]byte(f.content), &doc) != nil || len(doc.Content) == 0 {
		return
	}
	root := doc.Content[0]
	resources := config.Child(root, "resources")
	for i := 0; resources != nil && i+1 < len(resources.Content); i += 2 {
		name, r := resources.Content[i], resources.Content[i+1]
		kind := config.Child(r, "type")
		if kind == nil || kind.Value != "pulumi:pulumi:StackReference" && kind.Value != "pulumi:StackReference" {
			continue
		}
		node := cmp.Or(config.Child(config.Child(r, "properties"), "name"), name)
		s.settle(f, kind.Line, s.yamlValues(root, node, 0), "")
	}
	s.readFunctions(f, root, root)
}

// readFunctions finds calls of fn::stackReference, the older form of a reference, wherever an expression may be.
func (s *search) readFunctions(f *source, root, node *yaml.Node) {
	for _, below := range node.Content {
		s.readFunctions(f, root, below)
	}
	call := cmp.Or(config.Child(node, "fn::stackReference"), config.Child(node, "Fn::StackReference"))
	if call != nil && len(call.Content) > 0 {
		s.settle(f, call.Line, s.yamlValues(root, call.Content[0], 0), "")
	}
}

// yamlExpression matches an interpolation of YAML.
var yamlExpression = regexp.MustCompile(`\$\{([^}]+)\}`)

// yamlValues returns the values of an expression of YAML.
func (s *search) yamlValues(root, node *yaml.Node, depth int) []value {
	parts := cmp.Or(config.Child(node, "fn::join"), config.Child(node, "Fn::Join"))
	if parts != nil && len(parts.Content) == 2 {
		all := lists.Map(parts.Content[1].Content, func(part *yaml.Node) result {
			return result{values: s.yamlValues(root, part, depth+1)}
		})
		return joined(parts.Content[0].Value, all, false).values
	}
	if node.Kind != yaml.ScalarNode || depth > maxDepth {
		return unknownResult.values
	}
	return replaced(yamlExpression, node.Value, value{}, func(name string) []value {
		if variable := config.Child(config.Child(root, "variables"), name); variable != nil {
			return s.yamlValues(root, variable, depth+1)
		}
		if name == "pulumi.project" {
			return literal(s.project.Name).values
		}
		return orUnknown(s.configured(name)).values
	})
}
