package cli_test

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"gopkg.in/yaml.v3"

	"mara/runner/internal/cli/schema"
	"mara/runner/internal/testing/docs"
)

// TestSchemaPageIsFresh holds docs/schemas.md against the schemas.
func TestSchemaPageIsFresh(t *testing.T) {
	t.Parallel()
	want := schemaPage(t)
	path := filepath.Join(docsDir, "schemas.md")
	if *update {
		if err := os.WriteFile(path, []byte(want), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	got, err := os.ReadFile(path)
	if err != nil {
		t.Fatalf("run `make golden`: %v", err)
	}
	if diff := cmp.Diff(string(got), want); diff != "" {
		t.Errorf("docs/schemas.md is stale, run `make golden`:\n%s", diff)
	}
}

// schemaPage writes all schemas for people.
func schemaPage(t *testing.T) string {
	var b strings.Builder
	b.WriteString("# Schemas\n\nThis page is made from the JSON Schemas of what the runner prints and reads, by `make golden`. `runner schema NAME` prints each of them;\n" +
		"they say more than this page, such as limits and patterns. Fields in **bold** are always there.\n\n| schema | what it describes |\n|---|---|\n")
	names := slices.DeleteFunc(schema.Names(), func(name string) bool { return name == schema.Config })
	var sections strings.Builder
	for _, name := range names {
		text, err := schema.Get(name)
		if err != nil {
			t.Fatal(err)
		}
		var document yaml.Node // keeps the order
		if err := yaml.Unmarshal(text, &document); err != nil {
			t.Fatal(err)
		}
		root := document.Content[0]
		title := scalar(root, "title")
		fmt.Fprintf(&b, "| [`%s`](#%s) | %s |\n", name, docs.Anchor(name), title)
		fmt.Fprintf(&sections, "\n## %s\n\n%s: %s\n", name, title, strings.TrimSuffix(scalar(root, "description"), ".")+".")
		fields(&sections, name, root)
		if parts := member(root, "$defs"); parts != nil {
			for i := 0; i < len(parts.Content); i += 2 {
				part := parts.Content[i+1]
				fmt.Fprintf(&sections, "\n### %s: %s\n\n", name, parts.Content[i].Value)
				about := scalar(part, "description")
				if member(part, "properties") == nil {
					about = strings.TrimSpace(about + " It is: " + kind(name, part) + ".")
				}
				sections.WriteString(about + "\n")
				fields(&sections, name, part)
			}
		}
	}
	b.WriteString("| `config` | a stack file: the keys are those of [the projects](projects.md), and of your own |\n")
	return b.String() + sections.String()
}

// fields writes the table of an object's properties.
func fields(b *strings.Builder, schemaName string, object *yaml.Node) {
	properties := member(object, "properties")
	if properties == nil {
		return
	}
	required := []string{}
	if list := member(object, "required"); list != nil {
		for _, name := range list.Content {
			required = append(required, name.Value)
		}
	}
	b.WriteString("\n| field | | meaning |\n|---|---|---|\n")
	for i := 0; i < len(properties.Content); i += 2 {
		name := "`" + properties.Content[i].Value + "`"
		if slices.Contains(required, properties.Content[i].Value) {
			name = "**" + name + "**"
		}
		value := properties.Content[i+1]
		fmt.Fprintf(b, "| %s | %s | %s |\n", name, kind(schemaName, value), strings.ReplaceAll(scalar(value, "description"), "|", `\|`))
	}
}

// kind says what a value is.
func kind(schemaName string, value *yaml.Node) string {
	if to := scalar(value, "$ref"); to != "" {
		part := to[strings.LastIndex(to, "/")+1:]
		return fmt.Sprintf("[%s](#%s)", part, docs.Anchor(schemaName+": "+part))
	}
	if fixed := scalar(value, "const"); fixed != "" {
		return "`" + fixed + "`"
	}
	if choice := member(value, "enum"); choice != nil {
		var words []string
		for _, word := range choice.Content {
			words = append(words, "`"+word.Value+"`")
		}
		return strings.Join(words, ", ")
	}
	for _, several := range []string{"anyOf", "oneOf"} {
		if choice := member(value, several); choice != nil {
			var kinds []string
			for _, one := range choice.Content {
				kinds = append(kinds, kind(schemaName, one))
			}
			return strings.Join(kinds, " or ")
		}
	}
	types := scalar(value, "type")
	if list := member(value, "type"); list != nil && len(list.Content) > 0 {
		var words []string
		for _, word := range list.Content {
			words = append(words, word.Value)
		}
		types = strings.Join(words, " or ")
	}
	if items := member(value, "items"); items != nil {
		return "list of " + kind(schemaName, items)
	}
	if rest := member(value, "additionalProperties"); rest != nil && rest.Kind == yaml.MappingNode {
		return "map to " + kind(schemaName, rest)
	}
	if types == "" {
		return "anything"
	}
	return types
}

// member returns what an object has under a name, or nil.
func member(object *yaml.Node, name string) *yaml.Node {
	for i := 0; i+1 < len(object.Content) && object.Kind == yaml.MappingNode; i += 2 {
		if object.Content[i].Value == name {
			return object.Content[i+1]
		}
	}
	return nil
}

func scalar(object *yaml.Node, name string) string {
	if found := member(object, name); found != nil {
		return found.Value
	}
	return ""
}
