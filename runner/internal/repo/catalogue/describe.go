package catalogue

import (
	"bytes"
	"fmt"

	"gopkg.in/yaml.v3"

	"mara/config"
	"mara/projects/model"
	"mara/providers"
)

// Describe returns a mara.yaml with a provider that has the same plan. It includes the settings
// of own projects from mara.yaml.
func Describe(p providers.Provider) (string, error) {
	provider := document{}
	provider.add("title", p.Title)
	if base := p.InfraType(); isBuiltIn(base) {
		provider.add("extends", base)
	}
	name := p.Name
	if isBuiltIn(name) {
		name = "my-" + name
	}
	var steps []*yaml.Node
	for _, step := range p.Steps {
		steps = append(steps, describeStep(step))
	}
	provider.addNode("projects", &yaml.Node{Kind: yaml.SequenceNode, Content: steps})
	var b bytes.Buffer
	fmt.Fprintf(&b, "# The plan of %s, as a provider of your own. Change the list, add projects with path: DIR,\n"+
		"# or leave the list out: then the provider has the projects of the one that it extends.\n", p.Name)
	encoder := yaml.NewEncoder(&b)
	encoder.SetIndent(2)
	root, named := document{}, document{}
	named.addNode(name, &provider.Node)
	root.addNode("providers", &named.Node)
	err := encoder.Encode(&root.Node)
	return b.String(), err
}

func isBuiltIn(name string) bool {
	_, err := providers.ByName(name)
	return err == nil
}

func describeStep(step providers.Step) *yaml.Node {
	d := document{}
	p := step.Project
	if p.Own == nil {
		d.add("project", p.Name)
	} else {
		d.add("git", p.Own.Git)
		d.add("ref", p.Own.Ref)
		d.add("path", p.Own.Path)
		d.add("title", p.Title)
	}
	d.add("phase", step.Phase)
	d.addList("reads", step.Reads)
	d.addList("after", step.After)
	if p.Own != nil {
		describeOwn(&d, p)
	}
	return &d.Node
}

// describeOwn adds the settings of a project that only mara.yaml has.
func describeOwn(d *document, p model.Project) {
	d.add("when", p.Own.When)
	d.add("stack", p.Own.Stack)
	if p.Own.StackFiles != "" {
		d.add("stackFile", config.OwnStackFile)
	}
	var names []string
	for _, output := range p.Outputs {
		names = append(names, output.Name)
	}
	d.addList("outputs", names)
	if p.Own.Timeout > 0 {
		d.add("timeout", p.Own.Timeout.String())
	}
	if p.Estimate > 0 {
		d.add("estimate", p.Estimate.String())
	}
	describeHooks(d, p.Hooks)
}

func describeHooks(d *document, hooks []model.Hook) {
	list := &yaml.Node{Kind: yaml.SequenceNode}
	for _, hook := range hooks {
		if hook.Command == nil {
			list.Content = append(list.Content, text(hook.Name))
			continue
		}
		h := document{}
		h.add("name", hook.Name)
		h.add("on", string(hook.On))
		var operations []string
		for _, op := range hook.Operations {
			operations = append(operations, string(op))
		}
		h.addList("operations", operations)
		h.addList("run", hook.Command)
		if hook.Timeout > 0 {
			h.add("timeout", hook.Timeout.String())
		}
		if hook.Retry > 0 {
			h.addNode("retry", &yaml.Node{Kind: yaml.ScalarNode, Value: fmt.Sprint(hook.Retry)})
		}
		if hook.Simulate {
			h.addNode("simulate", &yaml.Node{Kind: yaml.ScalarNode, Value: "true"})
		}
		list.Content = append(list.Content, &h.Node)
	}
	if len(list.Content) > 0 {
		d.addNode("hooks", list)
	}
}

// document is a map that keeps the order of its keys.
type document struct{ yaml.Node }

func (d *document) addNode(key string, value *yaml.Node) {
	d.Kind = yaml.MappingNode
	d.Content = append(d.Content, text(key), value)
}

// add adds a string, unless it is empty.
func (d *document) add(key, value string) {
	if value != "" {
		d.addNode(key, text(value))
	}
}

// addList adds a list on one line, unless it is empty.
func (d *document) addList(key string, values []string) {
	if len(values) > 0 {
		list := &yaml.Node{Kind: yaml.SequenceNode, Style: yaml.FlowStyle}
		for _, value := range values {
			list.Content = append(list.Content, text(value))
		}
		d.addNode(key, list)
	}
}

func text(value string) *yaml.Node {
	node := &yaml.Node{}
	node.SetString(value)
	return node
}
