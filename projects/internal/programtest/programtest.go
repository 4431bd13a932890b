// Package programtest runs one program against mocks and records what it
// declares, so that tests can assert its shape: resources, values, secrets,
// references and outputs. Each run also holds the rule that every Kubernetes
// resource uses an explicit provider.
package programtest

import (
	"maps"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/pulumi/pulumi/sdk/v3/go/common/resource"
	"github.com/pulumi/pulumi/sdk/v3/go/pulumi"
	"github.com/pulumi/pulumi/sdk/v3/go/pulumi/internals"

	"mara/config/lists"
	"mara/projects"
	"mara/projects/helm"
	"mara/projects/internal/settings"
	"mara/projects/model"
)

const (
	stackReferenceType     = "pulumi:pulumi:StackReference"
	kubernetesProviderType = "pulumi:providers:kubernetes"
)

// Stack is the name of the stack in every test run.
const Stack = "dev"

// Case is what a program runs with.
type Case struct {
	Project model.Project
	Program pulumi.RunFunc
	Config  map[string]string               // Pulumi configuration, as text or JSON
	Stacks  map[string]resource.PropertyMap // outputs of other projects, by project name
	Preview bool

	// Outputs overrides what a created or read resource answers beyond its
	// inputs, by "type name" or by type.
	Outputs map[string]resource.PropertyMap
	// Call answers invokes; nil means an empty answer.
	Call func(pulumi.MockCallArgs) (resource.PropertyMap, error)
}

// Result is what a program declared.
type Result struct {
	Reads     []string // configuration keys, sorted
	Resources []Resource
	Exports   map[string]Export
	Err       error
}

// Resource is one declared or read resource.
type Resource struct {
	Type         string
	Name         string // logical name
	ID           string // of a read resource
	Read         bool
	Inputs       resource.PropertyMap
	Provider     string // reference of the explicit provider, "urn::id"; "" when there is none
	Parent       string // URN of the parent; "" for the stack
	Dependencies []string
	// PropertyDependencies are URNs by input.
	PropertyDependencies map[string][]string
	IgnoreChanges,
	AdditionalSecretOutputs []string
	Protect             bool
	RetainOnDelete      bool
	DeleteBeforeReplace bool
	ReplaceOnChanges    []string
}

// Export is one stack output.
type Export struct {
	Value  any
	Known  bool
	Secret bool
}

// Providers returns the names of all providers.
func Providers() []string {
	return lists.Map(projects.Infrastructures(), func(i model.Infrastructure) string { return i.Name })
}

// Run runs the case. The program's own error is in Result.Err; a Kubernetes
// resource without an explicit provider fails the test.
func Run(t *testing.T, c Case) Result {
	t.Helper()
	recorder := &recorder{answers: c, reads: map[string]bool{}}
	var exports map[string]Export
	program := func(ctx *pulumi.Context) error {
		err := c.Program(settings.Watch(ctx, recorder.read))
		if err == nil {
			exports, err = await(ctx)
		}
		return err
	}
	err := pulumi.RunErr(program, pulumi.WithMocks(c.Project.Name, Stack, recorder), func(info *pulumi.RunInfo) {
		info.Config = maps.Clone(c.Config)
		info.DryRun = c.Preview
	})
	result := Result{
		Reads: slices.Sorted(maps.Keys(recorder.reads)), Resources: recorder.resources, Exports: exports, Err: err,
	}
	result.checkProviders(t, c.Preview)
	return result
}

// await resolves all exports of the running program.
func await(ctx *pulumi.Context) (map[string]Export, error) {
	exports := map[string]Export{}
	for name, input := range ctx.GetCurrentExportMap() {
		awaited, err := internals.UnsafeAwaitOutput(ctx.Context(), pulumi.ToOutput(input))
		if err != nil {
			return nil, err
		}
		exports[name] = Export{Value: awaited.Value, Known: awaited.Known, Secret: awaited.Secret}
	}
	return exports, nil
}

// checkProviders holds the rule that nothing deploys to the ambient context.
// During a preview the kubeconfig may still be unknown, which mocks show as
// missing.
func (r Result) checkProviders(t *testing.T, preview bool) {
	t.Helper()
	for _, res := range r.Resources {
		switch {
		case res.Type == kubernetesProviderType:
			if kubeconfig := res.Inputs["kubeconfig"]; !kubeconfig.IsSecret() && !preview {
				t.Errorf("kubernetes provider %q: its kubeconfig is missing or not secret", res.Name)
			}
		case strings.HasPrefix(res.Type, "kubernetes:"):
			if !strings.Contains(res.Provider, kubernetesProviderType) {
				t.Errorf("%s %q has no explicit provider: it would deploy to the ambient context", res.Type, res.Name)
			}
		}
	}
}

