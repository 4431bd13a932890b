package main

import (
	"context"
	"fmt"
	"net"
	"sync"
	"testing"

	pulumirpc "github.com/pulumi/pulumi/sdk/v3/proto/go"
	"google.golang.org/grpc"
	"google.golang.org/protobuf/types/known/emptypb"
)

// program is a Pulumi program, served as the Automation API does, that runs
// until it is released or the engine is no longer interested.
type program struct {
	pulumirpc.UnimplementedLanguageRuntimeServer
	address string
	begun   sync.Once
	started chan struct{} // closed when the program runs
	release chan struct{}
}

func startProgram(t *testing.T) *program {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	p := &program{address: listener.Addr().String(), started: make(chan struct{}), release: make(chan struct{})}
	server := grpc.NewServer()
	pulumirpc.RegisterLanguageRuntimeServer(server, p)
	var serving sync.WaitGroup
	serving.Go(func() { _ = server.Serve(listener) })
	t.Cleanup(func() {
		server.Stop()
		serving.Wait()
	})
	return p
}

// up returns the command that runs the program.
func (p *program) up() []string {
	return []string{"up", "--yes", "--skip-preview", "--client=" + p.address, "--exec-kind=auto.inline", "--stack", "organization/p/dev"}
}

// Run implements pulumirpc.LanguageRuntimeServer.
func (p *program) Run(ctx context.Context, _ *pulumirpc.RunRequest) (*pulumirpc.RunResponse, error) {
	p.begun.Do(func() { close(p.started) })
	select {
	case <-p.release:
		return &pulumirpc.RunResponse{}, nil
	case <-ctx.Done():
		return nil, fmt.Errorf("the engine left: %w", ctx.Err())
	}
}

// GetPluginInfo implements pulumirpc.LanguageRuntimeServer.
func (p *program) GetPluginInfo(context.Context, *emptypb.Empty) (*pulumirpc.PluginInfo, error) {
	return &pulumirpc.PluginInfo{Version: "1.0.0"}, nil
}

// GetRequiredPlugins implements pulumirpc.LanguageRuntimeServer.
func (p *program) GetRequiredPlugins(context.Context, *pulumirpc.GetRequiredPluginsRequest) (*pulumirpc.GetRequiredPluginsResponse, error) {
	return &pulumirpc.GetRequiredPluginsResponse{}, nil
}

// InstallDependencies implements pulumirpc.LanguageRuntimeServer.
func (p *program) InstallDependencies(*pulumirpc.InstallDependenciesRequest, grpc.ServerStreamingServer[pulumirpc.InstallDependenciesResponse]) error {
	return nil
}
