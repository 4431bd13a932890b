package contract

import (
	"slices"
	"strings"

	"gopkg.in/yaml.v3"
)

// Use is a resource or a call of a function in a program: what is written to it, and what is read of it.
type Use struct {
	Token    string // its type, or the function
	Function bool
	Written  []string   // names of inputs
	Read     [][]string // paths into its outputs, such as ["website", "url"]; a list's index is a number
}

// Uses returns the resources and the calls in a program.
func (s Source) Uses() []Use {
	u := users{variables: map[string][]string{}, reads: map[string][][]string{}}
	parts := s.parts()
	for _, part := range parts {
		for key, variable := range pairs(valueOf(part, "variables")) {
			if access := wholeAccess(variable.Value); access != nil {
				u.variables[key.Value] = access
			}
		}
	}
	if s.Root != nil {
		u.collect(s.Root)
	}
	for _, part := range parts {
		for key, resource := range pairs(valueOf(part, "resources")) {
			use := Use{Token: entry(resource, "type"), Read: u.reads[key.Value]}
			for _, written := range []*yaml.Node{valueOf(resource, "properties"), valueOf(valueOf(resource, "get"), "state")} {
				use.Written = append(use.Written, keysOf(written)...)
			}
			u.uses = append(u.uses, use)
		}
		for key, variable := range pairs(valueOf(part, "variables")) {
			u.calls(variable, u.reads[key.Value])
		}
		for _, name := range []string{"resources", "outputs"} {
			if section := valueOf(part, name); section != nil {
				u.calls(section, nil)
			}
		}
	}
	return slices.DeleteFunc(u.uses, func(use Use) bool {
		return !strings.Contains(use.Token, ":") || strings.HasPrefix(use.Token, "pulumi:")
	})
}

// parts returns what has resources: the program, and the components in it.
func (s Source) parts() []*yaml.Node {
	parts := []*yaml.Node{s.Root}
	for _, component := range pairs(valueOf(s.Root, "components")) {
		parts = append(parts, component)
	}
	return parts
}

// Imports returns the resources that a program imports into its state, by name.
func (s Source) Imports() (found []Token) {
	for _, part := range s.parts() {
		for key, resource := range pairs(valueOf(part, "resources")) {
			if id := valueOf(valueOf(resource, "options"), "import"); id != nil {
				found = append(found, Token{key.Value, id.Line})
			}
		}
	}
	return found
}

// users collects the uses of a program.
type users struct {
	variables map[string][]string   // the variables that are a plain property access
	reads     map[string][][]string // by the name of a resource or a variable
	uses      []Use
}

// collect finds what is read of each name.
func (u *users) collect(node *yaml.Node) {
	if node.Kind == yaml.ScalarNode {
		for _, access := range accessesIn(node.Value) {
			for range len(u.variables) + 1 { // variables may refer to other variables, but not in cycles
				if behind, ok := u.variables[access[0]]; ok {
					access = slices.Concat(behind, access[1:])
				}
			}
			if len(access) > 1 {
				u.reads[access[0]] = append(u.reads[access[0]], access[1:])
			}
		}
	}
	for _, part := range node.Content {
		u.collect(part)
	}
}

// calls finds the calls in a value; read is what is read of the value itself.
func (u *users) calls(node *yaml.Node, read [][]string) {
	for key, value := range pairs(node) {
		name, isCall := cutPrefixFold(key.Value, "fn::")
		switch {
		case isCall && strings.EqualFold(name, "invoke"):
			use := Use{Function: true}
			given := ""
			for part, content := range pairs(value) {
				switch strings.ToLower(part.Value) {
				case "function":
					use.Token = content.Value
				case "arguments":
					use.Written = keysOf(content)
				case "return":
					given = content.Value
				}
			}
			use.Read = read
			if given != "" {
				use.Read = [][]string{{given}}
				for _, path := range read {
					use.Read = append(use.Read, append([]string{given}, path...))
				}
			}
			u.uses = append(u.uses, use)
		case isCall:
			u.uses = append(u.uses, Use{Token: name, Function: true, Written: keysOf(value), Read: read})
		}
	}
	for _, part := range node.Content {
		u.calls(part, nil)
	}
}

// keysOf returns the keys of a mapping; none of another value.
func keysOf(node *yaml.Node) (keys []string) {
	for key := range pairs(node) {
		keys = append(keys, key.Value)
	}
	return keys
}
