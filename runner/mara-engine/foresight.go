package main

import (
	"context"
	"maps"
	"slices"
	"sync"

	"github.com/pulumi/pulumi/sdk/v3/go/common/resource"
	"github.com/pulumi/pulumi/sdk/v3/go/common/resource/plugin"
	"github.com/pulumi/pulumi/sdk/v3/go/common/resource/urn"
	pulumirpc "github.com/pulumi/pulumi/sdk/v3/proto/go"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/emptypb"
	"google.golang.org/protobuf/types/known/structpb"

	"mara/projects/monitor"
	"mara/runner/internal/core/pulumicli/wire"
)

// readStackOutputs is the function that reads another stack.
const readStackOutputs = "pulumi:pulumi:readStackOutputs"

// The runtimes whose SDK is the one for Go, in part or altogether.
const (
	runtimeGo   = "go"
	runtimeMara = "mara"
	runtimeYAML = "yaml"
)

// The properties of a stack reference.
const (
	outputsKey     resource.PropertyKey = "outputs"
	secretNamesKey resource.PropertyKey = "secretOutputNames"
)

// foresight hands the outputs that previews have found to the previews of the
// projects that read them. It serves one preview: it stands between the program
// and the engine's resource monitor, notes which outputs the program registers,
// and puts foreseen outputs into the answers of the engine.
type foresight struct {
	foreseen map[string]resource.PropertyMap // by full name of the stack

	mu      sync.Mutex // guards what follows
	outputs resource.PropertyMap
	state   func() (resource.PropertyMap, error) // reads the outputs in the stack's state
	reads   map[string]bool
	stops   []func() // of the servers
}

// newForesight decodes what the runner gives to a preview.
func newForesight(given *wire.Preview) (*foresight, error) {
	f := &foresight{foreseen: map[string]resource.PropertyMap{}, reads: map[string]bool{}}
	for stack, values := range given.Foreseen {
		outputs, err := decode(values)
		if err != nil {
			return nil, err
		}
		f.foreseen[stack] = outputs
	}
	return f, nil
}

// closeWith has close call stop.
func (f *foresight) closeWith(stop func()) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.stops = append(f.stops, stop)
}

// close stops the servers of the preview.
func (f *foresight) close() {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, stop := range f.stops {
		stop()
	}
}

// keepAll are the options for outputs as they are.
var keepAll = plugin.MarshalOptions{KeepUnknowns: true, KeepSecrets: true, KeepResources: true}

func encode(outputs resource.PropertyMap) (wire.Values, error) {
	properties, err := plugin.MarshalProperties(outputs, keepAll)
	if err != nil {
		return nil, err
	}
	return proto.MarshalOptions{Deterministic: true}.Marshal(properties)
}

func decode(values wire.Values) (resource.PropertyMap, error) {
	var properties structpb.Struct
	if err := proto.Unmarshal(values, &properties); err != nil {
		return nil, err
	}
	return plugin.UnmarshalProperties(&properties, keepAll)
}

// found returns what the preview has found.
func (f *foresight) found() (*wire.Found, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	found := &wire.Found{Reads: slices.Sorted(maps.Keys(f.reads))}
	if f.outputs == nil {
		return found, nil
	}
	before, err := f.state()
	if err != nil {
		return nil, err
	}
	found.Outputs = compare(before, f.outputs)
	found.Values, err = encode(f.outputs)
	return found, err
}

// compare describes outputs, and how they differ from those before.
func compare(before, after resource.PropertyMap) []wire.Output {
	var outputs []wire.Output
	for _, name := range after.StableKeys() {
		value := after[name]
		output := wire.Output{Name: string(name), Unknown: value.ContainsUnknowns(), Secret: value.ContainsSecrets()}
		if old, was := before[name]; !was {
			output.Change = wire.Added
		} else if !old.DeepEquals(value) {
			output.Change = wire.Changed
		}
		outputs = append(outputs, output)
	}
	for _, name := range before.StableKeys() {
		if _, is := after[name]; !is {
			removed := wire.Output{Name: string(name), Secret: before[name].ContainsSecrets(), Change: wire.Removed}
			outputs = append(outputs, removed)
		}
	}
	return outputs
}

// reader answers the calls of a program that is written for a runtime.
type reader struct {
	*foresight
	engine    pulumirpc.ResourceMonitorClient
	runtime   string
	canonical func(stack string) string // the full name of a stack
}

// readResource has the engine read a stack, so that its events, references and
// errors are as always, and replaces the outputs.
func (r reader) readResource(ctx context.Context,
	request *pulumirpc.ReadResourceRequest) (*pulumirpc.ReadResourceResponse, error) {
	response, err := r.engine.ReadResource(ctx, request)
	if err != nil || request.GetType() != monitor.StackReference {
		return response, err
	}
	sdk := r.runtime
	if sdk == runtimeYAML && monitor.ReadsByFunction(request) {
		sdk = runtimeGo
	}
	response.Properties, err = r.replace(response.GetProperties(), sdk, plugin.MarshalOptions{
		KeepUnknowns: true, KeepSecrets: request.GetAcceptSecrets(), KeepResources: request.GetAcceptResources(),
	})
	return response, err
}

