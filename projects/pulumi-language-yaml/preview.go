package main

import (
	"context"

	"github.com/pulumi/pulumi/sdk/v3/go/common/resource/plugin"
	pulumirpc "github.com/pulumi/pulumi/sdk/v3/proto/go"
	"google.golang.org/grpc"
	"google.golang.org/protobuf/types/known/structpb"

	"mara/projects/monitor"
)

// preview serves a monitor for a template at an address that it returns, until ctx
// ends, and forwards every call to the engine's. The engine says of a stack that is
// not deployed yet that it has no outputs, and a template would take each of them for
// null: a provider without a kubeconfig, a text with a gap. Here they are unknown, as
// they are to a program in Go and to fn::stackReference. mara-engine does the same for all languages; an
// installed Pulumi does not.
func preview(ctx context.Context, address string) (string, error) {
	return monitor.Serve(ctx, address, func(engine pulumirpc.ResourceMonitorClient) []grpc.MethodDesc {
		read := func(ctx context.Context, request *pulumirpc.ReadResourceRequest) (*pulumirpc.ReadResourceResponse, error) {
			response, err := engine.ReadResource(ctx, request)
			if err == nil && request.GetType() == monitor.StackReference && !monitor.ReadsByFunction(request) {
				forget(response.GetProperties())
			}
			return response, err
		}
		return []grpc.MethodDesc{monitor.Method("ReadResource", read)}
	})
}

// forget makes the outputs of a stack without any unknown.
func forget(reference *structpb.Struct) {
	outputs := reference.GetFields()["outputs"]
	if outputs != nil && len(outputs.GetStructValue().GetFields()) == 0 {
		reference.Fields["outputs"] = structpb.NewStringValue(plugin.UnknownStringValue)
	}
}
