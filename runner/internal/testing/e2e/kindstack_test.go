package e2e

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/pulumi/pulumi/sdk/v3/go/auto"
	"github.com/pulumi/pulumi/sdk/v3/go/auto/events"
	"github.com/pulumi/pulumi/sdk/v3/go/auto/optdestroy"
	"github.com/pulumi/pulumi/sdk/v3/go/auto/optpreview"
	"github.com/pulumi/pulumi/sdk/v3/go/auto/optrefresh"
	"github.com/pulumi/pulumi/sdk/v3/go/auto/optup"
	"github.com/pulumi/pulumi/sdk/v3/go/common/apitype"
	"github.com/pulumi/pulumi/sdk/v3/go/pulumi"
	pulumirpc "github.com/pulumi/pulumi/sdk/v3/proto/go"
	"google.golang.org/grpc"
	"google.golang.org/protobuf/types/known/emptypb"

	"mara/projects/infrastructure/kind/kindsdk"
	"mara/runner/internal/core/pulumicli"
	"mara/runner/internal/feature/kind/kindprovider"
	"mara/runner/internal/testing/kindtest"
)

const (
	nodeImage     = "kindest/node:test"
	registryImage = "registry:test"
)

// kindStack is a stack of kind's resources on the real engine, with the provider
// of this module attached and a machine in memory behind it.
type kindStack struct {
	*testing.T
	machine *kindtest.Machine // nil where open opens a real one
	open    kindprovider.Open
	pool    *pulumicli.Pool
	home    string
	stack   auto.Stack

	// What the program declares.
	cluster  kindsdk.ClusterArgs
	registry *kindsdk.RegistryArgs // nil for none
	runtime  string
	deaf     bool // the provider does not hear that it is no longer needed
}

// deaf is a provider that stands for several processes: when the engine ends
// one of them, the others work on.
type deaf struct {
	pulumirpc.ResourceProviderServer
}

// Cancel implements the engine's farewell.
func (deaf) Cancel(context.Context, *emptypb.Empty) (*emptypb.Empty, error) {
	return &emptypb.Empty{}, nil
}

// enginePool shares mara-engine's workers among the tests of a process.
func enginePool(t *testing.T) *pulumicli.Pool {
	t.Helper()
	pool := pulumicli.NewPool(program(t, "mara-engine"))
	t.Cleanup(func() { _ = pool.Close() })
	return pool
}

func newKindStack(t *testing.T, machine *kindtest.Machine) *kindStack {
	t.Helper()
	s := newKindStackOn(t, machine.Open)
	s.machine = machine
	return s
}

func newKindStackOn(t *testing.T, open kindprovider.Open) *kindStack {
	t.Helper()
	s := &kindStack{T: t, open: open, pool: enginePool(t), home: t.TempDir()}
	s.cluster = kindsdk.ClusterArgs{
		Name: pulumi.String("mara-dev"), NodeImage: pulumi.String(nodeImage),
		HTTPPort: pulumi.Int(80), HTTPSPort: pulumi.Int(443),
	}
	s.openStack()
	return s
}

// openStack opens the stack, which is made when it is missing.
func (s *kindStack) openStack() {
	s.Helper()
	state := filepath.Join(s.home, "state")
	if err := os.MkdirAll(state, 0o700); err != nil {
		s.Fatal(err)
	}
	var err error
	s.stack, err = auto.UpsertStackInlineSource(s.Context(), "dev", "kind-test", s.program, auto.Pulumi(s.pool), auto.WorkDir(s.TempDir()), auto.EnvVars(map[string]string{
		"PULUMI_BACKEND_URL":                          "file://" + state,
		"PULUMI_CONFIG_PASSPHRASE":                    "test",
		"PULUMI_HOME":                                 s.home,
		"PULUMI_DISABLE_AUTOMATIC_PLUGIN_ACQUISITION": "true",
		"PULUMI_IGNORE_AMBIENT_PLUGINS":               "true",
	}))
	if err != nil {
		s.Fatal(err)
	}
}

// attach serves the provider for one operation: for Pulumi a provider is a
// process that ends with it.
func (s *kindStack) attach() {
	s.Helper()
	server, err := kindprovider.Serve(s.open, nil)
	if err != nil {
		s.Fatal(err)
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		s.Fatal(err)
	}
	if s.deaf {
		server = deaf{server}
	}
	provider := grpc.NewServer()
	pulumirpc.RegisterResourceProviderServer(provider, server)
	go func() { _ = provider.Serve(listener) }()
	s.Cleanup(provider.Stop)
	s.stack.Workspace().SetEnvVar("PULUMI_DEBUG_PROVIDERS", fmt.Sprintf("kind:%d", listener.Addr().(*net.TCPAddr).Port))
}

func (s *kindStack) program(ctx *pulumi.Context) error {
	provider, err := kindsdk.NewProvider(ctx, "kind", s.runtime)
	if err != nil {
		return err
	}
	cluster, err := kindsdk.NewCluster(ctx, "cluster", &s.cluster, pulumi.Provider(provider))
	if err != nil {
		return err
	}
	ctx.Export("kubeconfig", cluster.Kubeconfig)
	ctx.Export("endpoint", cluster.Endpoint)
	ctx.Export("uid", cluster.UID)
	ctx.Export("node_names", cluster.NodeNames)
	ctx.Export("network", cluster.Network)
	if s.registry == nil {
		return nil
	}
	args2 := *s.registry
	args2.Network, args2.ClusterName, args2.ClusterUID, args2.NodeNames = cluster.Network, cluster.Name, cluster.UID, cluster.NodeNames
	registry, err := kindsdk.NewRegistry(ctx, "registry", &args2, pulumi.Provider(provider))
	if err != nil {
		return err
	}
	ctx.Export("registry", registry.Endpoint)
	return nil
}

