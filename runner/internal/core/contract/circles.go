package contract

import (
	"slices"
	"strings"

	"gopkg.in/yaml.v3"
)

// circles reports variables and resources that need themselves, perhaps by way of others: nothing can make the first. A name that
// is configured as well stands for that value while there is no other.
func (v *validator) circles(root *yaml.Node, configured map[string]bool) {
	var names []*yaml.Node
	needs := map[string][]string{}
	for _, section := range []string{"variables", "resources"} {
		for name, value := range pairs(valueOf(root, section)) {
			names = append(names, name)
			needs[name.Value] = slices.DeleteFunc(named(value), func(needed string) bool { return configured[needed] })
		}
	}
	reported := map[string]bool{}
	for _, name := range names {
		circle := circleFrom(name.Value, needs)
		if circle == nil || slices.ContainsFunc(circle, func(part string) bool { return reported[part] }) {
			continue
		}
		for _, part := range circle {
			reported[part] = true
		}
		v.problem(name.Line, "%s needs itself: %s", name.Value, strings.Join(circle, " -> "))
	}
}

// named lists the names to which a part of a program refers.
func named(node *yaml.Node) (names []string) {
	if node.Kind == yaml.ScalarNode {
		for _, access := range accessesIn(node.Value) {
			names = append(names, access[0])
		}
	}
	for _, part := range node.Content {
		names = append(names, named(part)...)
	}
	return names
}

// circleFrom returns a way from a name to itself, with the name at both ends; nil if there is none.
func circleFrom(start string, needs map[string][]string) []string {
	visited := map[string]bool{}
	var walk func(path []string) []string
	walk = func(path []string) []string {
		for _, next := range needs[path[len(path)-1]] {
			if next == start {
				return append(path, start)
			}
			if visited[next] {
				continue
			}
			visited[next] = true
			if circle := walk(append(slices.Clone(path), next)); circle != nil {
				return circle
			}
		}
		return nil
	}
	return walk([]string{start})
}

// arguments reports functions of Pulumi YAML whose argument is not the list of two that they take.
func (v *validator) arguments(node *yaml.Node) {
	if node == nil {
		return
	}
	for key, argument := range pairs(node) {
		takesTwo := slices.Contains([]string{"fn::join", "fn::select", "fn::split", "fn::stackreference"}, strings.ToLower(key.Value))
		isTwo := argument.Kind == yaml.SequenceNode && len(argument.Content) == 2
		if takesTwo && !isTwo && argument.Kind != yaml.AliasNode && len(node.Content) == 2 {
			v.problem(key.Line, "%s takes a list of two values", key.Value)
		}
	}
	for _, part := range node.Content {
		v.arguments(part)
	}
}

// Mentions reports whether a text is anywhere in a program or its description.
func (s Source) Mentions(text string) bool {
	return mentions(s.Root, text) || mentions(s.Description, text)
}

func mentions(node *yaml.Node, text string) bool {
	if node == nil {
		return false
	}
	return strings.Contains(node.Value, text) || slices.ContainsFunc(node.Content, func(part *yaml.Node) bool { return mentions(part, text) })
}
