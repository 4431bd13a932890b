package config

import "gopkg.in/yaml.v3"

// Eject returns mara.yaml with a project in the place of an application. Comments stay. The content is valid: see
// ParseMara.
func Eject(content []byte, name string, p MaraProject) ([]byte, error) {
	var document yaml.Node // with the comments at the top
	if err := yaml.Unmarshal(content, &document); err != nil {
		return nil, err
	}
	root := document.Content[0]
	applications := Child(root, "applications")
	RemoveChild(applications, name)
	if len(applications.Content) == 0 {
		RemoveChild(root, "applications")
	}
	project := struct {
		Path    string   `yaml:"path"`
		Reads   []string `yaml:"reads,flow,omitempty"`
		After   []string `yaml:"after,flow,omitempty"`
		Outputs []string `yaml:"outputs,flow,omitempty"`
	}{p.Path.Text, Words(p.Reads), Words(p.After), Words(p.Outputs)}
	item := &yaml.Node{}
	if err := item.Encode(project); err != nil {
		return nil, err
	}
	list := Child(root, "projects")
	if list == nil || list.Kind != yaml.SequenceNode {
		list = &yaml.Node{Kind: yaml.SequenceNode, Tag: "!!seq"}
		SetChild(root, "projects", list)
	}
	list.Style = 0
	list.Content = append(list.Content, item)
	return Document{&document}.Bytes()
}
