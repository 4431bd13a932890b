package ahead

import (
	"context"
	"slices"

	pulumirpc "github.com/pulumi/pulumi/sdk/v3/proto/go"
	"google.golang.org/grpc"
	"google.golang.org/protobuf/types/known/emptypb"

	"mara/projects/monitor"
)

// callbackMethods are the methods by which a program tells the engine, besides with resources, which of its functions
// to call.
func (g *gate) callbackMethods() []grpc.MethodDesc {
	itself := func(c *pulumirpc.Callback) []*pulumirpc.Callback { return []*pulumirpc.Callback{c} }
	return []grpc.MethodDesc{
		monitor.Method("RegisterStackTransform", told(g, itself, pulumirpc.ResourceMonitorClient.RegisterStackTransform)),
		monitor.Method("RegisterStackInvokeTransform", told(g, itself, pulumirpc.ResourceMonitorClient.RegisterStackInvokeTransform)),
		monitor.Method("RegisterResourceHook", told(g, func(r *pulumirpc.RegisterResourceHookRequest) []*pulumirpc.Callback {
			return itself(r.GetCallback())
		}, pulumirpc.ResourceMonitorClient.RegisterResourceHook)),
		monitor.Method("RegisterErrorHook", told(g, func(r *pulumirpc.RegisterErrorHookRequest) []*pulumirpc.Callback {
			return itself(r.GetCallback())
		}, pulumirpc.ResourceMonitorClient.RegisterErrorHook)),
	}
}

// told passes a call on when the gate is open, with its callbacks through this process.
func told[Request any](g *gate, callbacks func(*Request) []*pulumirpc.Callback,
	call func(pulumirpc.ResourceMonitorClient, context.Context, *Request, ...grpc.CallOption) (*emptypb.Empty, error),
) func(context.Context, *Request) (*emptypb.Empty, error) {
	return func(ctx context.Context, request *Request) (*emptypb.Empty, error) {
		to, err := g.wait(ctx)
		if err != nil {
			return nil, err
		}
		if err := g.through(callbacks(request)...); err != nil {
			return nil, err
		}
		return call(pulumirpc.NewResourceMonitorClient(to.monitor), withTold(ctx), request)
	}
}

// ofResource are the callbacks of a resource.
func ofResource(request *pulumirpc.RegisterResourceRequest) []*pulumirpc.Callback {
	return slices.Concat(request.GetTransforms(), request.GetStateMigrations())
}

// through has the engine call functions of the program by way of this process. It cannot close the program's port to
// other users, because it has not started the program; this process has, and does so as soon as it is connected.
func (g *gate) through(callbacks ...*pulumirpc.Callback) error {
	g.proxying.Lock()
	defer g.proxying.Unlock()
	for _, callback := range callbacks {
		if callback.GetTarget() == "" {
			continue
		}
		if g.proxies[callback.GetTarget()] == "" {
			to, err := dial(callback.GetTarget())
			if err != nil {
				return err
			}
			to.Connect()
			passes := func(_ any, call grpc.ServerStream) error { return passOn(call, to) }
			if g.proxies[callback.GetTarget()], err = listen(g.ctx, "", nil, passes); err != nil {
				return err
			}
		}
		callback.Target = g.proxies[callback.GetTarget()]
	}
	return nil
}
