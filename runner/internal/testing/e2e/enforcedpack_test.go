package e2e

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/pulumi/pulumi/sdk/v3/go/common/apitype"
	"github.com/pulumi/pulumi/sdk/v3/go/common/util/rpcutil"
	pulumirpc "github.com/pulumi/pulumi/sdk/v3/proto/go"
	"google.golang.org/grpc"
	"google.golang.org/protobuf/types/known/emptypb"

	"mara/runner/internal/core/event"
	"mara/runner/internal/testing/servicetest"
)

// pack is a policy pack whose policies find the stack itself of each project in their configuration, as severely as
// that says.
type pack struct {
	pulumirpc.UnimplementedAnalyzerServer
	config map[string]*pulumirpc.PolicyConfig // by policy
}

const (
	packName = "ours"
	packTag  = "1.2.3"
)

func (p *pack) Handshake(context.Context, *pulumirpc.AnalyzerHandshakeRequest) (*pulumirpc.AnalyzerHandshakeResponse, error) {
	return &pulumirpc.AnalyzerHandshakeResponse{}, nil
}

func (p *pack) GetPluginInfo(context.Context, *emptypb.Empty) (*pulumirpc.PluginInfo, error) {
	return &pulumirpc.PluginInfo{Version: packTag}, nil
}

func (p *pack) GetAnalyzerInfo(context.Context, *emptypb.Empty) (*pulumirpc.AnalyzerInfo, error) {
	info := &pulumirpc.AnalyzerInfo{Name: packName, Version: packTag, SupportsConfig: true}
	for _, name := range []string{"named", "owned"} {
		info.Policies = append(info.Policies, &pulumirpc.PolicyInfo{Name: name, EnforcementLevel: pulumirpc.EnforcementLevel_ADVISORY})
	}
	return info, nil
}

func (p *pack) Configure(_ context.Context, request *pulumirpc.ConfigureAnalyzerRequest) (*emptypb.Empty, error) {
	p.config = request.GetPolicyConfig()
	return &emptypb.Empty{}, nil
}

func (p *pack) ConfigureStack(context.Context, *pulumirpc.AnalyzerStackConfigureRequest) (*pulumirpc.AnalyzerStackConfigureResponse, error) {
	return &pulumirpc.AnalyzerStackConfigureResponse{}, nil
}

func (p *pack) Analyze(_ context.Context, request *pulumirpc.AnalyzeRequest) (*pulumirpc.AnalyzeResponse, error) {
	answer := &pulumirpc.AnalyzeResponse{}
	for policy, config := range p.config {
		project := config.GetProperties().GetFields()["project"].GetStringValue()
		if request.GetType() == "pulumi:pulumi:Stack" && strings.Contains(request.GetUrn(), "::"+project+"::") {
			answer.Diagnostics = append(answer.Diagnostics, &pulumirpc.AnalyzeDiagnostic{PolicyName: policy, PolicyPackName: packName,
				PolicyPackVersion: packTag, Message: "the stack is not " + policy, Urn: request.GetUrn(), EnforcementLevel: config.GetEnforcementLevel()})
		}
	}
	return answer, nil
}

func (p *pack) AnalyzeStack(context.Context, *pulumirpc.AnalyzeStackRequest) (*pulumirpc.AnalyzeResponse, error) {
	return &pulumirpc.AnalyzeResponse{}, nil
}

func (p *pack) Remediate(context.Context, *pulumirpc.AnalyzeRequest) (*pulumirpc.RemediateResponse, error) {
	return &pulumirpc.RemediateResponse{}, nil
}

// RunPlugin serves the pack in the program of the language host, which must have got its archive.
func (h fakeHost) RunPlugin(request *pulumirpc.RunPluginRequest, output pulumirpc.LanguageRuntime_RunPluginServer) error {
	dir := request.GetInfo().GetProgramDirectory()
	if _, err := os.Stat(filepath.Join(dir, "index.js")); err != nil {
		return err
	}
	cancel := make(chan bool)
	served, err := rpcutil.ServeWithOptions(rpcutil.ServeOptions{Cancel: cancel, Init: func(registrar *grpc.Server) error {
		pulumirpc.RegisterAnalyzerServer(registrar, &pack{})
		return nil
	}})
	if err != nil {
		return err
	}
	if err := output.Send(&pulumirpc.RunPluginResponse{Output: &pulumirpc.RunPluginResponse_Stdout{Stdout: fmt.Appendln(nil, served.Port)}}); err != nil {
		return err
	}
	<-output.Context().Done()
	close(cancel)
	return <-served.Done
}

