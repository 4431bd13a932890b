package e2e

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/pulumi/pulumi/sdk/v3/go/common/util/rpcutil"
	pulumirpc "github.com/pulumi/pulumi/sdk/v3/proto/go"
	"google.golang.org/grpc"
	"google.golang.org/protobuf/types/known/emptypb"
)

// fakeHostName is the name under which the test program is a language host.
const fakeHostName = "pulumi-language-nodejs"

// fakeHost is a language host for programs that do nothing. It notes in a file
// when it has begun and ended to install.
type fakeHost struct {
	pulumirpc.UnimplementedLanguageRuntimeServer
	log string
}

func (h fakeHost) note(format string, args ...any) error {
	file, err := os.OpenFile(h.log, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o644)
	if err != nil {
		return err
	}
	defer file.Close()
	_, err = fmt.Fprintf(file, format+"\n", args...)
	return err
}

func (h fakeHost) InstallDependencies(request *pulumirpc.InstallDependenciesRequest, _ pulumirpc.LanguageRuntime_InstallDependenciesServer) error {
	dir := filepath.Base(request.GetInfo().GetProgramDirectory())
	if err := h.note("begin %s", dir); err != nil {
		return err
	}
	time.Sleep(300 * time.Millisecond) // long enough for another to come in between
	return h.note("end %s", dir)
}

func (h fakeHost) Run(_ context.Context, request *pulumirpc.RunRequest) (*pulumirpc.RunResponse, error) {
	return &pulumirpc.RunResponse{}, h.note("run %s", request.GetProject())
}

func (fakeHost) GetRequiredPackages(context.Context, *pulumirpc.GetRequiredPackagesRequest) (*pulumirpc.GetRequiredPackagesResponse, error) {
	return &pulumirpc.GetRequiredPackagesResponse{}, nil
}

func (fakeHost) RuntimeOptionsPrompts(context.Context, *pulumirpc.RuntimeOptionsRequest) (*pulumirpc.RuntimeOptionsResponse, error) {
	return &pulumirpc.RuntimeOptionsResponse{}, nil
}

func (fakeHost) Handshake(context.Context, *pulumirpc.LanguageHandshakeRequest) (*pulumirpc.LanguageHandshakeResponse, error) {
	return &pulumirpc.LanguageHandshakeResponse{}, nil
}

func (fakeHost) GetPluginInfo(context.Context, *emptypb.Empty) (*pulumirpc.PluginInfo, error) {
	return &pulumirpc.PluginInfo{Version: "1.0.0"}, nil
}

// serveFakeHost acts as the language host until Pulumi kills it.
func serveFakeHost() {
	served, err := rpcutil.ServeWithOptions(rpcutil.ServeOptions{Init: func(registrar *grpc.Server) error {
		pulumirpc.RegisterLanguageRuntimeServer(registrar, fakeHost{log: os.Getenv("FAKE_HOST_LOG")})
		return nil
	}})
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	fmt.Println(served.Port)
	<-served.Done
}

// TestInstall: dependencies are installed before the first program runs, one
// project after the other, and again only when they have changed.
func TestInstall(t *testing.T) {
	t.Parallel()
	long(t)
	e := newEnvironment(t, embedded)
	tools := t.TempDir()
	e.env = append(e.env, "PATH="+tools, "PULUMI_CONFIG_PASSPHRASE=secret", "FAKE_HOST_LOG="+filepath.Join(tools, "log"))
	e.write("mara.yaml", "projects: [{path: a}, {path: b}, {path: own}, {path: text}]\n")
	for _, name := range []string{"a", "b", "own"} {
		e.write(name+"/Pulumi.yaml", "name: "+name+"\nruntime: nodejs\n")
		e.write(name+"/package.json", "{}")
	}
	e.write("own/node_modules/keep", "") // the user has installed it
	e.write("text/Pulumi.yaml", "name: text\nruntime: yaml\n")

	r := e.run("preview")
	for _, want := range []string{"a, b, own: there is no pulumi-language-nodejs", "a, b, own: there is no node on the PATH\n    -> install Node.js (https://nodejs.org)"} {
		if r.code != 3 || !strings.Contains(r.stderr, want) {
			t.Errorf("without the language: exit code %d, no %q in %s", r.code, want, r.stderr)
		}
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(self, filepath.Join(tools, fakeHostName)); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(tools, "node"), []byte("#!/bin/sh\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	if r := e.run("doctor"); r.code != 0 || !strings.Contains(r.stdout, "nodejs: a, b, own") || !strings.Contains(r.stdout, "projects of your own: 3 in nodejs, 1 in yaml") {
		t.Errorf("doctor: exit code %d\n%s%s", r.code, r.stdout, r.stderr)
	}
	log := func() string {
		content, _ := os.ReadFile(filepath.Join(tools, "log"))
		_ = os.Remove(filepath.Join(tools, "log"))
		return string(content)
	}
	if text := log(); text != "" {
		t.Errorf("the doctor has run something: %s", text)
	}
	for _, test := range []struct {
		operation string
		change    func()
		want      string // what is installed
	}{
		{"preview", func() {}, "begin a\nend a\nbegin b\nend b\n"},
		{"up", func() {}, ""},
		{"up", func() { e.write("b/package.json", `{"name": "b"}`) }, "begin b\nend b\n"},
	} {
		test.change()
		if r := e.run(test.operation, "--yes"); r.code != 0 {
			t.Fatalf("%s: exit code %d\n%s%s", test.operation, r.code, lastLines(r.stdout), r.stderr)
		}
		text := log()
		installed, ran, _ := strings.Cut(text, "run ")
		if installed != test.want || strings.Contains(ran, "begin") || strings.Count(text, "run ") != 3 {
			t.Errorf("%s: the host was asked\n%s", test.operation, text)
		}
	}
	if r := e.run("destroy", "--yes"); r.code != 0 || strings.Contains(log(), "begin") {
		t.Errorf("destroy: exit code %d\n%s", r.code, r.stderr)
	}
	// A simulation ignores the PATH, where resource providers may be, but not the hosts there.
	for range 2 {
		if r := e.run("preview", "--simulate"); r.code != 0 || strings.Count(log(), "run ") != 3 {
			t.Errorf("simulated preview: exit code %d\n%s%s", r.code, lastLines(r.stdout), r.stderr)
		}
	}
}
