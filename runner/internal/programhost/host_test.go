package programhost

import (
	"context"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/pulumi/pulumi/sdk/v3/go/common/resource"
	"github.com/pulumi/pulumi/sdk/v3/go/pulumi"
	pulumirpc "github.com/pulumi/pulumi/sdk/v3/proto/go"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/protobuf/types/known/emptypb"
)

func TestInfo(t *testing.T) {
	t.Parallel()
	r := &runtime{options: Options{Config: map[string]string{"p:a": "ours", "p:b": "ours"}}}
	got := r.info(&pulumirpc.RunRequest{
		Project: "project", Stack: "dev", Organization: "organization", DryRun: true, Parallel: 3,
		Args: []string{"engine"}, MonitorAddress: "monitor", Info: &pulumirpc.ProgramInfo{RootDirectory: "/root"},
		Config: map[string]string{"p:b": "theirs", "p:c": "theirs"}, ConfigSecretKeys: []string{"p:c"},
	})
	for name, pair := range map[string][2]any{
		"config":  {map[string]string{"p:a": "ours", "p:b": "theirs", "p:c": "theirs"}, got.Config},
		"secrets": {[]string{"p:c"}, got.ConfigSecretKeys},
		"rest": {
			[]any{"project", "dev", "organization", "/root", "engine", "monitor", true, int32(3)},
			[]any{got.Project, got.Stack, got.Organization, got.RootDirectory, got.EngineAddr, got.MonitorAddr, got.DryRun, got.Parallel},
		},
	} {
		if diff := cmp.Diff(pair[0], pair[1]); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
	}
}

func TestAPanicIsAnError(t *testing.T) {
	t.Parallel()
	ctx, err := pulumi.NewContext(t.Context(), pulumi.RunInfo{Project: "p", Stack: "s", Mocks: echo{}})
	if err != nil {
		t.Fatal(err)
	}
	r := &runtime{options: Options{Program: func(*pulumi.Context) error { panic("oh no") }}}
	if err := r.execute(ctx); err == nil || !strings.Contains(err.Error(), "the program panicked: oh no") {
		t.Errorf("error %v", err)
	}
}

// TestServing asks what an engine asks before it runs a program.
func TestServing(t *testing.T) {
	t.Parallel()
	host, err := Start(Options{})
	if err != nil {
		t.Fatal(err)
	}
	connection, err := grpc.NewClient(host.Address, grpc.WithTransportCredentials(insecure.NewCredentials()))
	if err != nil {
		t.Fatal(err)
	}
	client := pulumirpc.NewLanguageRuntimeClient(connection)
	if _, err := client.GetPluginInfo(t.Context(), &emptypb.Empty{}); err != nil {
		t.Error(err)
	}
	required, err := client.GetRequiredPackages(t.Context(), &pulumirpc.GetRequiredPackagesRequest{})
	if err != nil || len(required.GetPackages()) > 0 {
		t.Errorf("requires %v, %v", required, err)
	}
	if err := connection.Close(); err != nil {
		t.Error(err)
	}
	if err := host.Close(); err != nil {
		t.Error(err)
	}
	if _, err := dial(t.Context(), host.Address); err == nil {
		t.Error("it still serves when it is closed")
	}
}

func dial(ctx context.Context, address string) (*pulumirpc.PluginInfo, error) {
	connection, err := grpc.NewClient(address, grpc.WithTransportCredentials(insecure.NewCredentials()))
	if err != nil {
		return nil, err
	}
	defer func() { _ = connection.Close() }()
	return pulumirpc.NewLanguageRuntimeClient(connection).GetPluginInfo(ctx, &emptypb.Empty{})
}

// echo answers a resource with its inputs.
type echo struct{}

func (echo) NewResource(args pulumi.MockResourceArgs) (string, resource.PropertyMap, error) {
	return args.Name, args.Inputs, nil
}

func (echo) Call(args pulumi.MockCallArgs) (resource.PropertyMap, error) { return args.Args, nil }
