package ahead

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/pulumi/pulumi/sdk/v3/go/common/resource"
	"github.com/pulumi/pulumi/sdk/v3/go/common/resource/urn"
	"github.com/pulumi/pulumi/sdk/v3/go/common/tokens"
	pulumirpc "github.com/pulumi/pulumi/sdk/v3/proto/go"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/emptypb"

	"mara/projects/monitor"
)

// gate stands in for the engine of a program that waits for its turn.
type gate struct {
	run  *pulumirpc.RunRequest // what the program was started with
	held func()                // called once, when the program is held

	monitor, engine, loader string // addresses, for the program

	ctx    context.Context //nolint:containedctx // ends the servers
	stop   context.CancelFunc
	opened chan struct{} // closed when to is set
	used   atomic.Bool   // the engine has heard of the program

	mu        sync.Mutex // guards what follows, also while the gate opens
	root      *pulumirpc.RegisterResourceRequest
	rootTold  metadata.MD // what the language host has added to it
	setRoot   *pulumirpc.SetRootResourceRequest
	said      []*pulumirpc.LogRequest
	size      int             // of what was said
	asked     map[string]bool // features
	askedInfo bool
	to        *targets // nil until it is open

	proxying sync.Mutex        // guards proxies
	proxies  map[string]string // addresses by which the engine calls the program, by those of the program
}

// targets are what a program asks once its gate is open.
type targets struct{ monitor, engine, loader *grpc.ClientConn }

// mostSaid bounds what a program may print before its turn. It is held when it prints more.
const mostSaid = 1 << 20

// newGate serves a gate until close is called.
func newGate(run *pulumirpc.RunRequest, held func()) (*gate, error) {
	ctx, stop := context.WithCancel(context.Background())
	g := &gate{run: run, held: sync.OnceFunc(held), ctx: ctx, stop: stop, opened: make(chan struct{}), asked: map[string]bool{},
		proxies: map[string]string{}}
	for _, server := range []struct {
		address *string
		service string
		methods []grpc.MethodDesc
		to      func(targets) *grpc.ClientConn
	}{
		{&g.monitor, pulumirpc.ResourceMonitor_ServiceDesc.ServiceName, append(g.callbackMethods(),
			monitor.Method("SupportsFeature", g.supportsFeature),
			monitor.Method("GetDeploymentInfo", g.deploymentInfo),
			monitor.Method("RegisterResource", g.register),
		), func(t targets) *grpc.ClientConn { return t.monitor }},
		{&g.engine, pulumirpc.Engine_ServiceDesc.ServiceName, []grpc.MethodDesc{
			monitor.Method("Log", g.log),
			monitor.Method("SetRootResource", g.setRootResource),
		}, func(t targets) *grpc.ClientConn { return t.engine }},
		{&g.loader, "", nil, func(t targets) *grpc.ClientConn { return t.loader }},
	} {
		address, err := listen(ctx, server.service, server.methods, g.forward(server.to))
		if err != nil {
			stop()
			return nil, err
		}
		*server.address = address
	}
	return g, nil
}

// close fails what is held.
func (g *gate) close() { g.stop() }

// wait holds a call until the gate is open.
func (g *gate) wait(ctx context.Context) (targets, error) {
	select {
	case <-g.opened:
		g.used.Store(true)
		return *g.to, nil
	default:
	}
	g.held()
	select {
	case <-g.opened:
		g.used.Store(true)
		return *g.to, nil
	case <-ctx.Done():
		return targets{}, ctx.Err()
	}
}

// forward passes calls on when the gate is open.
func (g *gate) forward(pick func(targets) *grpc.ClientConn) grpc.StreamHandler {
	return func(_ any, call grpc.ServerStream) error {
		to, err := g.wait(call.Context())
		if err != nil {
			return err
		}
		return passOn(call, pick(to))
	}
}

// now returns what the program asks if the gate is open. The caller holds the lock.
func (g *gate) now() (targets, bool) {
	if g.to == nil {
		return targets{}, false
	}
	return *g.to, true
}

// supportsFeature answers as the engine does, which is of the same build.
func (g *gate) supportsFeature(ctx context.Context, request *pulumirpc.SupportsFeatureRequest) (
	*pulumirpc.SupportsFeatureResponse, error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if to, open := g.now(); open {
		return pulumirpc.NewResourceMonitorClient(to.monitor).SupportsFeature(ctx, request)
	}
	g.asked[request.GetId()] = slices.Contains(probed, request.GetId())
	return &pulumirpc.SupportsFeatureResponse{HasSupport: g.asked[request.GetId()]}, nil
}

// probed are the features that the engine has when it is asked for one.
var probed = []string{"secrets", "resourceReferences", "outputValues", "registerResourceOutputValues", "aliasSpecs",
	"replacementTrigger", "deletedWith", "replaceWith", "transforms", "invokeTransforms", "parameterization", "resourceHooks",
	"errorHooks", "sendsOptionsToHooks"}

// expectedInfo returns what the engine will say of the deployment. It has all features of its build; where a backend
// lacks one, the program is started anew.
func (g *gate) expectedInfo() *pulumirpc.DeploymentInfo {
	info := &pulumirpc.DeploymentInfo{
		Project: g.run.GetProject(), Stack: g.run.GetStack(), Organization: g.run.GetOrganization(), Config: g.run.GetConfig(),
		ConfigSecretKeys: g.run.GetConfigSecretKeys(), DryRun: g.run.GetDryRun(), Parallel: g.run.GetParallel(),
	}
	for number := range pulumirpc.ResourceMonitorFeature_name {
		info.SupportedFeatures = append(info.SupportedFeatures, pulumirpc.ResourceMonitorFeature(number))
	}
	slices.Sort(info.SupportedFeatures)
	return info
}

