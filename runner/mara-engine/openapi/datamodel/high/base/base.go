// Package base has the types of schemas, without anything that fills them.
package base

import (
	"github.com/pb33f/libopenapi/orderedmap"
	"go.yaml.in/yaml/v4"
)

// Schema is the type of a value.
type Schema struct {
	Type                         []string
	Format, Pattern, Description string
	AllOf, OneOf, AnyOf          []*SchemaProxy
	Properties                   *orderedmap.Map[string, *SchemaProxy]
	Required                     []string
	Items                        *DynamicValue
	AdditionalProperties         *DynamicValue
	Discriminator                *Discriminator
	Enum                         []*yaml.Node
	Default                      *yaml.Node
	Minimum, Maximum, MultipleOf *float64
	MinLength, MaxLength         *int64
	Nullable, ReadOnly           *bool
	Extensions                   *orderedmap.Map[string, *yaml.Node]
}

// GoLow returns the source of a schema, which is always nil.
func (*Schema) GoLow() *Low { return nil }

// MarshalJSONInline returns a schema that allows everything.
func (*Schema) MarshalJSONInline() ([]byte, error) { return []byte("{}"), nil }

// Low is what a schema was read from.
type Low struct{}

// Hash tells schemas apart.
func (*Low) Hash() uint64 { return 0 }

// SchemaProxy is a schema, or a reference to one.
type SchemaProxy struct{}

// Schema returns nil.
func (*SchemaProxy) Schema() *Schema { return nil }

// IsReference reports whether it refers to another place.
func (*SchemaProxy) IsReference() bool { return false }

// GetReference returns the place that it refers to.
func (*SchemaProxy) GetReference() string { return "" }

// DynamicValue is a schema, or true or false.
type DynamicValue struct {
	A *SchemaProxy
}

// IsA reports whether it is a schema.
func (v *DynamicValue) IsA() bool { return v.A != nil }

// Discriminator says which of several schemas holds.
type Discriminator struct {
	PropertyName string
	Mapping      *orderedmap.Map[string, string]
}

// Info is about a whole description.
type Info struct{ Version string }
