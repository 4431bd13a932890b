package simulate

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"github.com/pulumi/pulumi/sdk/v3/go/common/resource"

	"mara/config/lists"
)

// catalogue is all that is known of a package's types.
type catalogue struct {
	pkg     Package
	schemas []*schema
}

// described is a type of resources with its inputs and outputs.
type described struct {
	Resource
	inputs, outputs fields
	secrets         []string // names of outputs
}

// call is a function with its arguments and results.
type call struct {
	Invoke
	inputs, outputs fields
}

// newCatalogue reads the schemas. Behaviour of a type that they do not have is
// an error: it would never be seen.
func newCatalogue(pkg Package) (catalogue, error) {
	c := catalogue{pkg: pkg}
	for _, text := range pkg.Schemas {
		s, err := parseSchema(text)
		if err != nil {
			return c, fmt.Errorf("the simulated %s: %w", pkg.Name, err)
		}
		s.takesNumber = pkg.TakesNumber
		c.schemas = append(c.schemas, s)
	}
	for _, r := range pkg.Resources {
		if _, ok := c.class(r.like()); !ok {
			return c, fmt.Errorf("the schema of the simulated %s has no %s", pkg.Name, r.like())
		}
	}
	for _, i := range pkg.Invokes {
		if _, ok := c.function(i.Token); !ok {
			return c, fmt.Errorf("the schema of the simulated %s has no function %s", pkg.Name, i.Token)
		}
	}
	return c, nil
}

func (r Resource) like() string {
	return cmp.Or(r.Like, r.Token)
}

// isChecked reports whether there are rules.
func (c catalogue) isChecked() bool { return len(c.schemas) > 0 }

func (c catalogue) version() string {
	versions := lists.Map(c.schemas, func(s *schema) string { return s.Version })
	return cmp.Or(append(versions, newest)...)
}

// newest is the version of an unknown package. It is high enough for any program:
// Pulumi warns about a plugin that is too old.
const newest = "99999.0.0"

func (c catalogue) config() fields {
	if !c.isChecked() {
		return unchecked
	}
	return c.schemas[c.largest()].config()
}

// largest returns the index of the schema with the most types.
func (c catalogue) largest() int {
	largest := 0
	for i, s := range c.schemas {
		if len(s.Resources) >= len(c.schemas[largest].Resources) {
			largest = i
		}
	}
	return largest
}

// class finds what a schema says of a type.
func (c catalogue) class(token string) (described, bool) {
	for _, s := range c.schemas {
		if found, ok := s.Resources[token]; ok {
			d := described{inputs: s.inputs(found), outputs: s.outputs(found)}
			d.inputs.converts = s.isBridged() && !slices.Contains(c.pkg.Native, token)
			return d, true
		}
	}
	return described{inputs: unchecked, outputs: unchecked}, !c.isChecked() || c.pkg.TakesUnknown
}

// isUnknown reports whether a type is answered although no schema has it.
func (c catalogue) isUnknown(token string) bool {
	return c.pkg.TakesUnknown && !slices.ContainsFunc(c.schemas, func(s *schema) bool {
		_, ok := s.Resources[token]
		return ok
	})
}

// resource describes a type.
func (c catalogue) resource(token string) (described, bool) {
	r, known := c.behaviour(token)
	d, ok := c.class(r.like())
	d.Resource, d.outputs.only = r, !known
	if r.Like != "" {
		d.inputs.open, d.outputs.open = true, true
	}
	d.secrets = d.outputs.marked(isSecret)
	d.ReplaceOn = slices.Concat(r.ReplaceOn, d.inputs.marked(replaces))
	return d, ok
}

func (c catalogue) behaviour(token string) (r Resource, known bool) {
	if r, ok := lists.Find(c.pkg.Resources, func(r Resource) bool { return r.Token == token }); ok {
		return r, true
	}
	if c.pkg.Dynamic != nil {
		if r, ok := c.pkg.Dynamic(token); ok {
			return r, true
		}
	}
	return Ordinary(token), false
}

// Ordinary returns the behaviour of a resource of which only the type is known.
func Ordinary(token string) Resource {
	return Resource{
		Token: token, Latency: Latency{Create: 5 * time.Second, Update: 3 * time.Second, Delete: 2 * time.Second},
		ID: func(o Object) string { return o.Name() + "-" + o.Hex("id", 7) },
	}
}

// resources lists the tokens of all types, except dynamic ones.
func (c catalogue) resources() []string {
	return slices.Concat(lists.Map(c.schemas, func(s *schema) []string { return names(s.Resources) })...)
}

// function describes a function.
func (c catalogue) function(token string) (call, bool) {
	invoke, known := lists.Find(c.pkg.Invokes, func(i Invoke) bool { return i.Token == token })
	invoke.Token = token
	f := call{Invoke: invoke, inputs: unchecked, outputs: unchecked}
	for _, s := range c.schemas {
		if found, ok := s.Functions[token]; ok {
			f.inputs = fields{
				schema: s, types: found.Inputs.Properties, required: found.Inputs.Required, converts: s.isBridged(),
			}
			f.outputs = s.of(s.resolve(&found.Outputs))
			f.outputs.only = !known
			f.Secrets = slices.Concat(f.Secrets, f.outputs.marked(isSecret))
			return f, true
		}
	}
	return f, !c.isChecked() || c.pkg.TakesUnknown
}

func (c catalogue) functions() []string {
	return slices.Concat(lists.Map(c.schemas, func(s *schema) []string { return names(s.Functions) })...)
}

// answer makes the result of a function.
func (f call) answer(o Object) (resource.PropertyMap, error) {
	result := o.generated(f.outputs)
	for name, value := range o.inputs {
		if v, ok := f.outputs.taken(o, name, resource.NewPropertyValue(value)); ok {
			result[resource.PropertyKey(name)] = v
		}
	}
	if f.Answer != nil {
		values, err := f.Answer(o)
		if err != nil {
			return nil, err
		}
		result = overlay(result, values)
	}
	conceal(result, f.Secrets)
	return result, nil
}