// operation is what came of one operation.
type operation struct {
	steps   []string // TYPE OPERATION, without those in which nothing happens
	text    string   // what the engine has said
	outputs auto.OutputMap
	err     error
}

// listen collects an operation's steps.
func listen(work func(events chan<- events.EngineEvent) error) operation {
	stream := make(chan events.EngineEvent)
	var o operation
	var text strings.Builder
	var reading sync.WaitGroup
	reading.Go(func() {
		for e := range stream {
			o.note(e, &text)
		}
	})
	o.err = work(stream)
	if o.err != nil && !strings.Contains(o.err.Error(), "exit status") && !strings.Contains(o.err.Error(), "code:") {
		close(stream) // the command never came to it
	}
	reading.Wait()
	o.text = text.String()
	return o
}

func (o *operation) note(e events.EngineEvent, text *strings.Builder) {
	var step *apitype.StepEventMetadata
	switch {
	case e.ResourcePreEvent != nil:
		step = &e.ResourcePreEvent.Metadata
	case e.ResOutputsEvent != nil && e.ResOutputsEvent.Metadata.Op == apitype.OpRefresh:
		return
	case e.DiagnosticEvent != nil:
		text.WriteString(e.DiagnosticEvent.Message)
	}
	if step == nil || step.Op == apitype.OpSame || !strings.HasPrefix(step.Type, "kind:") {
		return
	}
	o.steps = append(o.steps, strings.TrimPrefix(step.Type, "kind:index:")+" "+string(step.Op))
}

func (s *kindStack) up(ctx context.Context) operation {
	s.attach()
	var outputs auto.OutputMap
	o := listen(func(stream chan<- events.EngineEvent) error {
		result, err := s.stack.Up(ctx, optup.EventStreams(stream))
		outputs = result.Outputs
		return err
	})
	o.outputs = outputs
	return o
}

func (s *kindStack) preview() operation {
	s.attach()
	return listen(func(stream chan<- events.EngineEvent) error {
		_, err := s.stack.Preview(s.Context(), optpreview.EventStreams(stream))
		return err
	})
}

// refresh looks at everything at once: the order says nothing.
func (s *kindStack) refresh() operation {
	s.attach()
	o := listen(func(stream chan<- events.EngineEvent) error {
		_, err := s.stack.Refresh(s.Context(), optrefresh.EventStreams(stream))
		return err
	})
	slices.Sort(o.steps)
	return o
}

func (s *kindStack) destroy() operation {
	s.attach()
	return listen(func(stream chan<- events.EngineEvent) error {
		_, err := s.stack.Destroy(s.Context(), optdestroy.EventStreams(stream))
		return err
	})
}

// works holds that an operation succeeds, with these steps.
func (s *kindStack) works(o operation, steps ...string) {
	s.Helper()
	if o.err != nil {
		s.Fatalf("%v\n%s", o.err, o.text)
	}
	if strings.Join(o.steps, ", ") != strings.Join(steps, ", ") {
		s.Fatalf("steps %v, want %v\n%s", o.steps, steps, o.text)
	}
}

// fails holds that an operation fails and says why.
func (s *kindStack) fails(o operation, wants ...string) {
	s.Helper()
	if o.err == nil {
		s.Fatalf("it succeeded\n%s", o.text)
	}
	for _, want := range wants {
		if !strings.Contains(o.text, want) {
			s.Errorf("it does not say %q:\n%s", want, o.text)
		}
	}
}

// leaves holds what is on the machine.
func (s *kindStack) leaves(want ...string) {
	s.Helper()
	if got := s.machine.Traces(); strings.Join(got, ", ") != strings.Join(want, ", ") {
		s.Errorf("on the machine are %v, want %v", got, want)
	}
}

// stateFile returns the state on disk.
func (s *kindStack) stateFile() string {
	s.Helper()
	files, err := filepath.Glob(filepath.Join(s.home, "state/.pulumi/stacks/kind-test/dev.json"))
	if err != nil || len(files) != 1 {
		s.Fatalf("there is no state: %v", errors.Join(err, fmt.Errorf("found %v", files)))
	}
	content, err := os.ReadFile(files[0])
	if err != nil {
		s.Fatal(err)
	}
	return string(content)
}

// forget takes kind's resources out of the state, as if the engine had been
// killed before it could write them down.
func (s *kindStack) forget() {
	s.Helper()
	deployment, err := s.stack.Export(s.Context())
	if err != nil {
		s.Fatal(err)
	}
	var content map[string]any
	if err := json.Unmarshal(deployment.Deployment, &content); err != nil {
		s.Fatal(err)
	}
	all, _ := content["resources"].([]any)
	content["resources"] = slices.DeleteFunc(all, func(r any) bool {
		fields, _ := r.(map[string]any)
		kind, _ := fields["type"].(string)
		return strings.HasPrefix(kind, "kind:")
	})
	if deployment.Deployment, err = json.Marshal(content); err != nil {
		s.Fatal(err)
	}
	if err := s.stack.Import(s.Context(), deployment); err != nil {
		s.Fatal(err)
	}
}
