package schemas_test

import (
	"os"
	"reflect"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/pulumi/pulumi/pkg/v3/codegen/schema"
	"github.com/pulumi/pulumi/sdk/v3/go/pulumi"
)

// sdk makes a package's schema from the Go types of its SDK.
type sdk struct {
	t       testing.TB
	name    string
	root    string            // import path of the types in the module "index"
	modules map[string]string // of other import paths
	bridged bool              // module tokens repeat the name: aws:eks/cluster:Cluster
	spec    schema.PackageSpec
}

// part is a provider, a resource type or a function of an SDK.
type part func(s *sdk)

// typed is the type behind an SDK's arguments.
type typed interface{ ElementType() reflect.Type }

// provider has the configuration of a package. The version of the SDK is in
// the path of the source.
func provider[A typed, S any](construct func(*pulumi.Context, string, *A, ...pulumi.ResourceOption) (*S, error)) part {
	return func(s *sdk) {
		var args A
		s.root = reflect.TypeFor[A]().PkgPath()
		path, _ := s.source(construct)
		if found := regexp.MustCompile(`@v([^/]+)/`).FindStringSubmatch(path); found != nil {
			s.spec.Version = found[1]
		}
		inputs := s.object(args.ElementType())
		s.spec.Provider = &schema.ResourceSpec{InputProperties: inputs.Properties, RequiredInputs: inputs.Required}
	}
}

// resource returns a type with its constructor, whose source says what types do not: which
// lists and maps are required, what is constant and what is secret.
func resource[A typed, S any](token string, construct func(*pulumi.Context, string, *A, ...pulumi.ResourceOption) (*S, error)) part {
	return func(s *sdk) {
		var args A
		s.learnModule(token, reflect.TypeFor[A]().PkgPath())
		inputs, outputs := s.object(args.ElementType()), s.object(reflect.TypeFor[S]())
		_, source := s.source(construct)
		amend(&inputs, &outputs, args.ElementType(), source)
		s.spec.Resources[token] = schema.ResourceSpec{
			ObjectTypeSpec: outputs, InputProperties: inputs.Properties, RequiredInputs: inputs.Required,
		}
	}
}

// component returns a component of a provider, whose one output lists its resources.
func component[A any](token string) part {
	return func(s *sdk) {
		inputs := s.object(reflect.TypeFor[A]())
		all := schema.TypeSpec{Type: "array", Items: &schema.TypeSpec{Ref: "pulumi.json#/Any"}}
		s.spec.Resources[token] = schema.ResourceSpec{
			IsComponent: true, InputProperties: inputs.Properties, RequiredInputs: inputs.Required,
			ObjectTypeSpec: schema.ObjectTypeSpec{Type: "object", Properties: map[string]schema.PropertySpec{"resources": {TypeSpec: all}}},
		}
	}
}

// function returns a function of a provider.
func function[A, R any](token string, _ func(*pulumi.Context, *A, ...pulumi.InvokeOption) (*R, error)) part {
	return func(s *sdk) {
		inputs, outputs := s.object(reflect.TypeFor[A]()), s.object(reflect.TypeFor[R]())
		s.spec.Functions[token] = schema.FunctionSpec{Inputs: &inputs, Outputs: &outputs}
	}
}

// learnModule remembers which module the types beside a resource are in.
func (s *sdk) learnModule(token, path string) {
	module, _, _ := strings.Cut(strings.TrimPrefix(token, s.name+":"), ":")
	if s.bridged {
		module, _, _ = strings.Cut(module, "/")
	}
	s.modules[path] = module
}

// object lists the properties of a struct with `pulumi` tags. A plain value is
// required, a pointer is optional. Of lists, maps and interfaces the type does
// not tell.
func (s *sdk) object(t reflect.Type) schema.ObjectTypeSpec {
	object := schema.ObjectTypeSpec{Type: "object", Properties: map[string]schema.PropertySpec{}}
	for i := range t.NumField() {
		name, options, _ := strings.Cut(t.Field(i).Tag.Get("pulumi"), ",")
		if name == "" {
			continue
		}
		ft := elementType(t.Field(i).Type)
		object.Properties[name] = schema.PropertySpec{TypeSpec: s.typeSpec(ft)}
		if isPlain(ft) && options != "optional" {
			object.Required = append(object.Required, name)
		}
	}
	slices.Sort(object.Required)
	return object
}

func isPlain(t reflect.Type) bool {
	switch t.Kind() {
	case reflect.Pointer, reflect.Slice, reflect.Map, reflect.Interface:
		return false
	}
	return true
}

// elementType returns the type behind one of the SDK's outputs or inputs, such as string
// behind pulumi.StringOutput, and any other type unchanged.
func elementType(t reflect.Type) reflect.Type {
	if t.Kind() == reflect.Interface || t.Kind() == reflect.Pointer {
		return t
	}
	found, ok := reflect.Zero(t).Interface().(typed)
	if !ok {
		return t
	}
	return found.ElementType()
}

