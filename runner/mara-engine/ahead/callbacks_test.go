package ahead

import (
	"context"
	"sync"
	"testing"

	pulumirpc "github.com/pulumi/pulumi/sdk/v3/proto/go"
	"google.golang.org/grpc"
	"google.golang.org/protobuf/types/known/emptypb"

	"mara/projects/monitor"
)

// serveMethods serves methods until the test ends.
func serveMethods(t *testing.T, service string, methods ...grpc.MethodDesc) string {
	t.Helper()
	address, err := listen(t.Context(), service, methods, func(any, grpc.ServerStream) error { return nil })
	if err != nil {
		t.Fatal(err)
	}
	return address
}

// connection returns a connection that the test closes.
func connection(t *testing.T, address string) *grpc.ClientConn {
	t.Helper()
	conn, err := dial(address)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close() })
	return conn
}

// TestCallbacks: the engine calls functions of a program through the process that has started it, once its gate is open.
func TestCallbacks(t *testing.T) {
	t.Parallel()
	var targets sync.Map // that the engine is told, by token
	tell := func(_ context.Context, c *pulumirpc.Callback) (*emptypb.Empty, error) {
		targets.Store(c.GetToken(), c.GetTarget())
		return &emptypb.Empty{}, nil
	}
	engine := serveMethods(t, pulumirpc.ResourceMonitor_ServiceDesc.ServiceName,
		monitor.Method("RegisterStackTransform", tell),
		monitor.Method("RegisterStackInvokeTransform", tell),
		monitor.Method("RegisterResourceHook", func(ctx context.Context, r *pulumirpc.RegisterResourceHookRequest) (*emptypb.Empty, error) {
			return tell(ctx, r.GetCallback())
		}),
		monitor.Method("RegisterErrorHook", func(ctx context.Context, r *pulumirpc.RegisterErrorHookRequest) (*emptypb.Empty, error) {
			return tell(ctx, r.GetCallback())
		}),
		monitor.Method("RegisterResource", func(ctx context.Context, r *pulumirpc.RegisterResourceRequest) (*pulumirpc.RegisterResourceResponse, error) {
			for _, c := range ofResource(r) {
				_, _ = tell(ctx, c)
			}
			return &pulumirpc.RegisterResourceResponse{}, nil
		}))
	program := serveMethods(t, pulumirpc.Callbacks_ServiceDesc.ServiceName,
		monitor.Method("Invoke", func(_ context.Context, r *pulumirpc.CallbackInvokeRequest) (*pulumirpc.CallbackInvokeResponse, error) {
			return &pulumirpc.CallbackInvokeResponse{Response: []byte("answer to " + r.GetToken())}, nil
		}))
	run := &pulumirpc.RunRequest{Project: "app", Stack: "dev"}
	g, err := newGate(run, func() {})
	if err != nil {
		t.Fatal(err)
	}
	defer g.close()
	if err := g.open(t.Context(), engine, &pulumirpc.RunRequest{MonitorAddress: engine, LoaderTarget: engine}); err != nil {
		t.Fatal(err)
	}
	asks := pulumirpc.NewResourceMonitorClient(connection(t, g.monitor))
	callback := func(token string) *pulumirpc.Callback { return &pulumirpc.Callback{Target: program, Token: token} }
	for token, call := range map[string]func() error{
		"transform": func() error { _, err := asks.RegisterStackTransform(t.Context(), callback("transform")); return err },
		"invoke":    func() error { _, err := asks.RegisterStackInvokeTransform(t.Context(), callback("invoke")); return err },
		"hook": func() error {
			_, err := asks.RegisterResourceHook(t.Context(), &pulumirpc.RegisterResourceHookRequest{Callback: callback("hook")})
			return err
		},
		"error": func() error {
			_, err := asks.RegisterErrorHook(t.Context(), &pulumirpc.RegisterErrorHookRequest{Callback: callback("error")})
			return err
		},
		"resource": func() error {
			_, err := asks.RegisterResource(t.Context(), &pulumirpc.RegisterResourceRequest{Type: "a:b:C", Name: "x",
				Transforms: []*pulumirpc.Callback{callback("resource")}})
			return err
		},
	} {
		if err := call(); err != nil {
			t.Errorf("%s: %v", token, err)
			continue
		}
		target, _ := targets.Load(token)
		address, _ := target.(string)
		if address == program || address == "" {
			t.Errorf("%s: the engine is told %q, and the program is at %s", token, address, program)
			continue
		}
		answer, err := pulumirpc.NewCallbacksClient(connection(t, address)).Invoke(t.Context(), &pulumirpc.CallbackInvokeRequest{Token: token})
		if err != nil || string(answer.GetResponse()) != "answer to "+token {
			t.Errorf("%s: got %q, %v", token, answer.GetResponse(), err)
		}
	}
}