// One finds the only resource of the type with the logical name.
func (r Result) One(t *testing.T, typ, name string) Resource {
	t.Helper()
	res, ok := lists.Find(r.Resources, func(res Resource) bool { return res.Type == typ && res.Name == name })
	if !ok {
		t.Fatalf("no %s %q; declared: %s", typ, name, strings.Join(r.Names(), ", "))
	}
	return res
}

// All lists the resources of a type.
func (r Result) All(typ string) []Resource {
	return slices.DeleteFunc(slices.Clone(r.Resources), func(res Resource) bool { return res.Type != typ })
}

// Names lists "type name" of every resource, sorted.
func (r Result) Names() []string {
	names := lists.Map(r.Resources, func(res Resource) string { return res.Type + " " + res.Name })
	slices.Sort(names)
	return names
}

// References lists the projects whose stacks were referenced, sorted.
func (r Result) References() []string {
	names := lists.Map(r.All(stackReferenceType), func(res Resource) string { return strings.Split(res.Name, "/")[1] })
	slices.Sort(names)
	return names
}

// Export finds a stack output.
func (r Result) Export(t *testing.T, name string) Export {
	t.Helper()
	export, ok := r.Exports[name]
	if !ok {
		t.Fatalf("no output %q; exported: %v; error: %v", name, slices.Sorted(maps.Keys(r.Exports)), r.Err)
	}
	return export
}

// CheckRefused checks that the program has failed with an error that says something.
func (r Result) CheckRefused(t *testing.T, want string) {
	t.Helper()
	if r.Err == nil || !strings.Contains(r.Err.Error(), want) {
		t.Errorf("error %v, want one that says %q", r.Err, want)
	}
}

// CheckOutputs compares the exports with what the catalogue declares: the
// same names, and secret exactly where it says so.
func (r Result) CheckOutputs(t *testing.T, project model.Project) {
	t.Helper()
	for _, output := range project.Outputs {
		export, ok := r.Exports[output.Name]
		if !ok && !output.Optional {
			t.Errorf("output %q is declared in the catalogue but not exported", output.Name)
		} else if export.Known && export.Secret != output.Secret {
			t.Errorf("output %q: secret is %v, the catalogue says %v", output.Name, export.Secret, output.Secret)
		}
	}
	for name := range r.Exports {
		if _, ok := project.Output(name); !ok {
			t.Errorf("output %q is exported but not declared in the catalogue", name)
		}
	}
}

// Input follows a path of keys and, as text, list indices ("spec", "rules",
// "0") and unwraps secrets on the way; a missing part gives a null value.
func (r Resource) Input(path ...string) resource.PropertyValue {
	return plain(at(resource.NewProperty(r.Inputs), path))
}

// Value returns the plain Go value at the path, for comparison.
func (r Resource) Value(path ...string) any {
	value := r.Input(path...)
	if value.IsNull() {
		return nil
	}
	return value.Mappable()
}

// IsSecret reports whether the value at the path, or something around it, is
// secret.
func (r Resource) IsSecret(path ...string) bool {
	for i := range len(path) + 1 {
		if at(resource.NewProperty(r.Inputs), path[:i]).IsSecret() {
			return true
		}
	}
	return false
}

// DependsOn reports whether the resource depends on the one named.
func (r Resource) DependsOn(typ, name string) bool {
	return slices.ContainsFunc(r.Dependencies, func(urn string) bool {
		return strings.HasSuffix(urn, "::"+typ+"::"+name)
	})
}

// CheckRestricted holds what the values of a chart say of its pods and
// containers to the level "restricted" of the Pod Security Standards.
func CheckRestricted(t *testing.T, release Resource) {
	t.Helper()
	for path, want := range map[string]any{
		"podSecurityContext runAsNonRoot":          true,
		"podSecurityContext seccompProfile type":   "RuntimeDefault",
		"securityContext allowPrivilegeEscalation": false,
		"securityContext capabilities drop 0":      "ALL",
	} {
		if got := release.Value(append([]string{"values"}, strings.Fields(path)...)...); got != want {
			t.Errorf("%s: %s is %v, want %v", release.Name, path, got, want)
		}
	}
}