func (s *sdk) typeSpec(t reflect.Type) schema.TypeSpec {
	switch t {
	case reflect.TypeFor[pulumi.Asset](), reflect.TypeFor[pulumi.AssetOrArchive]():
		return schema.TypeSpec{Ref: "pulumi.json#/Asset"}
	case reflect.TypeFor[pulumi.Archive]():
		return schema.TypeSpec{Ref: "pulumi.json#/Archive"}
	}
	switch t.Kind() {
	case reflect.Pointer:
		return s.typeSpec(t.Elem())
	case reflect.String:
		return schema.TypeSpec{Type: "string"}
	case reflect.Bool:
		return schema.TypeSpec{Type: "boolean"}
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		return schema.TypeSpec{Type: "integer"}
	case reflect.Float32, reflect.Float64:
		return schema.TypeSpec{Type: "number"}
	case reflect.Slice, reflect.Array:
		item := s.typeSpec(t.Elem())
		return schema.TypeSpec{Type: "array", Items: &item}
	case reflect.Map:
		item := s.typeSpec(t.Elem())
		return schema.TypeSpec{Type: "object", AdditionalProperties: &item}
	case reflect.Struct:
		return schema.TypeSpec{Ref: "#/types/" + strings.ReplaceAll(s.declare(t), "/", "%2F")}
	}
	return schema.TypeSpec{Ref: "pulumi.json#/Any"}
}

// declare adds a type to the schema, once, and returns its token.
func (s *sdk) declare(t reflect.Type) string {
	module, ok := s.modules[t.PkgPath()]
	if !ok {
		module = strings.TrimPrefix(strings.TrimPrefix(t.PkgPath(), s.root), "/")
	}
	if module == "" {
		module = "index"
	}
	if s.bridged {
		module += "/" + t.Name()
	}
	token := s.name + ":" + module + ":" + t.Name()
	if _, known := s.spec.Types[token]; !known {
		s.spec.Types[token] = schema.ComplexTypeSpec{} // it may refer to itself
		s.spec.Types[token] = schema.ComplexTypeSpec{ObjectTypeSpec: s.object(t)}
	}
	return token
}

var (
	requiredArgument = regexp.MustCompile(`required argument '(\w+)'`)
	constantArgument = regexp.MustCompile(`(?m)^\targs\.(\w+) = pulumi\.String(?:Ptr)?\("([^"]*)"\)`)
	secretArgument   = regexp.MustCompile(`args\.(\w+) = pulumi\.ToSecret\(`)
	secretOutputs    = regexp.MustCompile(`AdditionalSecretOutputs\(\[\]string\{([^}]*)\}`)
	quoted           = regexp.MustCompile(`"([^"]+)"`)
)

// amend adds what the source of a constructor tells.
func amend(inputs, outputs *schema.ObjectTypeSpec, args reflect.Type, source string) {
	for _, found := range requiredArgument.FindAllStringSubmatch(source, -1) {
		inputs.Required = append(inputs.Required, propertyOf(args, found[1]))
	}
	slices.Sort(inputs.Required)
	inputs.Required = slices.Compact(inputs.Required)
	for _, found := range constantArgument.FindAllStringSubmatch(source, -1) {
		change(inputs, propertyOf(args, found[1]), func(p *schema.PropertySpec) { p.Const = found[2] })
	}
	for _, found := range secretArgument.FindAllStringSubmatch(source, -1) {
		change(inputs, propertyOf(args, found[1]), func(p *schema.PropertySpec) { p.Secret = true })
	}
	for _, list := range secretOutputs.FindAllStringSubmatch(source, -1) {
		for _, name := range quoted.FindAllStringSubmatch(list[1], -1) {
			change(outputs, name[1], func(p *schema.PropertySpec) { p.Secret = true })
		}
	}
}

func change(object *schema.ObjectTypeSpec, name string, amend func(*schema.PropertySpec)) {
	if p, ok := object.Properties[name]; ok {
		amend(&p)
		object.Properties[name] = p
	}
}

// propertyOf returns the name of a property whose Go name is known.
func propertyOf(args reflect.Type, field string) string {
	found, _ := args.FieldByName(field)
	name, _, _ := strings.Cut(found.Tag.Get("pulumi"), ",")
	return name
}

// source returns the file of a function, and the function's source code.
func (s *sdk) source(function any) (path, text string) {
	of := runtime.FuncForPC(reflect.ValueOf(function).Pointer())
	path, _ = of.FileLine(of.Entry())
	data, err := os.ReadFile(path)
	if err != nil {
		s.t.Fatal(err)
	}
	name := of.Name()[strings.LastIndex(of.Name(), ".")+1:]
	_, body, _ := strings.Cut(string(data), "\nfunc "+name+"(")
	body, _, found := strings.Cut(body, "\n}\n")
	if !found {
		s.t.Fatalf("%s has no %s", path, name)
	}
	return path, body
}
