package ahead

import (
	"context"
	"sync/atomic"
	"testing"

	pulumirpc "github.com/pulumi/pulumi/sdk/v3/proto/go"
	"google.golang.org/grpc"

	"mara/projects/monitor"
)

// TestForeseen: what a host answers while its program waits is what the engine hears at the program's turn, without
// asking the host again. Another question reaches a host of its own, once the program runs.
func TestForeseen(t *testing.T) {
	t.Parallel()
	var asked atomic.Int32
	serve := func(version string) *host {
		conn := connection(t, serveMethods(t, pulumirpc.LanguageRuntime_ServiceDesc.ServiceName,
			monitor.Method("GetRequiredPackages", func(context.Context, *pulumirpc.GetRequiredPackagesRequest) (*pulumirpc.GetRequiredPackagesResponse, error) {
				asked.Add(1)
				return &pulumirpc.GetRequiredPackagesResponse{Packages: []*pulumirpc.PackageDependency{{Name: "aws"}}}, nil
			}),
			monitor.Method("About", func(context.Context, *pulumirpc.AboutRequest) (*pulumirpc.AboutResponse, error) {
				asked.Add(1)
				return &pulumirpc.AboutResponse{Version: version}, nil
			})))
		return &host{LanguageRuntimeClient: pulumirpc.NewLanguageRuntimeClient(conn), conn: conn}
	}
	info := &pulumirpc.ProgramInfo{RootDirectory: "/app", ProgramDirectory: "/app", EntryPoint: "."}
	s := &stage{program: &program{run: &pulumirpc.RunRequest{Info: info}}, ran: make(chan struct{}), first: serve("early"), plain: serve("late")}
	methods := s.foreseenMethods()
	s.learn()
	if asked.Load() != 2 {
		t.Fatalf("the host was asked %d times while the program waited", asked.Load())
	}
	address, err := listen(t.Context(), pulumirpc.LanguageRuntime_ServiceDesc.ServiceName, methods, func(any, grpc.ServerStream) error { return nil })
	if err != nil {
		t.Fatal(err)
	}
	engine := pulumirpc.NewLanguageRuntimeClient(connection(t, address))
	packages, err := engine.GetRequiredPackages(t.Context(), &pulumirpc.GetRequiredPackagesRequest{Info: info})
	if err != nil || len(packages.GetPackages()) != 1 {
		t.Errorf("got %v, %v", packages, err)
	}
	about := func(info *pulumirpc.ProgramInfo, want string) {
		t.Helper()
		if got, err := engine.About(t.Context(), &pulumirpc.AboutRequest{Info: info}); err != nil || got.GetVersion() != want {
			t.Errorf("got %v, %v, want %s", got, err, want)
		}
	}
	about(info, "early")
	if asked.Load() != 2 {
		t.Errorf("the host was asked again, %d times in all", asked.Load())
	}
	about(&pulumirpc.ProgramInfo{RootDirectory: "/other"}, "late")
	close(s.ran)
	about(info, "late")
}