func (g *gate) deploymentInfo(ctx context.Context, request *emptypb.Empty) (*pulumirpc.DeploymentInfo, error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if to, open := g.now(); open {
		return pulumirpc.NewResourceMonitorClient(to.monitor).GetDeploymentInfo(ctx, request)
	}
	g.askedInfo = true
	return g.expectedInfo(), nil
}

// register answers that the stack itself is registered, which needs no engine: its name is known, and it has no inputs
// that would change. All other resources wait.
func (g *gate) register(ctx context.Context, request *pulumirpc.RegisterResourceRequest) (
	*pulumirpc.RegisterResourceResponse, error) {
	if err := g.through(ofResource(request)...); err != nil {
		return nil, err
	}
	if request.GetType() == string(resource.RootStackType) && request.GetParent() == "" {
		if response := g.registerRoot(ctx, request); response != nil {
			return response, nil
		}
	}
	to, err := g.wait(ctx)
	if err != nil {
		return nil, err
	}
	return pulumirpc.NewResourceMonitorClient(to.monitor).RegisterResource(withTold(ctx), request)
}

// registerRoot notes the registration of the stack, or returns nil if the gate is open, or has one.
func (g *gate) registerRoot(ctx context.Context, request *pulumirpc.RegisterResourceRequest,
) *pulumirpc.RegisterResourceResponse {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.to != nil || g.root != nil {
		return nil
	}
	g.root = request
	g.rootTold, _ = metadata.FromIncomingContext(ctx)
	return &pulumirpc.RegisterResourceResponse{Urn: g.rootURN(), Object: request.GetObject()}
}

func (g *gate) rootURN() string {
	return string(urn.New(tokens.QName(g.run.GetStack()), tokens.PackageName(g.run.GetProject()), "", resource.RootStackType,
		g.root.GetName()))
}

func (g *gate) setRootResource(ctx context.Context, request *pulumirpc.SetRootResourceRequest) (
	*pulumirpc.SetRootResourceResponse, error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if to, open := g.now(); open {
		return pulumirpc.NewEngineClient(to.engine).SetRootResource(ctx, request)
	}
	g.setRoot = request
	return &pulumirpc.SetRootResourceResponse{}, nil
}

// log notes a message of the program for later.
func (g *gate) log(ctx context.Context, request *pulumirpc.LogRequest) (*emptypb.Empty, error) {
	if g.note(request) {
		return &emptypb.Empty{}, nil
	}
	to, err := g.wait(ctx)
	if err != nil {
		return nil, err
	}
	return pulumirpc.NewEngineClient(to.engine).Log(ctx, request)
}

// note notes a message, unless the gate is open or there are too many.
func (g *gate) note(request *pulumirpc.LogRequest) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.to != nil || g.size > mostSaid {
		return false
	}
	g.said = append(g.said, request)
	g.size += len(request.GetMessage()) + 1
	return true
}

// errDiffers is the error of a gate that cannot be opened because the engine is another than the program was told. The
// engine does not know of the program then.
var errDiffers = errors.New("the program was started for another engine")

// open tells the engine what the program has done, and lets the program go on.
func (g *gate) open(ctx context.Context, engine string, run *pulumirpc.RunRequest) error {
	to := targets{}
	for _, end := range []struct {
		address string
		conn    **grpc.ClientConn
	}{{run.GetMonitorAddress(), &to.monitor}, {engine, &to.engine}, {run.GetLoaderTarget(), &to.loader}} {
		var err error
		if *end.conn, err = dial(end.address); err != nil {
			return fmt.Errorf("%w: %w", errDiffers, err)
		}
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	if err := g.compare(ctx, pulumirpc.NewResourceMonitorClient(to.monitor)); err != nil {
		return err
	}
	client := pulumirpc.NewEngineClient(to.engine)
	if g.root != nil {
		told := metadata.NewOutgoingContext(ctx, g.rootTold)
		registered, err := pulumirpc.NewResourceMonitorClient(to.monitor).RegisterResource(told, g.root)
		if err != nil {
			return err
		}
		if registered.GetUrn() != g.rootURN() {
			return status.Errorf(codes.Internal, "the stack is %s and not %s", registered.GetUrn(), g.rootURN())
		}
	}
	if g.setRoot != nil {
		if _, err := client.SetRootResource(ctx, g.setRoot); err != nil {
			return err
		}
	}
	for _, said := range g.said {
		if _, err := client.Log(ctx, said); err != nil {
			return err
		}
	}
	g.used.Store(g.root != nil)
	g.said, g.to = nil, &to
	close(g.opened)
	return nil
}

// compare asks the engine what the gate has answered in its place.
func (g *gate) compare(ctx context.Context, engine pulumirpc.ResourceMonitorClient) error {
	for id, has := range g.asked {
		answer, err := engine.SupportsFeature(ctx, &pulumirpc.SupportsFeatureRequest{Id: id})
		if err != nil || answer.GetHasSupport() != has {
			return fmt.Errorf("%w: feature %s", errDiffers, id)
		}
	}
	if !g.askedInfo {
		return nil
	}
	info, err := engine.GetDeploymentInfo(ctx, &emptypb.Empty{})
	if err != nil {
		return fmt.Errorf("%w: %w", errDiffers, err)
	}
	slices.Sort(info.GetSupportedFeatures())
	slices.Sort(info.GetConfigSecretKeys())
	expected := g.expectedInfo()
	slices.Sort(expected.GetConfigSecretKeys())
	if !proto.Equal(info, expected) {
		return fmt.Errorf("%w: what it says of the deployment", errDiffers)
	}
	return nil
}