// at follows a path into a value, unwrapping secrets on the way but not at the
// end.
func at(value resource.PropertyValue, path []string) resource.PropertyValue {
	for _, part := range path {
		value = plain(value)
		switch {
		case value.IsObject():
			value = value.ObjectValue()[resource.PropertyKey(part)]
		case value.IsArray():
			value = item(value.ArrayValue(), part)
		default:
			return resource.NewNullProperty()
		}
	}
	return value
}

func item(items []resource.PropertyValue, index string) resource.PropertyValue {
	i, err := strconv.Atoi(index)
	if err != nil || i < 0 || i >= len(items) {
		return resource.NewNullProperty()
	}
	return items[i]
}

func plain(value resource.PropertyValue) resource.PropertyValue {
	for value.IsSecret() {
		value = value.SecretValue().Element
	}
	return value
}

// recorder is the mock engine: it answers with the inputs and remembers them.
type recorder struct {
	answers Case

	mu        sync.Mutex // guards what follows: the SDK registers from many goroutines
	resources []Resource
	reads     map[string]bool
}

// read notes a configuration key.
func (m *recorder) read(key string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.reads[key] = true
}

// NewResource records one resource.
func (m *recorder) NewResource(args pulumi.MockResourceArgs) (string, resource.PropertyMap, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.resources = append(m.resources, record(args))
	if args.TypeToken == stackReferenceType {
		return args.ID, m.reference(args), nil
	}
	outputs := maps.Clone(args.Inputs)
	if args.TypeToken == "pulumi:index:Stash" {
		outputs["output"] = args.Inputs["input"]
	}
	for _, key := range []string{args.TypeToken, args.TypeToken + " " + args.Name} {
		maps.Copy(outputs, m.answers.Outputs[key])
	}
	return identity(args), outputs, nil
}

// Call answers an invoke.
func (m *recorder) Call(args pulumi.MockCallArgs) (resource.PropertyMap, error) {
	if m.answers.Call == nil {
		return resource.PropertyMap{}, nil
	}
	return m.answers.Call(args)
}

// reference answers a stack reference from the case.
func (m *recorder) reference(args pulumi.MockResourceArgs) resource.PropertyMap {
	project := strings.Split(args.Name, "/")[1]
	outputs := m.answers.Stacks[project]
	if outputs == nil {
		outputs = resource.PropertyMap{}
	}
	return resource.PropertyMap{
		"name":    resource.NewProperty(args.Name),
		"outputs": resource.NewProperty(outputs),
	}
}

// record copies what a test may ask about.
func record(args pulumi.MockResourceArgs) Resource {
	res := Resource{
		Type: args.TypeToken, Name: args.Name, ID: args.ID, Inputs: args.Inputs, Provider: args.Provider,
		Read: args.ReadRPC != nil,
	}
	if rpc := args.RegisterRPC; rpc != nil {
		res.Parent = rpc.GetParent()
		res.Dependencies = rpc.GetDependencies()
		res.PropertyDependencies = map[string][]string{}
		for input, on := range rpc.GetPropertyDependencies() {
			res.PropertyDependencies[input] = on.GetUrns()
		}
		res.DeleteBeforeReplace = rpc.GetDeleteBeforeReplace()
		res.IgnoreChanges = rpc.GetIgnoreChanges()
		res.AdditionalSecretOutputs = rpc.GetAdditionalSecretOutputs()
		res.Protect = rpc.GetProtect()
		res.RetainOnDelete = rpc.GetRetainOnDelete()
		res.ReplaceOnChanges = rpc.GetReplaceOnChanges()
	}
	if rpc := args.ReadRPC; rpc != nil {
		res.Dependencies = rpc.GetDependencies()
	}
	return res
}

// identity makes an id of the form that the real provider's have: namespace/name
// for Kubernetes objects and releases.
func identity(args pulumi.MockResourceArgs) string {
	if args.ID != "" {
		return args.ID
	}
	if strings.HasPrefix(args.TypeToken, "linode:") {
		return "4711" // Linode's ids are numbers, and programs convert them
	}
	if args.TypeToken == helm.ReleaseType {
		return text(args.Inputs["namespace"]) + "/" + text(args.Inputs["name"])
	}
	metadata := plain(args.Inputs["metadata"])
	if !metadata.IsObject() {
		return args.Name + "-id"
	}
	name := text(metadata.ObjectValue()["name"])
	if namespace := text(metadata.ObjectValue()["namespace"]); namespace != "" {
		return namespace + "/" + name
	}
	return name
}

func text(value resource.PropertyValue) string {
	if value = plain(value); value.IsString() {
		return value.StringValue()
	}
	return ""
}
