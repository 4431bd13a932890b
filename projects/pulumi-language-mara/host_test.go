package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/pulumi/pulumi/sdk/v3/go/common/resource"
	"github.com/pulumi/pulumi/sdk/v3/go/pulumi"
	pulumirpc "github.com/pulumi/pulumi/sdk/v3/proto/go"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"

	"mara/projects"
	"mara/projects/internal/languagehost"
	"mara/projects/model/wire"
)

func TestParse(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name, args string
		want       options
		engine     string
		wrong      error
	}{
		{"Pulumi's call", "127.0.0.1:42", options{}, "127.0.0.1:42", nil},
		{"Pulumi's call with logs", "-logtostderr -v=9 --tracing http://x 127.0.0.1:42", options{}, "127.0.0.1:42", nil},
		{"the runner's call", "--runner --root /r --provider kind", options{runner: true, root: "/r", provider: "kind"}, "", nil},
		{"a user's call", "", options{}, "", languagehost.ErrNoEngine},
	} {
		got, engine, err := parse(strings.Fields(test.args))
		if !errors.Is(err, test.wrong) || got != test.want || engine != test.engine {
			t.Errorf("%s: got %+v, %q, %v", test.name, got, engine, err)
		}
	}
}

func TestInfo(t *testing.T) {
	t.Parallel()
	h := &host{Host: languagehost.Host{Engine: "engine"}, options: options{provider: "kind"}}
	got := h.info(t.Context(), &pulumirpc.RunRequest{
		Project: "project", Stack: "dev", Organization: "organization", DryRun: true, Parallel: 3,
		MonitorAddress: "monitor", Info: &pulumirpc.ProgramInfo{RootDirectory: "/root"},
		Config: map[string]string{"p:b": "theirs"}, ConfigSecretKeys: []string{"p:b"},
	})
	for name, pair := range map[string][2]any{
		"config":  {map[string]string{"p:b": "theirs", "kubernetes:infra_type": "kind"}, got.Config},
		"secrets": {[]string{"p:b"}, got.ConfigSecretKeys},
		"rest": {
			[]any{"project", "dev", "organization", "/root", "engine", "monitor", true, int32(3)},
			[]any{got.Project, got.Stack, got.Organization, got.RootDirectory, got.EngineAddr, got.MonitorAddr, got.DryRun, got.Parallel},
		},
	} {
		if diff := cmp.Diff(pair[0], pair[1]); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
	}
	if got := h.config(map[string]string{"kubernetes:infra_type": "aws"})["kubernetes:infra_type"]; got != "aws" {
		t.Errorf("the provider is %q, not what the configuration says", got)
	}
}

func TestAPanicIsAnError(t *testing.T) {
	t.Parallel()
	ctx, err := pulumi.NewContext(t.Context(), pulumi.RunInfo{Project: "p", Stack: "s", Mocks: echo{}})
	if err != nil {
		t.Fatal(err)
	}
	if err := execute(ctx, func(*pulumi.Context) error { panic("oh no") }); err == nil || !strings.Contains(err.Error(), "the program panicked: oh no") {
		t.Errorf("error %v", err)
	}
}

func TestUnknownProject(t *testing.T) {
	t.Parallel()
	h := &host{find: func(string) (pulumi.RunFunc, bool) { return nil, false }}
	answer, err := h.Run(t.Context(), &pulumirpc.RunRequest{Project: "nothing"})
	if err != nil || !strings.Contains(answer.GetError(), `"nothing"`) || !strings.Contains(answer.GetError(), "bank-of-anthos") {
		t.Errorf("%v, %q; want one that lists the projects", err, answer.GetError())
	}
}

// TestServeRunner has two engines ask one host, which ends with its input.
func TestServeRunner(t *testing.T) {
	t.Parallel()
	h := &host{options: options{runner: true}}
	said, stdout := io.Pipe()
	stdin, input := io.Pipe()
	ended := make(chan error, 1)
	go func() { ended <- serveRunner(h, stdin, stdout) }()
	var hello wire.Hello
	decoder := json.NewDecoder(said)
	if err := decoder.Decode(&hello); err != nil || hello.Protocol != wire.Version || hello.Pulumi == "" {
		t.Fatalf("%+v, %v", hello, err)
	}
	for _, engine := range []string{"one", "two"} {
		client, closeClient := dial(t, hello.Port)
		if _, err := client.Handshake(t.Context(), &pulumirpc.LanguageHandshakeRequest{EngineAddress: engine}); err != nil {
			t.Fatal(err)
		}
		if required, err := client.GetRequiredPackages(t.Context(), &pulumirpc.GetRequiredPackagesRequest{}); err != nil || len(required.GetPackages()) > 0 {
			t.Errorf("a runner's engine is to look for %v, %v", required, err)
		}
		closeClient()
	}
	if err := errors.Join(input.Close(), <-ended); err != nil {
		t.Error(err)
	}
}

func dial(t *testing.T, port int) (pulumirpc.LanguageRuntimeClient, func()) {
	t.Helper()
	connection, err := grpc.NewClient(fmt.Sprintf("127.0.0.1:%d", port), grpc.WithTransportCredentials(insecure.NewCredentials()))
	if err != nil {
		t.Fatal(err)
	}
	return pulumirpc.NewLanguageRuntimeClient(connection), func() { _ = connection.Close() }
}

func TestPlugins(t *testing.T) {
	t.Parallel()
	for project, want := range map[string]string{
		"aws-eks": "aws", "linode-harbor": "linode kubernetes", "certmgr": "kubernetes", "kic-image-push": "docker",
		"kind-cluster": "kind", "kubeconfig": "", "nothing": "",
	} {
		if got := strings.Join(plugins(project), " "); got != want {
			t.Errorf("%s uses %q, want %q", project, got, want)
		}
	}
}

func TestProjectIn(t *testing.T) {
	t.Parallel()
	if got := projectIn(filepath.Join("..", projects.CertManager().Path)); got != "certmgr" {
		t.Errorf("got %q", got)
	}
	broken := t.TempDir()
	if err := os.WriteFile(filepath.Join(broken, "Pulumi.yaml"), []byte("name: ["), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, dir := range []string{broken, t.TempDir()} {
		if got := projectIn(dir); got != "" {
			t.Errorf("got %q", got)
		}
	}
}

// echo answers a resource with its inputs.
type echo struct{}

func (echo) NewResource(args pulumi.MockResourceArgs) (string, resource.PropertyMap, error) {
	return args.Name, args.Inputs, nil
}

func (echo) Call(args pulumi.MockCallArgs) (resource.PropertyMap, error) { return args.Args, nil }