// invoke does the same for the function that reads a stack.
func (r reader) invoke(ctx context.Context,
	request *pulumirpc.ResourceInvokeRequest) (*pulumirpc.ResourceInvokeResponse, error) {
	response, err := r.engine.Invoke(ctx, request)
	if err != nil || request.GetTok() != readStackOutputs || len(response.GetFailures()) > 0 {
		return response, err
	}
	response.Return, err = r.replace(response.GetReturn(), r.runtime, plugin.MarshalOptions{
		KeepUnknowns: true, KeepSecrets: true, KeepResources: request.GetAcceptResources(),
	})
	return response, err
}

// registerOutputs notes the outputs of the stack itself.
func (r reader) registerOutputs(ctx context.Context,
	request *pulumirpc.RegisterResourceOutputsRequest) (*emptypb.Empty, error) {
	response, err := r.engine.RegisterResourceOutputs(ctx, request)
	name, wrong := urn.Parse(request.GetUrn())
	if err != nil || wrong != nil || name.QualifiedType() != resource.RootStackType {
		return response, err
	}
	outputs, err := plugin.UnmarshalProperties(request.GetOutputs(), keepAll)
	if err != nil {
		return nil, err
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.outputs = outputs
	return response, nil
}

// replace puts foreseen outputs into the properties of a stack reference that the
// SDK of a runtime reads. A stack without outputs has not been deployed yet: its
// outputs are unknown.
func (r reader) replace(properties *structpb.Struct, sdk string,
	options plugin.MarshalOptions) (*structpb.Struct, error) {
	reference, err := plugin.UnmarshalProperties(properties, keepAll)
	if err != nil {
		return nil, err
	}
	name := reference["name"]
	if !name.IsString() {
		return properties, nil
	}
	stack := r.canonical(name.StringValue())
	r.mu.Lock()
	r.reads[stack] = true
	r.mu.Unlock()
	outputs, foreseen := r.foreseen[stack]
	was := reference[outputsKey]
	switch {
	case foreseen:
		reference[outputsKey] = resource.NewProperty(legible(was, outputs, sdk))
		reference[secretNamesKey] = resource.NewProperty(secretNames(outputs))
	case was.IsObject() && len(was.ObjectValue()) == 0 && !readsMissingAsUnknown(sdk):
		reference[outputsKey] = resource.MakeComputed(resource.NewProperty(""))
	default:
		return properties, nil
	}
	return plugin.MarshalProperties(reference, options)
}

// readsMissingAsUnknown reports whether programs for a runtime take an output that
// is missing in a preview for unknown. The Go SDK does; it takes an unknown output
// for a known nil, and fails if all of them are unknown at once.
func readsMissingAsUnknown(runtime string) bool {
	return runtime == runtimeGo || runtime == runtimeMara
}

// legible returns outputs such that programs for a runtime see as unknown what is
// unknown. YAML does so for each output. TypeScript, Python and others take all
// outputs of a stack for unknown while one of them is, which errs on the safe side.
// Built-in programs get the names as well, to tell a missing output from an unknown one.
// Others in Go get null for an output that the stack has now and will lose, as in an up.
func legible(now resource.PropertyValue, outputs resource.PropertyMap, runtime string) resource.PropertyMap {
	if !readsMissingAsUnknown(runtime) {
		return outputs
	}
	known := maps.Clone(outputs)
	maps.DeleteFunc(known, func(_ resource.PropertyKey, value resource.PropertyValue) bool {
		return value.ContainsUnknowns()
	})
	if runtime == runtimeMara {
		known[monitor.ForeseenNames] = resource.NewProperty(namesOf(outputs))
		return known
	}
	if now.IsObject() {
		for name := range now.ObjectValue() {
			if _, stays := outputs[name]; !stays {
				known[name] = resource.NewNullProperty()
			}
		}
	}
	return known
}

// secretNames lists the outputs that are secret, as the engine does.
func secretNames(outputs resource.PropertyMap) []resource.PropertyValue {
	secrets := maps.Clone(outputs)
	maps.DeleteFunc(secrets, func(_ resource.PropertyKey, value resource.PropertyValue) bool {
		return !value.ContainsSecrets()
	})
	return namesOf(secrets)
}

func namesOf(outputs resource.PropertyMap) []resource.PropertyValue {
	names := []resource.PropertyValue{}
	for _, name := range outputs.StableKeys() {
		names = append(names, resource.NewProperty(string(name)))
	}
	return names
}
