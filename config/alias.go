package config

import (
	"fmt"

	"gopkg.in/yaml.v3"
)

// mostNodes limits what aliases may expand to: a few lines of nested aliases can stand for billions of values.
const mostNodes = 100_000

// Expand returns a document in which each alias is replaced by what it stands for, and each merge (<<) by the keys that
// it adds. Nodes keep the lines where they are written. The error is about an alias within its own value, or about more
// values than a configuration has.
func Expand(root *yaml.Node) (*yaml.Node, error) {
	e := expansion{open: map[*yaml.Node]bool{}}
	if !e.hasAlias(root) {
		return root, nil
	}
	return e.node(root)
}

// expansion replaces aliases, and counts what it makes.
type expansion struct {
	open map[*yaml.Node]bool // anchors that are being expanded
	made int
}

func (e *expansion) hasAlias(node *yaml.Node) bool {
	if node.Kind == yaml.AliasNode || node.Tag == "!!merge" {
		return true
	}
	for _, child := range node.Content {
		if e.hasAlias(child) {
			return true
		}
	}
	return false
}

func (e *expansion) node(node *yaml.Node) (*yaml.Node, error) {
	if e.made++; e.made > mostNodes {
		return nil, fmt.Errorf("line %d: its aliases stand for more than %d values", node.Line, mostNodes)
	}
	if node.Kind == yaml.AliasNode {
		if e.open[node.Alias] {
			return nil, fmt.Errorf("line %d: the alias *%s stands within its own value", node.Line, node.Value)
		}
		return e.node(node.Alias)
	}
	if node.Anchor != "" {
		e.open[node] = true
		defer delete(e.open, node)
	}
	made := *node
	made.Anchor, made.Content = "", make([]*yaml.Node, 0, len(node.Content))
	for _, child := range node.Content {
		expanded, err := e.node(child)
		if err != nil {
			return nil, err
		}
		made.Content = append(made.Content, expanded)
	}
	if node.Kind == yaml.MappingNode {
		merge(&made)
	}
	return &made, nil
}

// merge replaces the merge keys of a map by what they add. A merge of something else than maps stays, as an error.
func merge(node *yaml.Node) {
	var own, added []*yaml.Node
	for i := 0; i+1 < len(node.Content); i += 2 {
		key, value := node.Content[i], node.Content[i+1]
		from := []*yaml.Node{value}
		if value.Kind == yaml.SequenceNode {
			from = value.Content
		}
		if key.Tag != "!!merge" || !allMaps(from) {
			own = append(own, key, value)
			continue
		}
		for _, pairs := range from {
			added = append(added, pairs.Content...)
		}
	}
	seen := map[string]bool{}
	for i := 0; i < len(own); i += 2 {
		seen[own[i].Value] = true
	}
	for i := 0; i+1 < len(added); i += 2 {
		if !seen[added[i].Value] {
			seen[added[i].Value] = true
			own = append(own, added[i], added[i+1])
		}
	}
	node.Content = own
}

func allMaps(nodes []*yaml.Node) bool {
	for _, node := range nodes {
		if node.Kind != yaml.MappingNode {
			return false
		}
	}
	return true
}
