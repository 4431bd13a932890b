package simulate

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/url"
	"strings"
)

// schema is what Pulumi's schema of a package says of inputs and outputs.
// https://www.pulumi.com/docs/iac/guides/building-extending/packages/schema/
type schema struct {
	Name, Version string
	Meta          struct{ ModuleFormat string }

	Config    struct{ Variables map[string]*typeSpec }
	Provider  class
	Resources map[string]class
	Types     map[string]*typeSpec
	Functions map[string]function

	takesNumber func(path string) bool // of Package; nil for none
}

// class is a type of resources.
type class struct {
	IsComponent     bool
	InputProperties map[string]*typeSpec
	RequiredInputs  []string
	Properties      map[string]*typeSpec
	Required        []string
}

type function struct{ Inputs, Outputs typeSpec }

// typeSpec is a type, or a property with its type. One without anything takes
// any value.
type typeSpec struct {
	Type                 string
	Ref                  string `json:"$ref"`
	Items                *typeSpec
	AdditionalProperties *typeSpec
	OneOf                []*typeSpec
	Properties           map[string]*typeSpec
	Required             []string
	Enum                 []struct{ Value any }

	// Of properties.
	Const                any
	Secret               bool
	ReplaceOnChanges     bool
	WillReplaceOnChanges bool

	name string // of a type that has a token: "ClusterVpcConfig"
}

func parseSchema(text []byte) (*schema, error) {
	var s schema
	if err := json.Unmarshal(text, &s); err != nil {
		return nil, fmt.Errorf("this is not the schema of a Pulumi package: %w", err)
	}
	for token, t := range s.Types {
		t.name = token[strings.LastIndex(token, ":")+1:]
	}
	return &s, nil
}

var (
	anything = &typeSpec{}
	anyAsset = &typeSpec{Type: "asset"}
)

// resolve follows references. What another package describes takes any value.
func (s *schema) resolve(t *typeSpec) *typeSpec {
	for t.Ref != "" {
		if t.Ref == "pulumi.json#/Asset" || t.Ref == "pulumi.json#/Archive" {
			return anyAsset
		}
		token, err := url.PathUnescape(strings.TrimPrefix(t.Ref, "#/types/"))
		found := s.Types[token]
		if err != nil || found == nil {
			return anything
		}
		t = found
	}
	return t
}

// isObject reports whether the type is an object with known properties, not a map.
func (t *typeSpec) isObject() bool { return t.Type == "object" && t.AdditionalProperties == nil }

// fields are the properties of one object, by name: the inputs of a type of
// resources, say.
type fields struct {
	schema   *schema
	types    map[string]*typeSpec
	required []string
	open     bool // takes properties that are not listed, too
	only     bool // nothing else is known of what has these properties
	converts bool // takes scalars of other types, as a bridged provider does
}

// unchecked are the fields of what no schema describes.
var unchecked = fields{schema: &schema{}, open: true}

func (s *schema) inputs(c class) fields {
	return fields{schema: s, types: c.InputProperties, required: c.RequiredInputs}
}

func (s *schema) outputs(c class) fields {
	return fields{schema: s, types: c.Properties, required: c.Required}
}

// of returns the properties of an object type. A type that lists none, as in
// {"type": "object"}, takes any.
func (s *schema) of(t *typeSpec) fields {
	return fields{schema: s, types: t.Properties, required: t.Required, open: t.name == "" && t.Properties == nil}
}

// config returns the settings of a provider.
func (s *schema) config() fields {
	all := map[string]*typeSpec{}
	maps.Copy(all, s.Config.Variables)
	maps.Copy(all, s.Provider.InputProperties)
	return fields{schema: s, types: all, required: s.Provider.RequiredInputs}
}

// marked lists the properties for which is returns true.
func (f fields) marked(is func(*typeSpec) bool) []string {
	var marked []string
	for _, name := range names(f.types) {
		if is(f.types[name]) {
			marked = append(marked, name)
		}
	}
	return marked
}

func isSecret(t *typeSpec) bool { return t.Secret }

func replaces(t *typeSpec) bool { return t.ReplaceOnChanges || t.WillReplaceOnChanges }
