package main

import (
	"context"
	"errors"
	"fmt"

	"github.com/pulumi/pulumi/sdk/v3/go/common/resource/plugin"
	"github.com/pulumi/pulumi/sdk/v3/go/common/util/rpcutil"
	pulumirpc "github.com/pulumi/pulumi/sdk/v3/proto/go"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/protobuf/types/known/emptypb"
	"google.golang.org/protobuf/types/known/structpb"

	"mara/projects/internal/languagehost"
)

// stackReference is the type of the resource that reads another stack.
const stackReference = "pulumi:pulumi:StackReference"

// preview serves a monitor for a template at an address that it returns, until ctx
// ends, and hands everything on to the engine's. The engine says of a stack that is
// not deployed yet that it has no outputs, and a template would take each of them for
// null: a provider without a kubeconfig, a text with a gap. Here they are unknown, as
// they are to a program in Go.
func preview(ctx context.Context, monitor string) (string, error) {
	engine, err := grpc.NewClient(monitor, grpc.WithTransportCredentials(insecure.NewCredentials()), rpcutil.GrpcChannelOptions())
	if err != nil {
		return "", err
	}
	served, err := languagehost.Listen(ctx, func(server *grpc.Server) {
		server.RegisterService(reader(pulumirpc.NewResourceMonitorClient(engine)), nil)
	}, grpc.UnknownServiceHandler(handOn(engine)))
	if err != nil {
		return "", errors.Join(err, engine.Close())
	}
	go func() {
		<-served.Done
		_ = engine.Close()
	}()
	return fmt.Sprintf("127.0.0.1:%d", served.Port), nil
}

// reader is the method of the monitor that is not handed on as it is.
func reader(engine pulumirpc.ResourceMonitorClient) *grpc.ServiceDesc {
	read := func(_ any, ctx context.Context, decode func(any) error, _ grpc.UnaryServerInterceptor) (any, error) {
		var request pulumirpc.ReadResourceRequest
		if err := decode(&request); err != nil {
			return nil, err
		}
		response, err := engine.ReadResource(ctx, &request)
		if err == nil && request.GetType() == stackReference {
			forget(response.GetProperties())
		}
		return response, err
	}
	return &grpc.ServiceDesc{
		ServiceName: pulumirpc.ResourceMonitor_ServiceDesc.ServiceName,
		Methods:     []grpc.MethodDesc{{MethodName: "ReadResource", Handler: read}},
	}
}

// handOn calls the same method of the engine's monitor. An empty message keeps the
// fields that it does not know, so it carries any message.
func handOn(engine *grpc.ClientConn) grpc.StreamHandler {
	return func(_ any, call grpc.ServerStream) error {
		method, _ := grpc.MethodFromServerStream(call)
		var request, response emptypb.Empty
		if err := call.RecvMsg(&request); err != nil {
			return err
		}
		if err := engine.Invoke(call.Context(), method, &request, &response); err != nil {
			return err
		}
		return call.SendMsg(&response)
	}
}

// forget makes the outputs of a stack without any unknown.
func forget(reference *structpb.Struct) {
	outputs := reference.GetFields()["outputs"]
	if outputs != nil && len(outputs.GetStructValue().GetFields()) == 0 {
		reference.Fields["outputs"] = structpb.NewStringValue(plugin.UnknownStringValue)
	}
}
