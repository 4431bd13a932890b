package config

import "gopkg.in/yaml.v3"

// compose returns the content of a stack file with these values set, for Pulumi to read;
// comments may be lost. The rest of the file stays as it is.
func compose(file string, content []byte, entries []Entry) ([]byte, error) {
	root, err := decodeDocument(file, content)
	if err != nil {
		return nil, err
	}
	if root == nil {
		root = &yaml.Node{Kind: yaml.MappingNode}
	}
	values := configOf(root)
	for _, entry := range entries {
		var value yaml.Node
		if err := value.Encode(entry.Value); err != nil {
			return nil, err
		}
		setNode(values, entry.Key, &value)
	}
	text, err := marshal(root)
	return []byte(text), err
}

// configOf returns the map below config, and adds it if it is missing.
func configOf(root *yaml.Node) *yaml.Node {
	i := indexOfKey(root, "config")
	if i < 0 {
		i = len(root.Content)
		root.Content = append(root.Content, &yaml.Node{Kind: yaml.ScalarNode, Value: "config"}, &yaml.Node{})
	}
	if root.Content[i+1].Kind != yaml.MappingNode {
		root.Content[i+1] = &yaml.Node{Kind: yaml.MappingNode}
	}
	return root.Content[i+1]
}

// indexOfKey returns the index of a key in a map, or -1.
func indexOfKey(node *yaml.Node, key string) int {
	for i := 0; node != nil && i+1 < len(node.Content); i += 2 {
		if node.Content[i].Value == key {
			return i
		}
	}
	return -1
}

func setNode(values *yaml.Node, key string, value *yaml.Node) {
	for i := 0; i+1 < len(values.Content); i += 2 {
		if name, _ := normalKey(values.Content[i].Value); name == key {
			values.Content[i+1] = value
			return
		}
	}
	values.Content = append(values.Content, &yaml.Node{Kind: yaml.ScalarNode, Value: key}, value)
}
