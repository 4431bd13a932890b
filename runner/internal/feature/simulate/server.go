package simulate

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/pulumi/pulumi/sdk/v3/go/common/resource"
	"github.com/pulumi/pulumi/sdk/v3/go/common/resource/plugin"
	pulumirpc "github.com/pulumi/pulumi/sdk/v3/proto/go"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/types/known/emptypb"
	"google.golang.org/protobuf/types/known/structpb"

	"mara/config"
	"mara/config/lists"
)

// server is the stand-in for one package. The engine's calls that are not
// about one resource are here; the others are in lifecycle.go.
type server struct {
	pulumirpc.UnimplementedResourceProviderServer

	pkg    Package
	types  catalogue
	opts   Options
	store  *store
	faults *faults
}

// Handshake negotiates features: the server accepts secrets and references.
func (s *server) Handshake(
	context.Context, *pulumirpc.ProviderHandshakeRequest,
) (*pulumirpc.ProviderHandshakeResponse, error) {
	return &pulumirpc.ProviderHandshakeResponse{AcceptSecrets: true, AcceptResources: true}, nil
}

// Attach ignores the address of the engine, which the stand-ins do not need.
func (s *server) Attach(context.Context, *pulumirpc.PluginAttach) (*emptypb.Empty, error) {
	return &emptypb.Empty{}, nil
}

// GetPluginInfo reports the version of the package's schema.
func (s *server) GetPluginInfo(context.Context, *emptypb.Empty) (*pulumirpc.PluginInfo, error) {
	return &pulumirpc.PluginInfo{Version: s.types.version()}, nil
}

// GetSchema answers with the package's schema, the most complete where there
// are several.
func (s *server) GetSchema(context.Context, *pulumirpc.GetSchemaRequest) (*pulumirpc.GetSchemaResponse, error) {
	if s.pkg.Shown != nil {
		return &pulumirpc.GetSchemaResponse{Schema: string(s.pkg.Shown)}, nil
	}
	if len(s.pkg.Schemas) == 0 {
		return nil, status.Error(codes.Unimplemented, WaysToSchema(s.pkg.Name))
	}
	return &pulumirpc.GetSchemaResponse{Schema: string(s.pkg.Schemas[s.types.largest()])}, nil
}

// Cancel ends what runs for this connection's operation.
func (s *server) Cancel(ctx context.Context, _ *emptypb.Empty) (*emptypb.Empty, error) {
	sessionOf(ctx).cancel()
	return &emptypb.Empty{}, nil
}

// CheckConfig checks the configuration of a provider.
func (s *server) CheckConfig(_ context.Context, req *pulumirpc.CheckRequest) (*pulumirpc.CheckResponse, error) {
	config, err := unmarshal(req.GetNews())
	if err != nil {
		return nil, err
	}
	types := s.types.config()
	types.open = types.open || s.pkg.OpenConfig
	problems := checkInputs(decodeConfig(config, types), types)
	if _, err := s.scope(config); err != nil && len(problems) == 0 {
		problems = append(problems, Problem{Reason: err.Error()})
	}
	return &pulumirpc.CheckResponse{Inputs: req.GetNews(), Failures: failures("provider "+s.pkg.Name, problems)}, nil
}

// DiffConfig replaces a provider, and with it all its resources, when it would
// reach something else than before.
func (s *server) DiffConfig(_ context.Context, req *pulumirpc.DiffRequest) (*pulumirpc.DiffResponse, error) {
	before, errBefore := unmarshal(req.GetOldInputs())
	after, errAfter := unmarshal(req.GetNews())
	if err := errors.Join(errBefore, errAfter); err != nil {
		return nil, err
	}
	was, wasErr := s.scope(before)
	is, isErr := s.scope(after)
	var replaceOn []string
	if wasErr == nil && isErr == nil && is.isAnother(was) && !after.ContainsUnknowns() {
		replaceOn = names(plainMap(after))
	}
	return compare(before, after, replaceOn, false), nil
}

// isAnother reports whether a provider that has reached one scope reaches another one now.
func (s Scope) isAnother(was Scope) bool {
	if was.Identity != "" && s.Identity != "" {
		return was.Identity != s.Identity
	}
	return was.Name != s.Name
}

