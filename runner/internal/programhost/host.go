// Package programhost serves one of the runner's programs as a language
// runtime, so that any Pulumi command, run by hand, can execute it: the command
// gets the address with --client, and neither a checkout nor a Go toolchain is
// needed.
package programhost

import (
	"context"
	"fmt"
	"maps"

	"github.com/pulumi/pulumi/sdk/v3/go/common/util/rpcutil"
	"github.com/pulumi/pulumi/sdk/v3/go/pulumi"
	pulumirpc "github.com/pulumi/pulumi/sdk/v3/proto/go"
	"google.golang.org/grpc"
	"google.golang.org/protobuf/types/known/emptypb"
)

// Options is what a Host serves.
type Options struct {
	Program pulumi.RunFunc
	// Config is what the program gets where the stack's configuration says
	// nothing.
	Config map[string]string
}

// Host serves a program until it is closed.
type Host struct {
	Address string // for --client

	cancel chan bool
	done   <-chan error
}

// Start serves a program on a port of this machine.
func Start(options Options) (*Host, error) {
	cancel := make(chan bool)
	handle, err := rpcutil.ServeWithOptions(rpcutil.ServeOptions{
		Cancel: cancel,
		Init: func(server *grpc.Server) error {
			pulumirpc.RegisterLanguageRuntimeServer(server, &runtime{options: options})
			return nil
		},
	})
	if err != nil {
		return nil, fmt.Errorf("serving the program: %w", err)
	}
	return &Host{Address: fmt.Sprintf("127.0.0.1:%d", handle.Port), cancel: cancel, done: handle.Done}, nil
}

// Close stops serving. A program that still runs is waited for; its calls fail
// as soon as the engine is gone.
func (h *Host) Close() error {
	close(h.cancel)
	return <-h.done
}

// runtime answers the engine's questions to a language runtime. A program that
// is linked in has nothing to install and requires nothing in advance.
type runtime struct {
	pulumirpc.UnimplementedLanguageRuntimeServer
	options Options
}

// Run executes the program once, for a preview or for an update.
func (r *runtime) Run(ctx context.Context, request *pulumirpc.RunRequest) (*pulumirpc.RunResponse, error) {
	program, err := pulumi.NewContext(ctx, r.info(request))
	if err != nil {
		return nil, err
	}
	defer func() { _ = program.Close() }()
	if err := r.execute(program); err != nil {
		return &pulumirpc.RunResponse{Error: err.Error()}, nil
	}
	return &pulumirpc.RunResponse{}, nil
}

// execute turns a panic of the program into an error: the command that runs it
// goes on, and has to tell the user.
func (r *runtime) execute(ctx *pulumi.Context) (err error) {
	defer func() {
		if caught := recover(); caught != nil {
			err = fmt.Errorf("the program panicked: %v", caught)
		}
	}()
	return pulumi.RunWithContext(ctx, r.options.Program)
}

// info is what a program knows about its run.
func (r *runtime) info(request *pulumirpc.RunRequest) pulumi.RunInfo {
	config := maps.Clone(r.options.Config)
	if config == nil {
		config = map[string]string{}
	}
	maps.Copy(config, request.GetConfig())
	info := pulumi.RunInfo{
		Project: request.GetProject(), Stack: request.GetStack(), Organization: request.GetOrganization(),
		RootDirectory: request.GetInfo().GetRootDirectory(),
		Config:        config, ConfigSecretKeys: request.GetConfigSecretKeys(),
		Parallel: request.GetParallel(), DryRun: request.GetDryRun(), MonitorAddr: request.GetMonitorAddress(),
	}
	// The engine's own address comes as the first argument.
	if arguments := request.GetArgs(); len(arguments) > 0 {
		info.EngineAddr = arguments[0]
	}
	return info
}

// GetRequiredPlugins implements the language runtime.
func (r *runtime) GetRequiredPlugins(context.Context, *pulumirpc.GetRequiredPluginsRequest) (*pulumirpc.GetRequiredPluginsResponse, error) {
	return &pulumirpc.GetRequiredPluginsResponse{}, nil
}

// GetRequiredPackages implements the language runtime.
func (r *runtime) GetRequiredPackages(context.Context, *pulumirpc.GetRequiredPackagesRequest) (*pulumirpc.GetRequiredPackagesResponse, error) {
	return &pulumirpc.GetRequiredPackagesResponse{}, nil
}

// GetPluginInfo implements the language runtime.
func (r *runtime) GetPluginInfo(context.Context, *emptypb.Empty) (*pulumirpc.PluginInfo, error) {
	return &pulumirpc.PluginInfo{Version: "1.0.0"}, nil
}

// InstallDependencies implements the language runtime.
func (r *runtime) InstallDependencies(*pulumirpc.InstallDependenciesRequest, pulumirpc.LanguageRuntime_InstallDependenciesServer) error {
	return nil
}
