// Package v3 has the types of descriptions of APIs, without anything that fills
// them.
package v3

import (
	"github.com/pb33f/libopenapi/datamodel/high/base"
	"github.com/pb33f/libopenapi/orderedmap"
	"go.yaml.in/yaml/v4"
)

// Document is a description.
type Document struct {
	Info       *base.Info
	Components *Components
	Paths      *Paths
}

// Components are schemas with names.
type Components struct {
	Schemas *orderedmap.Map[string, *base.SchemaProxy]
}

// Paths are what can be asked.
type Paths struct {
	PathItems *orderedmap.Map[string, *PathItem]
}

// PathItem is one path, with its methods.
type PathItem struct{ Get, Post, Put, Delete, Patch, Head *Operation }

// Operation is one method of a path.
type Operation struct {
	Tags                              []string
	OperationId, Summary, Description string
	Parameters                        []*Parameter
	RequestBody                       *RequestBody
	Responses                         *Responses
	Deprecated                        *bool
	Extensions                        *orderedmap.Map[string, *yaml.Node]
}

// Parameter is one of an operation.
type Parameter struct {
	Name, In, Description string
	Required              *bool
	Schema                *base.SchemaProxy
}

// RequestBody is what is sent.
type RequestBody struct {
	Content *orderedmap.Map[string, *MediaType]
}

// MediaType is one form of what is sent.
type MediaType struct{ Schema *base.SchemaProxy }

// Responses are what may come back, by status.
type Responses struct {
	Codes   *orderedmap.Map[string, *Response]
	Default *Response
}

// Response is what comes back.
type Response struct {
	Description string
	Content     *orderedmap.Map[string, *MediaType]
}
