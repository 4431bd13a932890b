package contract

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/blang/semver"
	"gopkg.in/yaml.v3"

	"mara/config"
	"mara/config/lists"
)

// The parts of a program, and of a resource in it: github.com/pulumi/pulumi-yaml, ast.TemplateDecl, ResourceDecl and
// ResourceOptionsDecl; and the fields of a Pulumi.yaml, workspace.Project.

func sectionNames() []string {
	return []string{
		"name", "description", "configuration", "config", "variables", "resources", "outputs", "sdks", "components", "pulumi",
		"runtime", "main", "author", "website", "license", "namespace", "stackConfigDir", "template", "backend", "options",
		"packages", "plugins", "requiredPulumiVersion",
	}
}

func resourceFields() []string {
	return []string{"type", "name", "defaultProvider", "properties", "options", "get"}
}

func optionFields() []string {
	return []string{
		"additionalSecretOutputs", "aliases", "customTimeouts", "deleteBeforeReplace", "dependsOn", "ignoreChanges", "import",
		"parent", "protect", "provider", "providers", "version", "pluginDownloadURL", "replaceOnChanges", "retainOnDelete",
		"replaceWith", "deletedWith", "hideDiffs", "hooks", "transforms", "replacementTrigger", "envVarMappings",
	}
}

// Validate returns what is certainly wrong with a program, besides what its types say: names that nothing has, and
// parts that are misspelled. keys are the names of the values that the environment configures for the project.
func (s Source) Validate(keys []string) []config.Problem {
	failing, ignored := s.judge(keys)
	return append(failing, ignored...)
}

// Failing returns those problems with which the program certainly does not run. With the others it does, and something in it is
// not read.
func (s Source) Failing(keys []string) []config.Problem {
	failing, _ := s.judge(keys)
	return failing
}

func (s Source) judge(keys []string) (failing, ignored []config.Problem) {
	if s.Root == nil {
		return s.description(), nil
	}
	v := validator{file: s.File, known: map[string]bool{"pulumi": true}}
	v.misspelled(s.Root, sectionNames(), "the program")
	for _, root := range []*yaml.Node{s.Root, s.Description} {
		for _, section := range []string{"config", "configuration"} {
			for key, declared := range pairs(valueOf(root, section)) {
				_, name, found := strings.Cut(key.Value, ":")
				v.known[key.Value] = true
				if found {
					v.known[name] = true
				}
				if other := entry(declared, "name"); other != "" {
					v.known[other] = true
				}
			}
		}
	}
	for _, key := range keys {
		v.known[key] = true
	}
	configured := maps.Clone(v.known)
	for _, section := range []string{"variables", "resources"} {
		for key := range pairs(valueOf(s.Root, section)) {
			v.known[key.Value] = true
		}
	}
	v.twice(s.Root)
	for name, resource := range pairs(valueOf(s.Root, "resources")) {
		if resource.Kind != yaml.MappingNode {
			continue // the interpreter says so
		}
		v.misspelled(resource, resourceFields(), "the resource "+name.Value)
		v.misspelled(valueOf(resource, "options"), optionFields(), "the options of "+name.Value)
		v.typed(name.Value, valueOf(resource, "options"))
		if valueOf(resource, "type") == nil {
			v.problem(name.Line, "the resource %s has no type", name.Value)
		}
	}
	for _, section := range []string{"variables", "resources", "outputs"} {
		v.references(valueOf(s.Root, section))
		v.arguments(valueOf(s.Root, section))
	}
	v.circles(s.Root, configured)
	return append(s.description(), v.problems...), v.ignored
}

// runtimes lists the languages whose hosts Pulumi or the runner has.
func runtimes() []string {
	return []string{"yaml", "go", "nodejs", "python", "dotnet", "java", "bun", "scala", "mara"}
}

