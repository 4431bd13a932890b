package ahead

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/pulumi/pulumi/sdk/v3/go/common/util/rpcutil"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/metadata"
	"google.golang.org/protobuf/types/known/emptypb"
)

// listen serves methods of a service on a port of this machine until ctx ends; all others go to unknown. The process
// refuses other users (package loopback).
func listen(ctx context.Context, service string, methods []grpc.MethodDesc, unknown grpc.StreamHandler) (string, error) {
	cancel := make(chan bool)
	context.AfterFunc(ctx, func() { close(cancel) })
	served, err := rpcutil.ServeWithOptions(rpcutil.ServeOptions{
		Cancel:  cancel,
		Options: []grpc.ServerOption{grpc.UnknownServiceHandler(endWith(ctx, unknown))},
		Init: func(server *grpc.Server) error {
			if service != "" {
				server.RegisterService(&grpc.ServiceDesc{ServiceName: service, Methods: methods}, nil)
			}
			return nil
		},
	})
	if err != nil {
		return "", err
	}
	go func() { <-served.Done }() // the process ends with it
	return fmt.Sprintf("127.0.0.1:%d", served.Port), nil
}

// endWith ends streams when ctx ends.
func endWith(ctx context.Context, handler grpc.StreamHandler) grpc.StreamHandler {
	return func(server any, call grpc.ServerStream) error {
		both, cancel := context.WithCancel(call.Context())
		defer cancel()
		defer context.AfterFunc(ctx, cancel)()
		return handler(server, bounded{call, both})
	}
}

// bounded is a stream with another context.
type bounded struct {
	grpc.ServerStream
	ctx context.Context
}

// Context implements grpc.ServerStream.
func (b bounded) Context() context.Context { return b.ctx }

func dial(address string) (*grpc.ClientConn, error) {
	return grpc.NewClient(address, grpc.WithTransportCredentials(insecure.NewCredentials()), rpcutil.GrpcChannelOptions())
}

// withTold returns a context for passing on a call, with what was told beside its request: the language host for Node.js
// marks each resource.
func withTold(ctx context.Context) context.Context {
	if told, ok := metadata.FromIncomingContext(ctx); ok {
		return metadata.NewOutgoingContext(ctx, told)
	}
	return ctx
}

// passOn calls the same method elsewhere. An empty message keeps the fields that it does not know, so it carries any
// message. All methods that are passed on take one request; some answer more than once.
func passOn(call grpc.ServerStream, to *grpc.ClientConn) error {
	method, _ := grpc.MethodFromServerStream(call)
	stream, err := to.NewStream(withTold(call.Context()), &grpc.StreamDesc{ServerStreams: true}, method)
	if err != nil {
		return err
	}
	var request emptypb.Empty
	if err := call.RecvMsg(&request); err != nil {
		return err
	}
	if err := stream.SendMsg(&request); err != nil && !errors.Is(err, io.EOF) {
		return err
	}
	if err := stream.CloseSend(); err != nil {
		return err
	}
	for {
		var answer emptypb.Empty
		if err := stream.RecvMsg(&answer); errors.Is(err, io.EOF) {
			return nil
		} else if err != nil {
			return err
		}
		if err := call.SendMsg(&answer); err != nil {
			return err
		}
	}
}
