package main

import (
	"context"
	"fmt"
	"maps"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/pulumi/pulumi/sdk/v3/go/common/resource"
	"github.com/pulumi/pulumi/sdk/v3/go/common/resource/plugin"
	"github.com/pulumi/pulumi/sdk/v3/go/common/util/rpcutil"
	pulumirpc "github.com/pulumi/pulumi/sdk/v3/proto/go"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/types/known/emptypb"
	"google.golang.org/protobuf/types/known/structpb"

	"mara/projects/monitor"
	"mara/runner/internal/core/pulumicli/wire"
)

// engineMonitor answers reads with the outputs in the state of every stack.
type engineMonitor struct {
	pulumirpc.UnimplementedResourceMonitorServer
	state resource.PropertyMap
}

func (m engineMonitor) reference(name string) resource.PropertyMap {
	return resource.PropertyMap{
		"name": resource.NewProperty(name), outputsKey: resource.NewProperty(m.state), secretNamesKey: resource.NewProperty([]resource.PropertyValue{}),
	}
}

func (m engineMonitor) ReadResource(_ context.Context, request *pulumirpc.ReadResourceRequest) (*pulumirpc.ReadResourceResponse, error) {
	if strings.HasPrefix(request.GetId(), "no such") {
		return nil, status.Error(codes.NotFound, "unknown stack")
	}
	properties, err := plugin.MarshalProperties(m.reference(request.GetId()), keepAll)
	return &pulumirpc.ReadResourceResponse{Urn: "urn", Properties: properties}, err
}

func (m engineMonitor) Invoke(_ context.Context, request *pulumirpc.ResourceInvokeRequest) (*pulumirpc.ResourceInvokeResponse, error) {
	name := request.GetArgs().GetFields()["name"].GetStringValue()
	properties, err := plugin.MarshalProperties(m.reference(name), keepAll)
	return &pulumirpc.ResourceInvokeResponse{Return: properties}, err
}

func (engineMonitor) RegisterResourceOutputs(context.Context, *pulumirpc.RegisterResourceOutputsRequest) (*emptypb.Empty, error) {
	return &emptypb.Empty{}, nil
}

func (engineMonitor) SupportsFeature(_ context.Context, request *pulumirpc.SupportsFeatureRequest) (*pulumirpc.SupportsFeatureResponse, error) {
	return &pulumirpc.SupportsFeatureResponse{HasSupport: request.GetId() == "secrets"}, nil
}

// fullName completes short names of stacks as a backend does.
func fullName(name string) string {
	if strings.Contains(name, "/") {
		return name
	}
	return "organization/net/" + name
}

// foreseenBy returns the foresight of a preview that is given the outputs of one
// stack, and a client of its monitor for a program of a runtime.
func foreseenBy(t *testing.T, runtime string, state resource.PropertyMap, given *wire.Preview) (*foresight, pulumirpc.ResourceMonitorClient) {
	t.Helper()
	f, err := newForesight(given)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(f.close)
	address := serveEngine(t, state)
	err = reader{foresight: f, runtime: runtime, canonical: fullName}.serve(t.Context(), true, &address)
	if err != nil {
		t.Fatal(err)
	}
	return f, dial(t, address)
}

// serveEngine serves the engine's monitor and returns its address.
func serveEngine(t *testing.T, state resource.PropertyMap) string {
	t.Helper()
	cancel := make(chan bool)
	t.Cleanup(func() { close(cancel) })
	served, err := rpcutil.ServeWithOptions(rpcutil.ServeOptions{Cancel: cancel, Init: func(server *grpc.Server) error {
		pulumirpc.RegisterResourceMonitorServer(server, engineMonitor{state: state})
		return nil
	}})
	if err != nil {
		t.Fatal(err)
	}
	return fmt.Sprintf("127.0.0.1:%d", served.Port)
}

