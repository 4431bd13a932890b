package simulate

import (
	"context"
	"maps"
	"slices"
	"strings"

	"github.com/pulumi/pulumi/sdk/v3/go/common/resource"
	pulumirpc "github.com/pulumi/pulumi/sdk/v3/proto/go"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/status"

	"mara/config/lists"
)

// Construct registers a component of a package, with the outputs that its schema gives it. It has those children that its inputs
// tell: of others only its program knows, and that is in the plugin.
func (s *server) Construct(ctx context.Context, req *pulumirpc.ConstructRequest) (*pulumirpc.ConstructResponse, error) {
	d, ok := s.types.resource(req.GetType())
	if !ok {
		return nil, status.Errorf(codes.FailedPrecondition, "what is in the component %s, only its program says, which is in the plugin; "+
			"--simulate-unknown inputs simulates it without, --skip leaves the project out", req.GetType())
	}
	inputs, err := unmarshal(req.GetInputs())
	if err != nil {
		return nil, err
	}
	var children []Child
	told := false
	if s.pkg.Children != nil {
		children, told = s.pkg.Children(s.object(ctx, d.Token, "", inputs))
	}
	if s.opts.Component != nil && !told {
		s.opts.Component(req.GetType())
	}
	if problems := checkInputs(inputs, d.inputs); len(problems) > 0 {
		said := lists.Map(problems, func(p Problem) string { return p.Path + ": " + p.Reason })
		return nil, status.Errorf(codes.InvalidArgument, "%s %s: %s", req.GetType(), req.GetName(), strings.Join(said, "; "))
	}
	conn, err := grpc.NewClient(req.GetMonitorEndpoint(), grpc.WithTransportCredentials(insecure.NewCredentials()),
		grpc.WithDefaultCallOptions(grpc.MaxCallRecvMsgSize(maxMessage)))
	if err != nil {
		return nil, err
	}
	defer func() { _ = conn.Close() }()
	monitor := pulumirpc.NewResourceMonitorClient(conn)
	registered, err := monitor.RegisterResource(ctx, registration(req))
	if err != nil {
		return nil, err
	}
	for _, child := range children {
		values, err := marshal(resource.NewPropertyMapFromMap(child.Inputs))
		if err != nil {
			return nil, err
		}
		_, err = monitor.RegisterResource(ctx, &pulumirpc.RegisterResourceRequest{
			Type: child.Token, Name: child.Name, Custom: true, Parent: registered.GetUrn(), Object: values,
			Provider: req.GetProviders()[s.pkg.Name], AcceptSecrets: true, AcceptResources: true,
		})
		if err != nil {
			return nil, err
		}
	}
	o := s.object(ctx, d.Token, registered.GetUrn(), inputs)
	shown := d.show(s.pkg, o, inputs)
	if req.GetDryRun() {
		shown = forecast(shown, inputs, nil)
	}
	outputs, err := marshal(shown)
	if err != nil {
		return nil, err
	}
	_, err = monitor.RegisterResourceOutputs(ctx, &pulumirpc.RegisterResourceOutputsRequest{Urn: registered.GetUrn(), Outputs: outputs})
	return &pulumirpc.ConstructResponse{Urn: registered.GetUrn(), State: outputs}, err
}

// registration returns the request that registers a component.
func registration(req *pulumirpc.ConstructRequest) *pulumirpc.RegisterResourceRequest {
	return &pulumirpc.RegisterResourceRequest{
		Type: req.GetType(), Name: req.GetName(), Parent: req.GetParent(), Object: req.GetInputs(),
		Dependencies: slices.Sorted(slices.Values(req.GetDependencies())), Providers: maps.Clone(req.GetProviders()),
		Protect: req.Protect, Aliases: req.GetAliases(), AliasSpecs: true, RetainOnDelete: req.RetainOnDelete, //nolint:protogetter // nil is no choice
		AcceptSecrets: true, AcceptResources: true, SupportsResultReporting: true,
	}
}