// Configure remembers the configuration for the connection.
func (s *server) Configure(ctx context.Context, req *pulumirpc.ConfigureRequest) (*pulumirpc.ConfigureResponse, error) {
	config, err := unmarshal(req.GetArgs())
	if err != nil {
		return nil, err
	}
	scope, err := s.scope(config)
	if err != nil {
		return nil, status.Error(codes.InvalidArgument, err.Error())
	}
	sessionOf(ctx).configure(decodeConfig(config, s.types.config()), scope)
	return &pulumirpc.ConfigureResponse{AcceptSecrets: true, AcceptResources: true, SupportsPreview: true}, nil
}

func (s *server) scope(config resource.PropertyMap) (Scope, error) {
	if s.pkg.Scope == nil || config.ContainsUnknowns() {
		return Scope{}, nil
	}
	return s.pkg.Scope(plainMap(decodeConfig(config, s.types.config())), s.store.facts)
}

// Invoke calls a function.
func (s *server) Invoke(ctx context.Context, req *pulumirpc.InvokeRequest) (*pulumirpc.InvokeResponse, error) {
	f, ok := s.types.function(req.GetTok())
	if !ok {
		return nil, s.unknown("function", req.GetTok(), s.types.functions())
	}
	args, err := unmarshal(req.GetArgs())
	if err != nil {
		return nil, err
	}
	args = f.inputs.coerced(args)
	if problems := checkInputs(args, f.inputs); len(problems) > 0 {
		return &pulumirpc.InvokeResponse{Failures: failures(f.Token, problems)}, nil
	}
	result, err := f.answer(s.object(ctx, f.Token, "", args))
	if err != nil {
		return nil, status.Error(codes.Unknown, err.Error())
	}
	if problems := checkInputs(result, f.outputs); len(problems) > 0 {
		return nil, status.Errorf(codes.Internal, "the simulation of %s is wrong: result %s: %s",
			f.Token, problems[0].Path, problems[0].Reason)
	}
	values, err := marshal(result)
	return &pulumirpc.InvokeResponse{Return: values}, err
}

// object returns a resource or a call in the form for descriptions.
func (s *server) object(ctx context.Context, token, urn string, inputs resource.PropertyMap) Object {
	config, scope := sessionOf(ctx).settings()
	o := newObject(token, resource.URN(urn), inputs)
	o.Scope, o.config = scope.Name, plainMap(config)
	return o
}

// unknown returns the error for what no schema has. Where the schema is a part of the package's, it
// says how to have the whole.
func (s *server) unknown(what, token string, known []string) error {
	text := fmt.Sprintf("the simulated %s has no %s %q%s", s.pkg.Name, what, token, config.DidYouMean(token, known))
	if s.pkg.IsPartial() {
		text += fmt.Sprintf("; it knows %d of the package's %ss, and %s", len(known), what, WaysToSchema(s.pkg.Name))
	}
	return status.Error(codes.InvalidArgument, text)
}

// failures returns the problems of a provider or a call with its name.
func failures(token string, problems []Problem) []*pulumirpc.CheckFailure {
	return lists.Map(problems, func(p Problem) *pulumirpc.CheckFailure {
		return &pulumirpc.CheckFailure{Property: p.Path, Reason: token + ": " + p.Reason}
	})
}

// inputFailures returns the problems of a resource, whose type and name the engine prints before each. It would print the value
// of a property as Go does, too, and knows none but the whole inputs.
func inputFailures(problems []Problem) []*pulumirpc.CheckFailure {
	return lists.Map(problems, func(p Problem) *pulumirpc.CheckFailure {
		if strings.Contains(p.Reason, p.Path) { // as most say
			return &pulumirpc.CheckFailure{Reason: p.Reason}
		}
		return &pulumirpc.CheckFailure{Reason: "property " + p.Path + ": " + p.Reason}
	})
}

// complete keeps everything that a property can say.
var complete = plugin.MarshalOptions{KeepUnknowns: true, KeepSecrets: true, KeepResources: true}

func unmarshal(values *structpb.Struct) (resource.PropertyMap, error) {
	return plugin.UnmarshalProperties(values, complete)
}

func marshal(values resource.PropertyMap) (*structpb.Struct, error) {
	return plugin.MarshalProperties(values, complete)
}
