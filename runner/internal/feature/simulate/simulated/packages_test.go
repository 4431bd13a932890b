package simulated

import (
	"context"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	pulumirpc "github.com/pulumi/pulumi/sdk/v3/proto/go"
	"go.uber.org/goleak"
	"google.golang.org/grpc"

	"mara/runner/internal/core/packages"
	"mara/runner/internal/feature/simulate"
)

// playVariable has the test's own program play a plugin with this schema.
const playVariable = "MARA_TEST_PLUGIN_SCHEMA"

func TestMain(m *testing.M) {
	if schema, ok := os.LookupEnv(playVariable); ok {
		if err := play(schema); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
	}
	goleak.VerifyTestMain(m, goleak.IgnoreCurrent())
}

type fakePlugin struct {
	pulumirpc.UnimplementedResourceProviderServer
	schema string
}

func (p fakePlugin) GetSchema(context.Context, *pulumirpc.GetSchemaRequest) (*pulumirpc.GetSchemaResponse, error) {
	return &pulumirpc.GetSchemaResponse{Schema: p.schema}, nil
}

func play(schema string) error {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	server := grpc.NewServer()
	pulumirpc.RegisterResourceProviderServer(server, fakePlugin{schema: schema})
	fmt.Println(listener.Addr().(*net.TCPAddr).Port)
	return server.Serve(listener)
}

// install puts a plugin into a directory of Pulumi's.
func install(t *testing.T, home, name, version, script string) {
	t.Helper()
	directory := filepath.Join(home, "plugins", "resource-"+name+"-v"+version)
	write(t, directory, "pulumi-resource-"+name, "#!/bin/sh\n"+script+"\n")
	path := filepath.Join(directory, "pulumi-resource-"+name)
	if err := os.Chmod(path, 0o755); err != nil {
		t.Fatal(err)
	}
}

// playing returns the script of a plugin that serves a schema.
func playing(t *testing.T, schema string) string {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	return fmt.Sprintf("%s='%s' exec %s", playVariable, schema, self)
}

func write(t *testing.T, dir, name, text string) string {
	t.Helper()
	path := filepath.Join(dir, name)
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestComplete(t *testing.T) {
	t.Parallel()
	home, dir := t.TempDir(), t.TempDir()
	install(t, home, "random", "4.2.0", playing(t, `{"name":"random","version":"4.2.0"}`))
	install(t, home, "random", "4.10.0", playing(t, `{"name":"random","version":"4.10.0"}`))
	install(t, home, "aws", "7.1.0", playing(t, `{"name":"aws","version":"7.1.0"}`))
	install(t, home, "broken", "1.0.0", "exec >&-; sleep 0.1; echo oh no >&2; exit 1")
	install(t, home, "strange", "1.0.0", "echo hello; exec sleep 60")
	file := write(t, dir, "tls.json", `{"name":"tls","version":"5.0.0"}`)
	builtIn := []simulate.Package{{Name: "aws", Schemas: [][]byte{[]byte(`{"name":"aws"}`)}}, {Name: "kind"}}
	find := finder{Files: []string{file}, Home: home}
	cases := []struct {
		name     string
		used     []packages.Used
		schemas  map[string]string // the last of each package that is not built in, or has more than one
		warnings []string
	}{
		{"only the file", nil, map[string]string{"tls": `{"name":"tls","version":"5.0.0"}`}, nil},
		{"the version that is named", []packages.Used{{Name: "random", Version: "4.2.0"}}, map[string]string{"random": `{"name":"random","version":"4.2.0"}`}, nil},
		{"the newest version", []packages.Used{{Name: "random", Version: "5.0.0"}}, map[string]string{"random": `{"name":"random","version":"4.10.0"}`}, nil},
		{"more of what is built in", []packages.Used{{Name: "aws"}, {Name: "kind"}}, map[string]string{"aws": `{"name":"aws","version":"7.1.0"}`}, nil},
		{"what is built in, where another version is installed", []packages.Used{{Name: "aws", Version: "6.0.0"}}, map[string]string{"aws": `{"name":"aws"}`}, nil},
		{"the file goes first", []packages.Used{{Name: "tls", Version: "1.0.0"}}, map[string]string{"tls": `{"name":"tls","version":"5.0.0"}`}, nil},
		{"dynamic providers", []packages.Used{{Name: "pulumi-nodejs"}}, map[string]string{"pulumi-nodejs": ""}, nil},
		{"an unknown package", []packages.Used{{Name: "other"}}, map[string]string{"other": ""}, []string{"not checked: the resources of the package other: its plugin is not installed"}},
		{"a directory that has none", []packages.Used{{Name: "random", Directory: dir}}, map[string]string{"random": ""}, []string{"package random: its plugin is not installed"}},
		{"plugins that do not work", []packages.Used{{Name: "broken"}, {Name: "strange"}}, map[string]string{"broken": "", "strange": ""},
			[]string{"does not tell its schema: it does not serve: EOF (oh no)", `it does not say where it serves, but "hello"`}},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			all, warnings, err := find.complete(t.Context(), builtIn, c.used)
			if err != nil {
				t.Fatal(err)
			}
			found := map[string]string{}
			for _, p := range all {
				found[p.Name] = ""
				if n := len(p.Schemas); n > 0 {
					found[p.Name] = string(p.Schemas[n-1])
				}
			}
			for name, want := range c.schemas {
				if got, ok := found[name]; !ok || got != want {
					t.Errorf("%s has the schema %q, want %q", name, got, want)
				}
			}
			if len(warnings) != len(c.warnings) {
				t.Fatalf("warned %q, want %q", warnings, c.warnings)
			}
			for i, part := range c.warnings {
				if !strings.Contains(warnings[i], part) {
					t.Errorf("warned %q, want %q", warnings[i], part)
				}
			}
		})
	}
}

// TestFileOfABuiltInPackage: the user's schema describes its types before the one that is built in.
func TestFileOfABuiltInPackage(t *testing.T) {
	t.Parallel()
	const own, ours = `{"name":"aws","version":"8.0.0"}`, `{"name":"aws"}`
	builtIn := []simulate.Package{{Name: "aws", Schemas: [][]byte{[]byte(ours)}}}
	find := finder{Files: []string{write(t, t.TempDir(), "aws.json", own)}}
	all, warnings, err := find.complete(t.Context(), builtIn, []packages.Used{{Name: "aws"}})
	if err != nil || len(warnings) > 0 {
		t.Fatalf("warnings %q, error %v", warnings, err)
	}
	var got []string
	for _, schema := range all[0].Schemas {
		got = append(got, string(schema))
	}
	if diff := cmp.Diff([]string{own, ours}, got); diff != "" {
		t.Error(diff)
	}
}

func TestFilesThatAreNoSchemas(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	good := write(t, dir, "good.json", `{"name":"x"}`)
	cases := []struct {
		files []string
		want  string
	}{
		{[]string{filepath.Join(dir, "missing.json")}, "no such file"},
		{[]string{write(t, dir, "page.html", "<html>")}, "is not the schema of a Pulumi package: invalid character"},
		{[]string{write(t, dir, "empty.json", "{}")}, "it has no name; `pulumi package get-schema NAME` prints one"},
		{[]string{good, good}, "there is another schema of the package x"},
	}
	for _, c := range cases {
		_, _, err := finder{Files: c.files}.complete(t.Context(), nil, nil)
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("got %v, want %q", err, c.want)
		}
	}
}
