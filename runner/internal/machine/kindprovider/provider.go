// Package kindprovider is the Pulumi resource provider "kind": Kubernetes
// clusters in containers on this machine, made by kind as a library, and a
// container registry beside them.
//
// Whatever it makes carries a mark that says which stack has made it, so that it
// never takes over, changes or deletes what belongs to someone else. The mark
// is there from the first moment on: what a run has left half made is found and
// cleared away by the next.
package kindprovider

import (
	"context"
	"fmt"
	"slices"

	p "github.com/pulumi/pulumi-go-provider"
	"github.com/pulumi/pulumi-go-provider/infer"
	"github.com/pulumi/pulumi-go-provider/middleware/schema"
	"github.com/pulumi/pulumi/sdk/v3/go/common/tokens"
	"github.com/pulumi/pulumi/sdk/v3/go/pulumi/provider"
	pulumirpc "github.com/pulumi/pulumi/sdk/v3/proto/go"

	"mara/runner/internal/machine/containers"
)

const (
	// Name is the name of the provider's package.
	Name = "kind"
	// Version is the version of its schema.
	Version = "0.1.0"
)

// Config is the configuration of the provider.
type Config struct {
	Runtime *string `pulumi:"runtime,optional" doc:"The container runtime: docker, podman or nerdctl. The one found first when nil."`
}

// Annotate implements infer.Annotated.
func (c *Config) Annotate(a infer.Annotator) { describe(a, c) }

// Check implements infer.CustomCheck.
func (c *Config) Check(ctx context.Context, req infer.CheckRequest) (infer.CheckResponse[*Config], error) {
	config, failures, err := infer.DefaultCheck[*Config](ctx, req.NewInputs)
	if config != nil && config.Runtime != nil && !slices.Contains(containers.Names(), *config.Runtime) {
		failures = append(failures, p.CheckFailure{
			Property: "runtime",
			Reason: fmt.Sprintf("%q is no container runtime that kind works with: choose docker, podman or nerdctl",
				*config.Runtime),
		})
	}
	return infer.CheckResponse[*Config]{Inputs: config, Failures: failures}, err
}

// diffConfig replaces the provider and all its resources if the runtime changes: the
// containers of one runtime are not in another. Names and ports are taken once, so the
// old resources are deleted first. infer's own method keeps values of earlier calls
// and compares with them.
func diffConfig(_ context.Context, req p.DiffRequest) (p.DiffResponse, error) {
	if req.State.Get("runtime").Equals(req.Inputs.Get("runtime")) {
		return p.DiffResponse{}, nil
	}
	change := map[string]p.PropertyDiff{"runtime": {Kind: p.UpdateReplace, InputDiff: true}}
	return p.DiffResponse{HasChanges: true, DeleteBeforeReplace: true, DetailedDiff: change}, nil
}

// Serve makes the provider's server for a connection of the engine.
func Serve(open Open, engine *provider.HostClient) (pulumirpc.ResourceProviderServer, error) {
	m := &machine{open: open}
	inner, err := p.RawServer(Name, Version, newProvider(m))(engine)
	return &server{ResourceProviderServer: inner, machine: m}, err
}

// Schema describes the provider to Pulumi's tools.
func Schema(ctx context.Context) (string, error) {
	s, err := Serve(nil, nil)
	if err != nil {
		return "", err
	}
	response, err := s.GetSchema(ctx, &pulumirpc.GetSchemaRequest{})
	return response.GetSchema(), err
}

func newProvider(m *machine) p.Provider {
	made := infer.Provider(infer.Options{
		Metadata: schema.Metadata{
			DisplayName: "kind",
			Description: "Kubernetes clusters in containers on this machine, and a container registry beside them.",
			Keywords:    []string{"kind", "kubernetes", "docker", "podman"},
			License:     "Apache-2.0",
		},
		Config:    infer.Config(&Config{}),
		Resources: []infer.InferredResource{infer.Resource(&Cluster{machine: m}), infer.Resource(&Registry{machine: m})},
		ModuleMap: map[tokens.ModuleName]tokens.ModuleName{"kindprovider": "index"},
	})
	made.DiffConfig = diffConfig
	return made
}

// server learns from the engine which provider resource it serves.
type server struct {
	pulumirpc.ResourceProviderServer
	machine *machine
}

// Configure keeps the id of the provider resource: the engine makes it up when
// the stack is created and keeps it in the stack's state before it creates
// anything else, so it tells one stack from all others.
func (s *server) Configure(ctx context.Context, req *pulumirpc.ConfigureRequest) (*pulumirpc.ConfigureResponse, error) {
	s.machine.setOwner(req.GetId())
	return s.ResourceProviderServer.Configure(ctx, req)
}
