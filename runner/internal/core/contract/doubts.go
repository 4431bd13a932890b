package contract

import (
	"os"
	"regexp"
	"slices"
	"strings"

	"gopkg.in/yaml.v3"

	"mara/config"
	"mara/config/files"
)

// builtInFunctions are those of Pulumi YAML that have no package: github.com/pulumi/pulumi-yaml, ast.tryParseFunction.
func builtInFunctions() []string {
	return []string{
		"fn::invoke", "fn::join", "fn::toJSON", "fn::toBase64", "fn::fromBase64", "fn::select", "fn::split", "fn::stackReference",
		"fn::assetArchive", "fn::secret", "fn::unsecret", "fn::readFile", "fn::filebase64", "fn::filebase64sha256", "fn::sha1",
		"fn::length", "fn::singleOrNone", "fn::pulumiResourceName", "fn::pulumiResourceType", "fn::stringAsset", "fn::fileAsset",
		"fn::remoteAsset", "fn::fileArchive", "fn::remoteArchive",
	}
}

// ofOthers matches references as shells and templates write them, which Pulumi YAML takes as text.
var ofOthers = regexp.MustCompile(`(?:^|[^$])\$([A-Za-z][A-Za-z0-9_-]*)|\{\{ *\.?([A-Za-z][A-Za-z0-9_-]*) *\}\}`)

// Doubts returns what a program takes as text or ignores, and what certainly was meant as something else: functions that do
// not exist or have other keys beside them, fields of resources that nothing reads, references as others write them, and
// passwords in outputs.
func (s Source) Doubts() []config.Problem {
	if s.Root == nil {
		return nil
	}
	v := validator{file: s.File, known: map[string]bool{}}
	for _, section := range []string{"config", "configuration"} {
		for _, root := range []*yaml.Node{s.Root, s.Description} {
			for key := range pairs(valueOf(root, section)) {
				v.known[key.Value[strings.Index(key.Value, ":")+1:]] = true
			}
		}
	}
	for _, section := range []string{"variables", "resources"} {
		for key := range pairs(valueOf(s.Root, section)) {
			v.known[key.Value] = true
		}
	}
	for name, resource := range pairs(valueOf(s.Root, "resources")) {
		for field := range pairs(resource) {
			isField := func(known string) bool { return strings.EqualFold(known, field.Value) }
			near := config.Suggest(field.Value, resourceFields()) // Validate has reported it
			if near == "" && field.Value != "<<" && !slices.ContainsFunc(resourceFields(), isField) {
				v.problem(field.Line, "the resource %s has %q, which nothing reads there; inputs of a resource belong below properties",
					name.Value, field.Value)
			}
		}
	}
	for _, section := range []string{"variables", "resources", "outputs"} {
		v.texts(valueOf(s.Root, section))
	}
	for name, value := range pairs(valueOf(s.Root, "outputs")) {
		isText := value.Kind == yaml.ScalarNode && value.ShortTag() == "!!str" && value.Value != ""
		if isText && config.IsCredential(name.Value) && !strings.Contains(value.Value, "${") {
			v.problem(name.Line, "the output %s is a password in plain text; declare a secret key below config, and write ${KEY}", name.Value)
		}
	}
	return v.problems
}

// texts doubts functions and references in a part of a program.
func (v *validator) texts(node *yaml.Node) {
	switch {
	case node == nil:
	case node.Kind == yaml.ScalarNode:
		for _, found := range ofOthers.FindAllStringSubmatch(node.Value, -1) {
			if name := found[1] + found[2]; v.known[name] {
				v.problem(node.Line, "has %s, which is text for Pulumi; to refer to %s, write ${%[2]s}", strings.TrimSpace(found[0]), name)
			}
		}
	default:
		for key := range pairs(node) {
			name := strings.ToLower(key.Value)
			isBuiltIn := slices.ContainsFunc(builtInFunctions(), func(known string) bool { return strings.ToLower(known) == name })
			switch near := config.DidYouMean(key.Value, builtInFunctions()); {
			case !strings.HasPrefix(name, "fn::"):
			case !isBuiltIn && strings.Count(name, ":") == 2 && near != "":
				v.problem(key.Line, "%s is no function, and Pulumi takes it as the name of a property%s", key.Value, near)
			case len(node.Content) > 2:
				v.problem(key.Line, "%s has other keys beside it, so that Pulumi takes it as the name of a property; give it a map of its own",
					key.Value)
			}
		}
		for _, part := range node.Content {
			v.texts(part)
		}
	}
}

// twice reports names that a section has twice, and resources that have the name of a variable or a key.
func (v *validator) twice(root *yaml.Node) {
	owners := map[string]string{}
	for _, section := range []string{"config", "variables", "resources"} {
		for key := range pairs(valueOf(root, section)) {
			if owner := owners[key.Value]; owner != "" {
				v.problem(key.Line, "%s is a name of %s already; names of config, variables and resources are one set", key.Value, owner)
			}
			owners[key.Value] = section
		}
	}
	seen := map[string]bool{}
	for key := range pairs(valueOf(root, "outputs")) {
		if seen[key.Value] {
			v.problem(key.Line, "the output %s is there twice", key.Value)
		}
		seen[key.Value] = true
	}
}

// typed reports options of a resource that are texts and must be something else: a boolean, or a reference to a resource.
func (v *validator) typed(name string, options *yaml.Node) {
	isText := func(node *yaml.Node) bool {
		return node != nil && node.Kind == yaml.ScalarNode && node.ShortTag() == "!!str" && !strings.Contains(node.Value, "${")
	}
	for _, option := range []string{"protect", "retainOnDelete", "deleteBeforeReplace"} {
		if node := valueOf(options, option); isText(node) {
			v.problem(node.Line, "the option %s of %s must be true or false, not the string %q", option, name, node.Value)
		}
	}
	for _, option := range []string{"dependsOn", "parent", "provider", "deletedWith"} {
		node := valueOf(options, option)
		items := []*yaml.Node{node}
		if node != nil && node.Kind == yaml.SequenceNode {
			items = node.Content
		}
		for _, item := range items {
			if isText(item) && v.known[item.Value] {
				v.problem(item.Line, "the option %s of %s must refer to a resource; write ${%s}", option, name, item.Value)
			}
		}
	}
}

// Entry doubts a program in another language that has nothing to start with; dir is its directory.
func (s Source) Entry(dir string) (doubts []config.Problem) {
	node := valueOf(s.Description, "runtime")
	language := entry(node, "name")
	if node != nil && node.Kind == yaml.ScalarNode {
		language = node.Value
	}
	patterns := map[string][]string{
		"go": {"*.go"}, "python": {"__main__.py"}, "nodejs": {"package.json", "index.*"},
	}[language]
	hasOptions := valueOf(valueOf(node, "options"), "binary") != nil
	if patterns == nil || hasOptions || valueOf(s.Description, "main") != nil {
		return nil
	}
	for _, pattern := range patterns {
		if found, err := files.Glob(dir, pattern); err != nil || len(found) > 0 {
			return nil
		}
	}
	if _, err := os.Stat(dir); err != nil {
		return nil
	}
	v := validator{file: s.Manifest}
	v.problem(node.Line, "runtime is %s, and the directory has no %s; write main: where the program is elsewhere", language,
		strings.Join(patterns, " and no "))
	return v.problems
}
