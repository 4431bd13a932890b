// Package languagehost is what the language hosts have in common: how Pulumi
// starts them, how they end, and the answers that are the same for all.
package languagehost

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os/signal"
	"syscall"
	"time"

	"github.com/pulumi/pulumi/sdk/v3"
	"github.com/pulumi/pulumi/sdk/v3/go/common/util/rpcutil"
	pulumirpc "github.com/pulumi/pulumi/sdk/v3/proto/go"
	"google.golang.org/grpc"
	"google.golang.org/protobuf/types/known/emptypb"
)

// healthTime is how often a host looks whether its engine is still there.
const healthTime = time.Minute

// Flags returns flags to which a host adds its own: Pulumi passes some to every host.
func Flags(name string) *flag.FlagSet {
	flags := flag.NewFlagSet(name, flag.ContinueOnError)
	for _, name := range []string{"tracing", "v"} {
		flags.String(name, "", "ignored")
	}
	flags.Bool("logtostderr", false, "ignored")
	flags.Usage = func() { fmt.Fprintf(flags.Output(), "%s: %v\n", flags.Name(), ErrNoEngine) }
	return flags
}

// ErrNoEngine is the error of a host that a user has started.
var ErrNoEngine = errors.New(
	"this program is started by Pulumi, with the address of its engine; use `pulumi up` in the directory of a project")

// Host has the answers of a language that needs no files: what is left is Run.
type Host struct {
	pulumirpc.UnimplementedLanguageRuntimeServer
	Engine string // address of the one that has started the host
}

// Handshake implements the language host.
func (h *Host) Handshake(
	ctx context.Context, request *pulumirpc.LanguageHandshakeRequest,
) (*pulumirpc.LanguageHandshakeResponse, error) {
	connectionOf(ctx).engine.Store(request.GetEngineAddress())
	return &pulumirpc.LanguageHandshakeResponse{}, nil
}

// EngineOf returns the address of the engine that calls: the one it has named, or the one that
// started this host.
func (h *Host) EngineOf(ctx context.Context) string {
	if address, ok := connectionOf(ctx).engine.Load().(string); ok && address != "" {
		return address
	}
	return h.Engine
}

// GetRequiredPackages implements the language host: plugins come when a program
// needs them.
func (h *Host) GetRequiredPackages(
	context.Context, *pulumirpc.GetRequiredPackagesRequest,
) (*pulumirpc.GetRequiredPackagesResponse, error) {
	return &pulumirpc.GetRequiredPackagesResponse{}, nil
}

// InstallDependencies implements the language host: there are none.
func (h *Host) InstallDependencies(
	*pulumirpc.InstallDependenciesRequest, pulumirpc.LanguageRuntime_InstallDependenciesServer,
) error {
	return nil
}

// GetProgramDependencies implements the language host: there are none.
func (h *Host) GetProgramDependencies(
	context.Context, *pulumirpc.GetProgramDependenciesRequest,
) (*pulumirpc.GetProgramDependenciesResponse, error) {
	return &pulumirpc.GetProgramDependenciesResponse{}, nil
}

// RuntimeOptionsPrompts implements the language host: nothing is asked.
func (h *Host) RuntimeOptionsPrompts(
	context.Context, *pulumirpc.RuntimeOptionsRequest,
) (*pulumirpc.RuntimeOptionsResponse, error) {
	return &pulumirpc.RuntimeOptionsResponse{}, nil
}

// About implements the language host.
func (h *Host) About(context.Context, *pulumirpc.AboutRequest) (*pulumirpc.AboutResponse, error) {
	return &pulumirpc.AboutResponse{Version: sdk.Version.String()}, nil
}

// GetPluginInfo implements the language host.
func (h *Host) GetPluginInfo(context.Context, *emptypb.Empty) (*pulumirpc.PluginInfo, error) {
	return &pulumirpc.PluginInfo{Version: sdk.Version.String()}, nil
}

// Cancel implements the language host. Programs end by themselves when the
// engine answers no more.
func (h *Host) Cancel(context.Context, *emptypb.Empty) (*emptypb.Empty, error) {
	return &emptypb.Empty{}, nil
}

// ServeEngine serves one engine until it is gone or the user interrupts, and
// prints the port, as Pulumi expects. A program that still runs is waited for.
func ServeEngine(engine string, server pulumirpc.LanguageRuntimeServer) error {
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGINT)
	defer stop()
	if err := rpcutil.Healthcheck(ctx, engine, healthTime, stop); err != nil {
		return err
	}
	served, err := Serve(ctx, server)
	if err != nil {
		return err
	}
	fmt.Println(served.Port)
	return <-served.Done
}

// Serve serves on a port of this machine until ctx ends.
func Serve(ctx context.Context, server pulumirpc.LanguageRuntimeServer) (rpcutil.ServeHandle, error) {
	return Listen(ctx, func(registrar *grpc.Server) {
		pulumirpc.RegisterLanguageRuntimeServer(registrar, server)
	}, grpc.StatsHandler(connections{}))
}

// Listen serves what is registered on a port of this machine until ctx ends.
func Listen(
	ctx context.Context, register func(*grpc.Server), options ...grpc.ServerOption,
) (rpcutil.ServeHandle, error) {
	cancel := make(chan bool)
	context.AfterFunc(ctx, func() { close(cancel) })
	return rpcutil.ServeWithOptions(rpcutil.ServeOptions{
		Cancel:  cancel,
		Options: options,
		Init: func(registrar *grpc.Server) error {
			register(registrar)
			return nil
		},
	})
}
