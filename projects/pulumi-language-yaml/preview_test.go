package main

import (
	"context"
	"fmt"
	"testing"

	"github.com/pulumi/pulumi/sdk/v3/go/common/resource/plugin"
	"github.com/pulumi/pulumi/sdk/v3/go/common/util/rpcutil"
	pulumirpc "github.com/pulumi/pulumi/sdk/v3/proto/go"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/types/known/structpb"

	"mara/projects/monitor"
)

// engineMonitor answers reads with what it is given, and refuses an invoke.
type engineMonitor struct {
	pulumirpc.UnimplementedResourceMonitorServer
	outputs map[string]any
}

func (m engineMonitor) ReadResource(_ context.Context, request *pulumirpc.ReadResourceRequest) (*pulumirpc.ReadResourceResponse, error) {
	properties, err := structpb.NewStruct(map[string]any{"name": request.GetId(), "outputs": m.outputs})
	return &pulumirpc.ReadResourceResponse{Properties: properties}, err
}

func (engineMonitor) SupportsFeature(_ context.Context, request *pulumirpc.SupportsFeatureRequest) (*pulumirpc.SupportsFeatureResponse, error) {
	return &pulumirpc.SupportsFeatureResponse{HasSupport: request.GetId() == "secrets"}, nil
}

func (engineMonitor) Invoke(context.Context, *pulumirpc.ResourceInvokeRequest) (*pulumirpc.ResourceInvokeResponse, error) {
	return nil, status.Error(codes.InvalidArgument, "no such function")
}

// previewOf returns a client of a preview's monitor, in front of an engine's monitor that
// knows a stack's outputs.
func previewOf(t *testing.T, outputs map[string]any) pulumirpc.ResourceMonitorClient {
	t.Helper()
	cancel := make(chan bool)
	t.Cleanup(func() { close(cancel) })
	served, err := rpcutil.ServeWithOptions(rpcutil.ServeOptions{Cancel: cancel, Init: func(server *grpc.Server) error {
		pulumirpc.RegisterResourceMonitorServer(server, engineMonitor{outputs: outputs})
		return nil
	}})
	if err != nil {
		t.Fatal(err)
	}
	address, err := preview(t.Context(), fmt.Sprintf("127.0.0.1:%d", served.Port))
	if err != nil {
		t.Fatal(err)
	}
	connection, err := grpc.NewClient(address, grpc.WithTransportCredentials(insecure.NewCredentials()))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = connection.Close() })
	return pulumirpc.NewResourceMonitorClient(connection)
}

// TestPreview: outputs of a stack that is not deployed are unknown; everything else
// is as the engine says.
func TestPreview(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		kind    string
		name    string
		outputs map[string]any
		want    *structpb.Value
	}{
		"not deployed":     {monitor.StackReference, "other", map[string]any{}, structpb.NewStringValue(plugin.UnknownStringValue)},
		"deployed":         {monitor.StackReference, "other", map[string]any{"a": "b"}, structpb.NewStructValue(&structpb.Struct{Fields: map[string]*structpb.Value{"a": structpb.NewStringValue("b")}})},
		"another resource": {"a:b:C", "other", map[string]any{}, structpb.NewStructValue(&structpb.Struct{})},
		"a function":       {monitor.StackReference, "x", map[string]any{}, structpb.NewStructValue(&structpb.Struct{})},
	} {
		monitor := previewOf(t, c.outputs)
		got, err := monitor.ReadResource(t.Context(), &pulumirpc.ReadResourceRequest{Type: c.kind, Name: c.name, Id: "x"})
		if err != nil {
			t.Fatal(err)
		}
		if outputs := got.GetProperties().GetFields()["outputs"]; outputs.String() != c.want.String() {
			t.Errorf("%s: got %v, want %v", name, outputs, c.want)
		}
	}
	monitor := previewOf(t, nil)
	for feature, want := range map[string]bool{"secrets": true, "flight": false} {
		got, err := monitor.SupportsFeature(t.Context(), &pulumirpc.SupportsFeatureRequest{Id: feature})
		if err != nil || got.GetHasSupport() != want {
			t.Errorf("%s: %v, %v", feature, got, err)
		}
	}
	if _, err := monitor.Invoke(t.Context(), &pulumirpc.ResourceInvokeRequest{}); status.Code(err) != codes.InvalidArgument || status.Convert(err).Message() != "no such function" {
		t.Errorf("invoke: %v", err)
	}
}