// dial returns a client of the monitor at address.
func dial(t *testing.T, address string) pulumirpc.ResourceMonitorClient {
	t.Helper()
	connection, err := grpc.NewClient(address, grpc.WithTransportCredentials(insecure.NewCredentials()))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = connection.Close() })
	return pulumirpc.NewResourceMonitorClient(connection)
}

// given encodes the outputs of stack net/dev as an earlier preview has found them.
func given(t *testing.T, outputs resource.PropertyMap) *wire.Preview {
	t.Helper()
	values, err := encode(outputs)
	if err != nil {
		t.Fatal(err)
	}
	return &wire.Preview{Foreseen: map[string]wire.Values{"organization/net/dev": values}}
}

var (
	text    = func(s string) resource.PropertyValue { return resource.NewProperty(s) }
	unknown = resource.MakeComputed(text(""))
	hidden  = resource.MakeSecret(text("hunter2"))
)

// foreseen returns outputs of each kind.
func foreseen() resource.PropertyMap {
	return resource.PropertyMap{
		"cidr": text("b"), "id": unknown, "token": hidden, "password": resource.MakeSecret(unknown),
		"nested": resource.NewProperty(resource.PropertyMap{"known": text("k"), "later": unknown}),
		"list":   resource.NewProperty([]resource.PropertyValue{text("x"), hidden}),
	}
}

// function marks a program that reads a stack with fn::stackReference.
const function = " fn::stackReference"

// TestForeseenOutputs: a program reads foreseen outputs, encoded such that its
// runtime takes for unknown what is unknown.
func TestForeseenOutputs(t *testing.T) {
	t.Parallel()
	complete := foreseen()
	known := resource.PropertyMap{"cidr": complete["cidr"], "token": complete["token"], "list": complete["list"]}
	named := maps.Clone(known)
	named[monitor.ForeseenNames] = resource.NewProperty([]resource.PropertyValue{
		text("cidr"), text("id"), text("list"), text("nested"), text("password"), text("token"),
	})
	lost := maps.Clone(known)
	lost["gone"] = resource.NewNullProperty()
	going := resource.PropertyMap{"cidr": text("a"), "gone": text("x"), "id": text("i-1")}
	secret := resource.NewProperty([]resource.PropertyValue{text("list"), text("password"), text("token")})
	state := resource.PropertyMap{"cidr": text("a")}
	none := resource.PropertyMap{}
	for _, test := range []struct {
		name, runtime string
		state         resource.PropertyMap
		stack         string
		want, secrets resource.PropertyValue
	}{
		{"Go misses what is unknown", "go", state, "organization/net/dev", resource.NewProperty(known), secret},
		{"built-in programs are Go, and get the names", "mara", state, "organization/net/dev", resource.NewProperty(named), secret},
		{"not previewed, built in", "mara", state, "organization/other/dev", resource.NewProperty(state), resource.NewProperty([]resource.PropertyValue{})},
		{"Go gets null for what goes", "go", going, "organization/net/dev", resource.NewProperty(lost), secret},
		{"built-in programs do not", "mara", going, "organization/net/dev", resource.NewProperty(named), secret},
		{"YAML takes what is missing for null", "yaml", going, "organization/net/dev", resource.NewProperty(complete), secret},
		{"YAML", "yaml", state, "organization/net/dev", resource.NewProperty(complete), secret},
		{"a function in YAML", "yaml" + function, state, "organization/net/dev", resource.NewProperty(known), secret},
		{"neither, a function", "yaml" + function, none, "organization/other/dev", resource.NewProperty(none), resource.NewProperty([]resource.PropertyValue{})},
		{"TypeScript", "nodejs", state, "organization/net/dev", resource.NewProperty(complete), secret},
		{"Python", "python", state, "organization/net/dev", resource.NewProperty(complete), secret},
		{"never deployed", "nodejs", none, "organization/net/dev", resource.NewProperty(complete), secret},
		{"not previewed", "nodejs", state, "organization/other/dev", resource.NewProperty(state), resource.NewProperty([]resource.PropertyValue{})},
		{"neither deployed nor previewed", "nodejs", none, "organization/other/dev", unknown, resource.NewProperty([]resource.PropertyValue{})},
		{"neither, YAML", "yaml", none, "organization/other/dev", unknown, resource.NewProperty([]resource.PropertyValue{})},
		{"neither, Go", "go", none, "organization/other/dev", resource.NewProperty(none), resource.NewProperty([]resource.PropertyValue{})},
		{"a short name", "yaml", state, "dev", resource.NewProperty(complete), secret},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			runtime, byFunction := strings.CutSuffix(test.runtime, function)
			f, client := foreseenBy(t, runtime, test.state, given(t, complete))
			request := &pulumirpc.ReadResourceRequest{Type: monitor.StackReference, Id: test.stack, AcceptSecrets: true, AcceptResources: true}
			if byFunction {
				request.Name = test.stack
			}
			read, err := client.ReadResource(t.Context(), request)
			if err != nil {
				t.Fatal(err)
			}
			invoked, err := client.Invoke(t.Context(), &pulumirpc.ResourceInvokeRequest{Tok: readStackOutputs, Args: arguments(t, test.stack)})
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(read.GetProperties().String(), invoked.GetReturn().String()); diff != "" && !byFunction {
				t.Errorf("the function differs:\n%s", diff)
			}
			got, err := plugin.UnmarshalProperties(read.GetProperties(), keepAll)
			if err != nil {
				t.Fatal(err)
			}
			if !got[outputsKey].DeepEquals(test.want) || !got[secretNamesKey].DeepEquals(test.secrets) {
				t.Errorf("got %v, want %v and %v", got, test.want, test.secrets)
			}
			found, err := f.found()
			if diff := cmp.Diff(&wire.Found{Reads: []string{fullName(test.stack)}}, found); diff != "" || err != nil {
				t.Errorf("%v\n%s", err, diff)
			}
		})
	}
}

