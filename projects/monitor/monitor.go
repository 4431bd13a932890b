// Package monitor puts a server in front of the resource monitor of Pulumi's
// engine. A program calls the server; the server answers some methods itself and
// forwards all others to the engine.
package monitor

import (
	"context"
	"errors"
	"fmt"

	"github.com/pulumi/pulumi/sdk/v3/go/common/util/rpcutil"
	pulumirpc "github.com/pulumi/pulumi/sdk/v3/proto/go"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/protobuf/types/known/emptypb"

	"mara/projects/internal/languagehost"
)

// StackReference is the type of the resource that reads another stack.
const StackReference = "pulumi:pulumi:StackReference"

// ForeseenNames is an output that a preview adds, for built-in programs, to the outputs
// of a stack which an earlier preview has found: the names of all outputs that the
// stack will have. An output that is not among them will not exist.
const ForeseenNames = "mara:foreseen"

// ReadsByFunction reports whether a program in Pulumi YAML reads a stack with
// fn::stackReference rather than by a resource of its own. The function names the
// reference after the stack, and reads outputs with the Go SDK: a missing output is
// unknown in a preview, while an unknown one becomes null.
func ReadsByFunction(request *pulumirpc.ReadResourceRequest) bool {
	return request.GetName() == request.GetId()
}

// Serve serves a monitor in front of the engine's at address, until ctx ends, and
// returns its own address. It answers the methods that methodsOf returns.
func Serve(
	ctx context.Context, address string, methodsOf func(engine pulumirpc.ResourceMonitorClient) []grpc.MethodDesc,
) (string, error) {
	engine, err := grpc.NewClient(address,
		grpc.WithTransportCredentials(insecure.NewCredentials()), rpcutil.GrpcChannelOptions())
	if err != nil {
		return "", err
	}
	description := &grpc.ServiceDesc{
		ServiceName: pulumirpc.ResourceMonitor_ServiceDesc.ServiceName,
		Methods:     methodsOf(pulumirpc.NewResourceMonitorClient(engine)),
	}
	served, err := languagehost.Listen(ctx, func(server *grpc.Server) {
		server.RegisterService(description, nil)
	}, grpc.UnknownServiceHandler(forward(engine)))
	if err != nil {
		return "", errors.Join(err, engine.Close())
	}
	go func() {
		<-served.Done
		_ = engine.Close()
	}()
	return fmt.Sprintf("127.0.0.1:%d", served.Port), nil
}

// Method describes a method of the monitor that answer handles.
func Method[Request any, Response any](
	name string, answer func(context.Context, *Request) (*Response, error),
) grpc.MethodDesc {
	handle := func(_ any, ctx context.Context, decode func(any) error, _ grpc.UnaryServerInterceptor) (any, error) {
		request := new(Request)
		if err := decode(request); err != nil {
			return nil, err
		}
		return answer(ctx, request)
	}
	return grpc.MethodDesc{MethodName: name, Handler: handle}
}

// forward calls the same method of the engine's monitor. An empty message keeps
// the fields that it does not know, so it carries any message.
func forward(engine *grpc.ClientConn) grpc.StreamHandler {
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