// description returns what is certainly wrong with the fields of a Pulumi.yaml that choose what runs the program.
func (s Source) description() (problems []config.Problem) {
	v := validator{file: s.Manifest}
	runtime := valueOf(s.Description, "runtime")
	name := entry(runtime, "name")
	if runtime != nil && runtime.Kind == yaml.ScalarNode {
		name = runtime.Value
	}
	switch meant := config.DidYouMean(name, runtimes()); {
	case name == "":
		v.problem(max(s.Description.Line, 1), "has no runtime: write the language of the program, such as  runtime: yaml")
	case meant != "" && !slices.Contains(runtimes(), name):
		v.problem(runtime.Line, "runtime is %q, and there is no such language%s", name, meant)
	}
	if node := valueOf(s.Description, "requiredPulumiVersion"); node != nil {
		if _, err := semver.ParseRange(node.Value); err != nil {
			v.problem(node.Line, "requiredPulumiVersion is %q, which is no range of versions such as \">=3.100.0\"", node.Value)
		}
	}
	return v.problems
}

// Excludes returns what says that a version of Pulumi cannot run the program; false for nothing.
func (s Source) Excludes(version semver.Version) (config.Problem, bool) {
	node := valueOf(s.Description, "requiredPulumiVersion")
	if node == nil {
		return config.Problem{}, false
	}
	fits, err := semver.ParseRange(node.Value)
	if err != nil || fits(version) { // description has said what is wrong with it
		return config.Problem{}, false
	}
	text := fmt.Sprintf("requiredPulumiVersion is %q, and the Pulumi that comes with the runner is %s: change it, or name another Pulumi with --pulumi PATH",
		node.Value, version)
	return config.Problem{File: s.Manifest, Line: node.Line, Text: text}, true
}

// Lacks returns whether a program certainly does not export an output, and the nearest one that it does.
func (s Source) Lacks(output string) (lacks bool, hint string) {
	if s.Root == nil {
		return false, ""
	}
	var names []string
	for key := range pairs(valueOf(s.Root, "outputs")) {
		names = append(names, key.Value)
	}
	return !slices.Contains(names, output), config.DidYouMean(output, names)
}

// ShortReferences returns doubts about stack references whose organization is a project: they lack the organization.
func (s Source) ShortReferences(projects []string) (doubts []config.Problem) {
	if s.Root == nil {
		return nil
	}
	v := validator{file: s.File}
	for _, resource := range pairs(valueOf(s.Root, "resources")) {
		name := valueOf(valueOf(resource, "properties"), "name")
		if entry(resource, "type") != referenceType || name == nil {
			continue
		}
		organization, rest, _ := strings.Cut(name.Value, "/")
		if rest != "" && !strings.Contains(rest, "/") && slices.Contains(projects, organization) {
			v.problem(name.Line, "reads the stack %q, in which %s stands for the organization; write organization/%s", name.Value,
				organization, name.Value)
		}
	}
	return v.problems
}

// validator collects what is wrong with a program.
type validator struct {
	file     string
	known    map[string]bool // names of resources, variables and configuration keys
	problems []config.Problem
	ignored  []config.Problem // what the interpreter takes, and does not read
}

func (v *validator) problem(line int, format string, args ...any) {
	v.problems = append(v.problems, config.Problem{File: v.file, Line: line, Text: fmt.Sprintf(format, args...)})
}

// misspelled reports keys of a map that are nearly one of those that it may have.
func (v *validator) misspelled(node *yaml.Node, known []string, of string) {
	for key := range pairs(node) {
		if near := config.DidYouMean(key.Value, known); near != "" && !slices.Contains(known, key.Value) {
			text := fmt.Sprintf("%s has %q, which nothing reads%s", of, key.Value, near)
			v.ignored = append(v.ignored, config.Problem{File: v.file, Line: key.Line, Text: text})
		}
	}
}

// references reports interpolations that Pulumi YAML cannot read, and those of names that nothing has.
func (v *validator) references(node *yaml.Node) {
	if node == nil {
		return
	}
	if node.Kind == yaml.ScalarNode {
		if reason := malformed(node.Value); reason != "" {
			v.problem(node.Line, "has an expression that Pulumi YAML cannot read: %s", reason)
			return
		}
		for _, access := range accessesIn(node.Value) {
			if root := access[0]; !v.known[root] && !strings.Contains(root, ":") {
				const text = "refers to ${%s}, and there is no resource, variable or configuration key of that name%s"
				v.problem(node.Line, text, root, config.DidYouMean(root, lists.Keys(v.known)))
			}
		}
		return
	}
	for _, part := range node.Content {
		v.references(part)
	}
}
