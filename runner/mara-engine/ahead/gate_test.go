package ahead

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"

	"github.com/pulumi/pulumi/sdk/v3/go/common/resource"
	pulumirpc "github.com/pulumi/pulumi/sdk/v3/proto/go"
	"google.golang.org/protobuf/types/known/emptypb"

	"mara/projects/monitor"
)

// TestNothingPassesAClosedGate: an engine hears of nothing that a program asks before its turn, and of all of it after.
func TestNothingPassesAClosedGate(t *testing.T) {
	t.Parallel()
	var resources, functions, lines atomic.Int32
	monitors := serveMethods(t, pulumirpc.ResourceMonitor_ServiceDesc.ServiceName,
		monitor.Method("RegisterResource", func(_ context.Context, r *pulumirpc.RegisterResourceRequest) (*pulumirpc.RegisterResourceResponse, error) {
			resources.Add(1)
			urn := "urn:pulumi:dev::app::" + r.GetType() + "::" + r.GetName()
			return &pulumirpc.RegisterResourceResponse{Urn: urn}, nil
		}),
		monitor.Method("Invoke", func(context.Context, *pulumirpc.ResourceInvokeRequest) (*pulumirpc.ResourceInvokeResponse, error) {
			functions.Add(1)
			return &pulumirpc.ResourceInvokeResponse{}, nil
		}))
	engine := serveMethods(t, pulumirpc.Engine_ServiceDesc.ServiceName,
		monitor.Method("Log", func(context.Context, *pulumirpc.LogRequest) (*emptypb.Empty, error) {
			lines.Add(1)
			return &emptypb.Empty{}, nil
		}))
	held := make(chan struct{})
	g, err := newGate(&pulumirpc.RunRequest{Project: "app", Stack: "dev"}, func() { close(held) })
	if err != nil {
		t.Fatal(err)
	}
	defer g.close()
	asks := pulumirpc.NewResourceMonitorClient(connection(t, g.monitor))
	root, err := asks.RegisterResource(t.Context(), &pulumirpc.RegisterResourceRequest{Type: string(resource.RootStackType), Name: "app-dev"})
	if err != nil || root.GetUrn() != "urn:pulumi:dev::app::pulumi:pulumi:Stack::app-dev" {
		t.Fatalf("the stack is %q, %v", root.GetUrn(), err)
	}
	if _, err := pulumirpc.NewEngineClient(connection(t, g.engine)).Log(t.Context(), line("hello")); err != nil {
		t.Fatal(err)
	}
	asked := make(chan error, 2)
	go func() {
		_, err := asks.RegisterResource(t.Context(), &pulumirpc.RegisterResourceRequest{Type: "a:b:C", Name: "x", Custom: true})
		asked <- err
	}()
	go func() {
		_, err := asks.Invoke(t.Context(), &pulumirpc.ResourceInvokeRequest{Tok: "a:b:c"})
		asked <- err
	}()
	<-held
	if n := resources.Load() + functions.Load() + lines.Load(); n != 0 || len(asked) > 0 {
		t.Fatalf("the engine was asked %d times, and %d calls have ended, before the turn of the program", n, len(asked))
	}
	if err := g.open(t.Context(), engine, &pulumirpc.RunRequest{MonitorAddress: monitors, LoaderTarget: monitors}); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if err := <-asked; err != nil {
			t.Error(err)
		}
	}
	if resources.Load() != 2 || functions.Load() != 1 || lines.Load() != 1 {
		t.Errorf("the engine heard of %d resources, %d functions and %d lines", resources.Load(), functions.Load(), lines.Load())
	}
}

// TestAnotherEngine: a gate that has answered otherwise than the engine does not open, and the engine has heard of nothing.
func TestAnotherEngine(t *testing.T) {
	t.Parallel()
	var resources atomic.Int32
	engine := serveMethods(t, pulumirpc.ResourceMonitor_ServiceDesc.ServiceName,
		monitor.Method("SupportsFeature", func(context.Context, *pulumirpc.SupportsFeatureRequest) (*pulumirpc.SupportsFeatureResponse, error) {
			return &pulumirpc.SupportsFeatureResponse{}, nil
		}),
		monitor.Method("RegisterResource", func(context.Context, *pulumirpc.RegisterResourceRequest) (*pulumirpc.RegisterResourceResponse, error) {
			resources.Add(1)
			return &pulumirpc.RegisterResourceResponse{}, nil
		}))
	g, err := newGate(&pulumirpc.RunRequest{Project: "app", Stack: "dev"}, func() {})
	if err != nil {
		t.Fatal(err)
	}
	defer g.close()
	asks := pulumirpc.NewResourceMonitorClient(connection(t, g.monitor))
	answer, err := asks.SupportsFeature(t.Context(), &pulumirpc.SupportsFeatureRequest{Id: "secrets"})
	if err != nil || !answer.GetHasSupport() {
		t.Fatal(answer, err)
	}
	if _, err := asks.RegisterResource(t.Context(), &pulumirpc.RegisterResourceRequest{Type: string(resource.RootStackType), Name: "app-dev"}); err != nil {
		t.Fatal(err)
	}
	if err := g.open(t.Context(), engine, &pulumirpc.RunRequest{MonitorAddress: engine, LoaderTarget: engine}); !errors.Is(err, errDiffers) {
		t.Errorf("the gate opens for an engine without secrets: %v", err)
	}
	if resources.Load() != 0 {
		t.Error("the engine has heard of the stack")
	}
}

// TestIsSame: a program that was started for one request goes on with another only if that says the same.
func TestIsSame(t *testing.T) {
	t.Parallel()
	started := &pulumirpc.RunRequest{Project: "app", Stack: "dev", Config: map[string]string{"app:size": "1"}, ConfigSecretKeys: []string{"a", "b"}}
	for name, test := range map[string]struct {
		other *pulumirpc.RunRequest
		want  bool
	}{
		"addresses and order": {&pulumirpc.RunRequest{Project: "app", Stack: "dev", Config: map[string]string{"app:size": "1"},
			ConfigSecretKeys: []string{"b", "a"}, MonitorAddress: "127.0.0.1:1", LoaderTarget: "127.0.0.1:2"}, true},
		"a value":    {&pulumirpc.RunRequest{Project: "app", Stack: "dev", Config: map[string]string{"app:size": "2"}, ConfigSecretKeys: []string{"a", "b"}}, false},
		"a secret":   {&pulumirpc.RunRequest{Project: "app", Stack: "dev", Config: map[string]string{"app:size": "1"}, ConfigSecretKeys: []string{"a"}}, false},
		"a preview":  {&pulumirpc.RunRequest{Project: "app", Stack: "dev", Config: map[string]string{"app:size": "1"}, ConfigSecretKeys: []string{"a", "b"}, DryRun: true}, false},
		"everything": {started, true},
	} {
		if got := isSame(started, test.other); got != test.want {
			t.Errorf("%s: %t", name, got)
		}
	}
}