// packArchive is what `pulumi policy publish` uploads.
func packArchive(t *testing.T) []byte {
	t.Helper()
	var content bytes.Buffer
	zipped := gzip.NewWriter(&content)
	archive := tar.NewWriter(zipped)
	for name, text := range map[string]string{"PulumiPolicy.yaml": "runtime: nodejs\n", "package.json": "{}", "index.js": "// the pack\n"} {
		if err := archive.WriteHeader(&tar.Header{Name: "package/" + name, Mode: 0o644, Size: int64(len(text))}); err != nil {
			t.Fatal(err)
		}
		if _, err := archive.Write([]byte(text)); err != nil {
			t.Fatal(err)
		}
	}
	if err := archive.Close(); err != nil {
		t.Fatal(err)
	}
	if err := zipped.Close(); err != nil {
		t.Fatal(err)
	}
	return content.Bytes()
}

// TestEnforcedPolicyPack: a policy pack that the organization enforces is downloaded, installed and run in previews and
// ups. What it finds are findings of the run; a mandatory policy fails its project before anything of that is deployed.
func TestEnforcedPolicyPack(t *testing.T) {
	t.Parallel()
	configOf := func(level, project string) *json.RawMessage {
		config := json.RawMessage(fmt.Sprintf(`{"enforcementLevel": %q, "project": %q}`, level, project))
		return &config
	}
	s := servicetest.New(t, servicetest.Options{Policies: []servicetest.Policy{{Archive: packArchive(t), Required: apitype.RequiredPolicy{
		Name: packName, Version: 1, VersionTag: packTag,
		Config: map[string]*json.RawMessage{"named": configOf("advisory", "a"), "owned": configOf("mandatory", "b")},
	}}}})
	t.Cleanup(func() { s.Dump(t) })
	tools := t.TempDir()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(self, filepath.Join(tools, fakeHostName)); err != nil {
		t.Fatal(err)
	}
	log := filepath.Join(tools, "log")
	e := elsewhere(t, place{backend: s.URL, env: append(s.Env(), "PATH="+tools, "FAKE_HOST_LOG="+log)}, 1)
	e.write("mara.yaml", "projects: [{path: a}, {path: b}]\n")
	e.write("b/Pulumi.yaml", "name: b\nruntime: yaml\noutputs: {text: b}\n")

	s.Set(servicetest.Fault{Path: "/policies/" + packName, Status: http.StatusForbidden, Message: "expired"})
	if r := e.run("preview", "-s", "e00"); r.code != 1 || !strings.Contains(r.stdout+r.stderr, "failed to install policy pack ours@v1.2.3") {
		t.Errorf("a pack that cannot be downloaded: exit code %d\n%s%s", r.code, r.stdout, r.stderr)
	}
	s.Mend()
	s.Forget()

	levels := map[string]string{}
	previewed := e.run("preview", "-s", "e00", "-o", "json", "--report", "report.sarif")
	for line := range strings.Lines(previewed.stdout) {
		var ev event.Event
		if err := json.Unmarshal([]byte(line), &ev); err != nil {
			t.Fatalf("%v: %s", err, line)
		}
		if ev.Finding != nil {
			levels[ev.Finding.Project+" "+ev.Finding.Rule] = ev.Finding.Level
		}
	}
	if previewed.code != 1 || levels["a ours/named"] != event.LevelWarn || levels["b ours/owned"] != event.LevelDeny {
		t.Errorf("preview: exit code %d, the findings are %v\n%s", previewed.code, levels, previewed.stderr)
	}
	up := e.run("up", "-s", "e00", "--yes", "--report", "report.xml")
	for _, want := range []string{"policy named of ours: the stack is not named", "policy owned of ours: the stack is not owned"} {
		if up.code != 1 || !strings.Contains(up.stdout, want) {
			t.Errorf("up: exit code %d, want %q\n%s%s", up.code, want, up.stdout, up.stderr)
		}
	}
	if stacks := s.Stacks(); stacks["acme/b/e00"] > 0 || stacks["acme/a/e00"] == 0 {
		t.Errorf("deployed are %v", stacks)
	}
	for _, report := range []string{"report.sarif", "report.xml"} {
		content, err := os.ReadFile(filepath.Join(e.root, report))
		for _, want := range []string{"ours/named", "ours/owned"} {
			if err != nil || !strings.Contains(string(content), want) {
				t.Errorf("%s has no %s: %v\n%s", report, want, err, content)
			}
		}
	}
	if n := requests(s)["GET /policies/"+packName]; n != 1 {
		t.Errorf("the pack is downloaded %d times", n)
	}
	if installed, err := os.ReadFile(log); err != nil || strings.Count(string(installed), "begin ") != 1 {
		t.Errorf("what is installed, %v:\n%s", err, installed)
	}
}