// arguments returns the arguments of a function about a stack.
func arguments(t *testing.T, stack string) *structpb.Struct {
	t.Helper()
	args, err := structpb.NewStruct(map[string]any{"name": stack})
	if err != nil {
		t.Fatal(err)
	}
	return args
}

// TestSecretsOfOldPrograms: a program that does not know secrets gets their values,
// and the names tell which they are, as from the engine.
func TestSecretsOfOldPrograms(t *testing.T) {
	t.Parallel()
	_, client := foreseenBy(t, "nodejs", nil, given(t, resource.PropertyMap{"token": hidden}))
	read, err := client.ReadResource(t.Context(), &pulumirpc.ReadResourceRequest{Type: monitor.StackReference, Id: "organization/net/dev"})
	if err != nil {
		t.Fatal(err)
	}
	fields := read.GetProperties().GetFields()
	if got := fields["outputs"].GetStructValue().GetFields()["token"].GetStringValue(); got != "hunter2" {
		t.Errorf("the value is %q", got)
	}
	if got := fields["secretOutputNames"].GetListValue().GetValues(); len(got) != 1 || got[0].GetStringValue() != "token" {
		t.Errorf("the names are %v", got)
	}
}

// TestForwarded: what has nothing to do with stacks is as the engine answers it.
func TestForwarded(t *testing.T) {
	t.Parallel()
	state := resource.PropertyMap{"cidr": text("a")}
	f, client := foreseenBy(t, "nodejs", state, given(t, foreseen()))
	read, err := client.ReadResource(t.Context(), &pulumirpc.ReadResourceRequest{Type: "aws:ec2:Vpc", Id: "organization/net/dev"})
	if err != nil || read.GetProperties().GetFields()["outputs"].GetStructValue().GetFields()["cidr"].GetStringValue() != "a" {
		t.Errorf("another resource: %v, %v", read, err)
	}
	if _, err := client.ReadResource(t.Context(), &pulumirpc.ReadResourceRequest{Type: monitor.StackReference, Id: "no such stack"}); status.Code(err) != codes.NotFound {
		t.Errorf("a stack that is not there: %v", err)
	}
	invoked, err := client.Invoke(t.Context(), &pulumirpc.ResourceInvokeRequest{Tok: "aws:index:getRegion"})
	if err != nil || invoked.GetReturn().GetFields()["outputs"].GetStructValue().GetFields()["cidr"].GetStringValue() != "a" {
		t.Errorf("another function: %v, %v", invoked, err)
	}
	if feature, err := client.SupportsFeature(t.Context(), &pulumirpc.SupportsFeatureRequest{Id: "secrets"}); err != nil || !feature.GetHasSupport() {
		t.Errorf("a method that is only forwarded: %v, %v", feature, err)
	}
	if found, err := f.found(); err != nil || len(found.Reads) > 0 || found.Values != nil {
		t.Errorf("found %+v, %v", found, err)
	}
}

