package clouds_test

import (
	"encoding/base64"
	"fmt"
	"strings"
	"testing"

	"github.com/pulumi/pulumi/sdk/v3/go/common/resource"
	"github.com/pulumi/pulumi/sdk/v3/go/common/resource/plugin"
	pulumirpc "github.com/pulumi/pulumi/sdk/v3/proto/go"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/protobuf/types/known/structpb"

	"mara/runner/internal/feature/simulate"
	"mara/runner/internal/feature/simulate/clouds"
)

// engine is the engine's side: it keeps what was made, so that later inputs
// can refer to it.
type engine struct {
	t       *testing.T
	clouds  *simulate.Clouds
	clients map[string]pulumirpc.ResourceProviderClient
	made    map[string]made
}

type made struct {
	id      string
	outputs resource.PropertyMap
}

func startEngine(t *testing.T) *engine {
	t.Helper()
	return startEngineWith(t, simulate.Options{})
}

func startEngineWith(t *testing.T, options simulate.Options) *engine {
	t.Helper()
	options.Dir = t.TempDir()
	running, err := simulate.Start(t.Context(), clouds.Packages(), options)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = running.Close() })
	return &engine{t: t, clouds: running, clients: map[string]pulumirpc.ResourceProviderClient{}, made: map[string]made{}}
}

// configureClouds connects to all packages but kubernetes, which needs a cluster.
func (e *engine) configureClouds() {
	e.t.Helper()
	for _, pkg := range clouds.Packages() {
		if pkg.Name == "kubernetes" {
			continue
		}
		if err := e.configure(pkg.Name, nil); err != nil {
			e.t.Fatal(err)
		}
	}
}

// configure connects to a package with a configuration; later calls for the
// package go there.
func (e *engine) configure(pkg string, config map[string]any) error {
	e.t.Helper()
	for attached := range strings.SplitSeq(e.clouds.Env()["PULUMI_DEBUG_PROVIDERS"], ",") {
		name, port, _ := strings.Cut(attached, ":")
		if name != pkg {
			continue
		}
		conn, err := grpc.NewClient("127.0.0.1:"+port, grpc.WithTransportCredentials(insecure.NewCredentials()))
		if err != nil {
			return err
		}
		e.t.Cleanup(func() { _ = conn.Close() })
		e.clients[pkg] = pulumirpc.NewResourceProviderClient(conn)
		_, err = e.clients[pkg].Configure(e.t.Context(), &pulumirpc.ConfigureRequest{Args: e.pack(config)})
		return err
	}
	return fmt.Errorf("%s is not served", pkg)
}

func (e *engine) client(token string) pulumirpc.ResourceProviderClient {
	pkg, _, _ := strings.Cut(token, ":")
	client, ok := e.clients[pkg]
	if !ok {
		e.t.Fatalf("%s is not configured", pkg)
	}
	return client
}

func (e *engine) pack(values map[string]any) *structpb.Struct {
	e.t.Helper()
	packed, err := plugin.MarshalProperties(resource.NewPropertyMapFromMap(values), marshalling)
	if err != nil {
		e.t.Fatal(err)
	}
	return packed
}

func (e *engine) unpack(values *structpb.Struct) resource.PropertyMap {
	e.t.Helper()
	m, err := plugin.UnmarshalProperties(values, marshalling)
	if err != nil {
		e.t.Fatal(err)
	}
	return m
}

var marshalling = plugin.MarshalOptions{KeepUnknowns: true, KeepSecrets: true, KeepResources: true}

// resolve replaces references: "$vpc" is the id of what was made as vpc,
// "$role.arn" an output of it.
func (e *engine) resolve(value any) any {
	switch typed := value.(type) {
	case string:
		if name, ok := strings.CutPrefix(typed, "$"); ok {
			return e.reference(name)
		}
	case map[string]any:
		resolved := map[string]any{}
		for key, item := range typed {
			resolved[key] = e.resolve(item)
		}
		return resolved
	case []any:
		resolved := make([]any, len(typed))
		for i, item := range typed {
			resolved[i] = e.resolve(item)
		}
		return resolved
	}
	return value
}

func (e *engine) reference(name string) any {
	name, output, isOutput := strings.Cut(name, ".")
	found, ok := e.made[name]
	if !ok {
		e.t.Fatalf("nothing was made as %s", name)
	}
	if isOutput {
		return found.outputs[resource.PropertyKey(output)]
	}
	return found.id
}

func (e *engine) inputs(values map[string]any) map[string]any {
	resolved, _ := e.resolve(values).(map[string]any)
	return resolved
}

func urn(token, name string) string { return "urn:pulumi:dev::project::" + token + "::" + name }

// problems returns the problems that a check finds.
func (e *engine) problems(token string, inputs map[string]any) string {
	e.t.Helper()
	resp, err := e.client(token).Check(e.t.Context(), &pulumirpc.CheckRequest{Urn: urn(token, "x"), News: e.pack(e.inputs(inputs))})
	if err != nil {
		return err.Error()
	}
	var reasons []string
	for _, failure := range resp.GetFailures() {
		reasons = append(reasons, failure.GetProperty()+": "+failure.GetReason())
	}
	return strings.Join(reasons, "\n")
}

// make checks and creates.
func (e *engine) make(name, token string, inputs map[string]any) error {
	e.t.Helper()
	if problems := e.problems(token, inputs); problems != "" {
		return fmt.Errorf("%s", problems)
	}
	resp, err := e.client(token).Create(e.t.Context(), &pulumirpc.CreateRequest{
		Urn: urn(token, name), Properties: e.pack(e.inputs(inputs)),
	})
	if err != nil {
		return err
	}
	e.made[name] = made{id: resp.GetId(), outputs: e.unpack(resp.GetProperties())}
	return nil
}

func (e *engine) delete(name, token string, inputs map[string]any) error {
	e.t.Helper()
	_, err := e.client(token).Delete(e.t.Context(), &pulumirpc.DeleteRequest{
		Urn: urn(token, name), Id: e.made[name].id, OldInputs: e.pack(e.inputs(inputs)),
	})
	return err
}

// text returns a string output, secret or not.
func (e *engine) text(name, output string) string {
	e.t.Helper()
	v := e.made[name].outputs[resource.PropertyKey(output)]
	if v.IsSecret() {
		v = v.SecretValue().Element
	}
	if !v.IsString() {
		e.t.Fatalf("%s of %s is %v", output, name, v)
	}
	return v.StringValue()
}

// kubeconfigOf returns a kubeconfig for one of the clusters of the table. For EKS it
// builds one, as the program does.
func (e *engine) kubeconfigOf(cluster string) string {
	e.t.Helper()
	switch cluster {
	case "lke":
		decoded, err := base64.StdEncoding.DecodeString(e.text("lke", "kubeconfig"))
		if err != nil {
			e.t.Fatal(err)
		}
		return string(decoded)
	case "eks":
		return fmt.Sprintf(`{"clusters":[{"name":"c","cluster":{"server":%q}}],"contexts":[{"name":"x","context":{"cluster":"c","user":"u"}}],
			"current-context":"x","users":[{"name":"u","user":{}}]}`, e.text("eks", "endpoint"))
	}
	return e.text("kind", "kubeconfig")
}
