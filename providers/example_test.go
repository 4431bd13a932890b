package providers

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"gopkg.in/yaml.v3"

	"mara/config"
	"mara/projects"
)

// StackExample returns the example of a stack file: every key that any project
// reads, with its meaning, default and allowed values. It is made from the
// catalogue, so that it cannot say something else than the programs do.
func StackExample() []byte {
	var b strings.Builder
	b.WriteString(exampleHead)
	keys := Keys()
	for _, namespace := range namespaces(keys) {
		fmt.Fprintf(&b, "\n  # ---- %s: %s\n", namespace, readers(namespace))
		for _, key := range keys {
			if key.Namespace() == namespace {
				writeKey(&b, key)
			}
		}
	}
	return []byte(b.String())
}

const exampleHead = `# Configuration of one environment. Copy this file to Pulumi.<stack>.yaml and take
# the # away from the keys to set. A key shows its default, or an example where it
# has none. Secrets do not belong here: they are kept, encrypted, below secrets/.

config:
`

// readers names the projects that read a namespace.
func readers(namespace string) string {
	var titles []string
	for _, project := range projects.All() {
		if slices.ContainsFunc(project.Keys, func(k config.Key) bool { return k.Namespace() == namespace }) {
			titles = append(titles, project.Title)
		}
	}
	if len(titles) > 3 {
		return "shared by many projects"
	}
	return strings.Join(titles, ", ")
}

// writeKey writes a key and what it means. Only the provider is not commented
// out, since nothing works without it.
func writeKey(b *strings.Builder, key config.Key) {
	fmt.Fprintf(b, "\n  # %s.\n", key.Doc)
	if rule := keyRule(key); rule != "" {
		fmt.Fprintf(b, "  # %s.\n", rule)
	}
	comment := "#"
	if key.Name == config.InfraType {
		comment = ""
	}
	fmt.Fprintf(b, "  %s%s: %s\n", comment, key.Name, exampleValue(key))
}

// keyRule says what values a key takes.
func keyRule(key config.Key) string {
	var rules []string
	switch {
	case key.Required && len(key.Variables) > 0:
		rules = append(rules, "Required, unless "+strings.Join(key.Variables, " or ")+" is set")
	case key.Required:
		rules = append(rules, "Required")
	}
	if key.Default == nil && !key.Required {
		rules = append(rules, "No default")
	}
	if rule := Rule(key); rule != "" {
		rules = append(rules, rule)
	}
	return strings.Join(rules, ". ")
}

// exampleValue returns the default as YAML on one line, else the example.
func exampleValue(key config.Key) string {
	value := key.Default
	switch {
	case value == nil && key.Kind != config.String:
		return key.Example // written as YAML already
	case value == nil:
		value = key.Example
	}
	if text, ok := value.(string); ok && !strings.Contains(text, "\n") {
		if plain, err := yaml.Marshal(text); err == nil {
			return strings.TrimSuffix(string(plain), "\n")
		}
	}
	flow, err := json.Marshal(value)
	if err != nil {
		panic(fmt.Sprintf("the default of %s is no JSON: %v", key.Name, err))
	}
	return string(flow)
}