// TestRegisteredOutputs: the outputs of the stack are noted as the program registers
// them, and compared with those in the state. The outputs of a component are not.
func TestRegisteredOutputs(t *testing.T) {
	t.Parallel()
	f, client := foreseenBy(t, "yaml", nil, &wire.Preview{})
	f.state = func() (resource.PropertyMap, error) {
		return resource.PropertyMap{
			"cidr": text("a"), "token": hidden, "list": foreseen()["list"], "id": text("i-1"), "gone": resource.MakeSecret(text("x")),
		}, nil
	}
	for urn, outputs := range map[string]resource.PropertyMap{
		"urn:pulumi:dev::net::my:index:Component::c":                {"other": text("x")},
		"urn:pulumi:dev::net::pulumi:pulumi:Stack::net-dev":         foreseen(),
		"urn:pulumi:dev::net::a:b:C$pulumi:pulumi:Stack::remote":    {"other": text("x")},
		"urn:pulumi:dev::net::pulumi:pulumi:Stack$my:index:X::deep": {"other": text("x")},
	} {
		properties, err := plugin.MarshalProperties(outputs, keepAll)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := client.RegisterResourceOutputs(t.Context(), &pulumirpc.RegisterResourceOutputsRequest{Urn: urn, Outputs: properties}); err != nil {
			t.Fatal(err)
		}
	}
	found, err := f.found()
	if err != nil {
		t.Fatal(err)
	}
	want := []wire.Output{
		{Name: "cidr", Change: wire.Changed}, {Name: "id", Unknown: true, Change: wire.Changed}, {Name: "list", Secret: true},
		{Name: "nested", Unknown: true, Change: wire.Added}, {Name: "password", Unknown: true, Secret: true, Change: wire.Added},
		{Name: "token", Secret: true}, {Name: "gone", Secret: true, Change: wire.Removed},
	}
	if diff := cmp.Diff(want, found.Outputs); diff != "" {
		t.Error(diff)
	}
	values, err := decode(found.Values)
	if err != nil || !resource.NewProperty(values).DeepEquals(resource.NewProperty(foreseen())) {
		t.Errorf("%v: decoded %v", err, values)
	}
}

// TestChangedSecret: the engine compares secrets in the clear.
func TestChangedSecret(t *testing.T) {
	t.Parallel()
	before := resource.PropertyMap{"a": hidden, "b": hidden, "c": hidden, "d": text("hunter2")}
	after := resource.PropertyMap{"a": hidden, "b": resource.MakeSecret(text("hunter3")), "c": text("hunter2"), "d": hidden}
	want := []wire.Output{
		{Name: "a", Secret: true}, {Name: "b", Secret: true, Change: wire.Changed}, {Name: "c", Change: wire.Changed}, {Name: "d", Secret: true, Change: wire.Changed},
	}
	if diff := cmp.Diff(want, compare(before, after)); diff != "" {
		t.Error(diff)
	}
}
