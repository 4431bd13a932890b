// Package contract checks that the outputs that programs read exist: it finds the reads in
// programs in Pulumi YAML, and compares them with the exports of their owners. It does not
// parse programs in other languages.
package contract

import (
	"slices"
	"strings"

	"gopkg.in/yaml.v3"
)

// Place is a line of a file, as messages show it.
type Place struct {
	File string
	Line int // 0 for the whole file
}

// Program has the exports and reads of a program in Pulumi YAML.
type Program struct {
	Exports Exports
	Reads   []Read
}

// Exports are the outputs that a program exports.
type Exports struct {
	Place
	Names    []string
	Optional []string // that may be there or not, which a reader expects
}

// Read is a place in a program that reads an output of a stack.
type Read struct {
	Place
	Stack  string // the name of the stack in the program, perhaps with interpolations
	Output string
}

const (
	runtimeYAML   = "yaml"
	referenceType = "pulumi:pulumi:StackReference"
)

// ReadProgram parses the program of the project in a directory; shown is that directory in
// messages. ok is false if it is not in Pulumi YAML, if a compiler generates it, or if it
// cannot be read; the language host reports such errors.
func ReadProgram(dir, shown string) (program Program, ok bool) {
	source, err := ReadSource(dir, shown)
	if err != nil || source.Root == nil {
		return Program{}, false
	}
	return newProgram(source.sections(), source.File), true
}

// newProgram finds the exports and reads of a program.
func newProgram(sections map[string]*yaml.Node, file string) Program {
	p := parser{file: file, stacks: map[string]string{}, variables: map[string][]string{}}
	program := Program{Exports: Exports{Place: Place{File: file}}}
	if outputs := sections["outputs"]; outputs != nil {
		program.Exports.Line = outputs.Line
	}
	for key := range pairs(sections["outputs"]) {
		program.Exports.Names = append(program.Exports.Names, key.Value)
	}
	slices.Sort(program.Exports.Names)
	for key, resource := range pairs(sections["resources"]) {
		if entry(resource, "type") == referenceType {
			p.stacks[key.Value] = entry(valueOf(resource, "properties"), "name")
		}
	}
	for key, variable := range pairs(sections["variables"]) {
		if access := wholeAccess(variable.Value); access != nil {
			p.variables[key.Value] = access
		}
	}
	for _, name := range []string{"variables", "resources", "outputs"} {
		if sections[name] != nil {
			p.walk(sections[name])
		}
	}
	slices.SortStableFunc(p.reads, func(a, b Read) int { return a.Line - b.Line })
	program.Reads = p.reads
	return program
}

// parser collects the reads of a program.
type parser struct {
	file      string
	stacks    map[string]string   // the stack names in the program, by reference
	variables map[string][]string // the variables that are a plain property access
	reads     []Read
}

// walk collects the reads in a part of the program.
func (p *parser) walk(node *yaml.Node) {
	if node.Kind == yaml.ScalarNode {
		for _, access := range accessesIn(node.Value) {
			p.access(access, node.Line)
		}
		return
	}
	for key, value := range pairs(node) {
		if strings.EqualFold(key.Value, "fn::stackReference") && len(value.Content) == 2 {
			p.add(value.Content[0].Value, value.Content[1].Value, value.Content[1].Line)
		}
	}
	for _, part := range node.Content {
		p.walk(part)
	}
}

// access records an access to an output of a reference, ${reference.outputs["name"]},
// directly or through variables.
func (p *parser) access(access []string, line int) {
	for range len(p.variables) + 1 { // variables may refer to other variables, but not in cycles
		if behind, ok := p.variables[access[0]]; ok {
			access = slices.Concat(behind, access[1:])
		}
	}
	if stack, ok := p.stacks[access[0]]; ok && len(access) > 2 && access[1] == "outputs" {
		p.add(stack, access[2], line)
	}
}

func (p *parser) add(stack, output string, line int) {
	if stack != "" && output != "" && !strings.Contains(output, "${") {
		p.reads = append(p.reads, Read{Place: Place{File: p.file, Line: line}, Stack: stack, Output: output})
	}
}

// pairs yields the keys of a mapping with their values.
func pairs(node *yaml.Node) func(yield func(key, value *yaml.Node) bool) {
	return func(yield func(key, value *yaml.Node) bool) {
		if node == nil || node.Kind != yaml.MappingNode {
			return
		}
		for i := 0; i+1 < len(node.Content); i += 2 {
			if !yield(node.Content[i], node.Content[i+1]) {
				return
			}
		}
	}
}

// valueOf returns the value of a key in a mapping, nil if there is none.
func valueOf(node *yaml.Node, name string) *yaml.Node {
	for key, value := range pairs(node) {
		if key.Value == name {
			return value
		}
	}
	return nil
}

// entry returns the string that a key has in a mapping.
func entry(node *yaml.Node, name string) string {
	if value := valueOf(node, name); value != nil && value.Kind == yaml.ScalarNode {
		return value.Value
	}
	return ""
}

// StackName replaces the interpolations in a stack's name. ok is false if the value of one
// is missing.
func StackName(template string, values map[string]string) (name string, ok bool) {
	var b strings.Builder
	ok = true
	eachPart(template, func(c byte) { b.WriteByte(c) }, func(access []string, _ string) {
		value, known := values[strings.Join(access, ".")]
		b.WriteString(value)
		ok = ok && known
	})
	if !ok {
		return "", false
	}
	return b.String(), true
}
