package main

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/pulumi/pulumi/pkg/v3/backend"
	"github.com/pulumi/pulumi/pkg/v3/backend/httpstate"
	"github.com/pulumi/pulumi/pkg/v3/display"
	"github.com/pulumi/pulumi/pkg/v3/registry"
	"github.com/pulumi/pulumi/pkg/v3/resource/deploy"
	"github.com/pulumi/pulumi/pkg/v3/resource/plugin"
	"github.com/pulumi/pulumi/sdk/v3/go/common/env"
	"github.com/pulumi/pulumi/sdk/v3/go/common/resource"
	properties "github.com/pulumi/pulumi/sdk/v3/go/common/resource/plugin"
	"github.com/pulumi/pulumi/sdk/v3/go/common/workspace"
	pulumirpc "github.com/pulumi/pulumi/sdk/v3/proto/go"

	"mara/projects/monitor"
	"mara/runner/internal/core/pulumicli/wire"
)

// cloudStack and cloud are a stack and the backend of Pulumi Cloud.
type cloudStack struct{ httpstate.Stack }

type cloud struct {
	*httpstate.MockHTTPBackend
	backend.EnvironmentsBackend
	backend.SpecificDeploymentExporter
}

// previewedIn returns a backend with one stack, which records what it previews.
func previewedIn(stack backend.Stack) (b backend.MockBackend, previewed *backend.Stack, operation *backend.UpdateOperation) {
	previewed, operation = new(backend.Stack), new(backend.UpdateOperation)
	return backend.MockBackend{
		GetStackF: func(context.Context, backend.StackReference) (backend.Stack, error) { return stack, nil },
		PreviewF: func(_ context.Context, s backend.Stack, op backend.UpdateOperation) (*deploy.Plan, display.ResourceChanges, error) {
			*previewed, *operation = s, op
			return nil, nil, nil
		},
		GetReadOnlyCloudRegistryF: func() registry.Registry { return backend.MockCloudRegistry{} },
	}, previewed, operation
}

// TestWrappedBackends: a preview with foresight gets a plugin host of ours, through a
// backend and a stack that commands take for those of the kind they are. A command
// without foresight gets the backend itself.
func TestWrappedBackends(t *testing.T) {
	t.Parallel()
	localStack, remoteStack := &backend.MockStack{}, cloudStack{}
	local, localPreviewed, localOperation := previewedIn(localStack)
	remote, remotePreviewed, remoteOperation := previewedIn(remoteStack)
	for _, test := range []struct {
		name      string
		backend   backend.Backend
		stack     backend.Stack
		cloud     bool
		previewed *backend.Stack
		operation *backend.UpdateOperation
	}{
		{"a directory", &local, localStack, false, localPreviewed, localOperation},
		{"Pulumi Cloud", cloud{MockHTTPBackend: &httpstate.MockHTTPBackend{MockBackend: remote}}, remoteStack, true, remotePreviewed, remoteOperation},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			if got := (&logins{}).wrap(test.backend, ""); got != test.backend {
				t.Errorf("without foresight: %T", got)
			}
			f, err := newForesight(&wire.Preview{})
			if err != nil {
				t.Fatal(err)
			}
			wrapped := (&logins{preview: f}).wrap(test.backend, "")
			stack, err := wrapped.GetStack(t.Context(), nil)
			if err != nil || stack.Backend() != wrapped {
				t.Fatalf("the stack leads to %v, %v", stack, err)
			}
			if _, is := stack.(httpstate.Stack); is != test.cloud {
				t.Errorf("a stack of Pulumi Cloud: %t", is)
			}
			_, isHTTP := wrapped.(httpstate.Backend)
			_, hasEnvironments := wrapped.(backend.EnvironmentsBackend)
			_, exports := wrapped.(backend.SpecificDeploymentExporter)
			if isHTTP != test.cloud || hasEnvironments != test.cloud || exports != test.cloud {
				t.Errorf("%T: HTTP %t, environments %t, exports %t", wrapped, isHTTP, hasEnvironments, exports)
			}
			if _, _, err := stack.Backend().Preview(t.Context(), stack, backend.UpdateOperation{}, nil); err != nil {
				t.Fatal(err)
			}
			if *test.previewed != test.stack || test.operation.Opts.Engine.HostFactory == nil {
				t.Errorf("the backend previews %T; host factory: %t", *test.previewed, test.operation.Opts.Engine.HostFactory != nil)
			}
		})
	}
	if got := (&logins{preview: &foresight{}}).wrap(nil, ""); got != nil {
		t.Errorf("no backend: %v", got)
	}
}

// componentHost has one plugin, in a directory.
type componentHost struct {
	plugin.Host
	provider  plugin.Provider
	directory string
}

func (h componentHost) Provider(*plugin.Context, workspace.PluginDescriptor, env.Env) (plugin.Provider, error) {
	return h.provider, nil
}

func (h componentHost) ResolvePlugin(*plugin.Context, workspace.PluginDescriptor) (*workspace.PluginInfo, error) {
	if h.directory == "" {
		return nil, errors.New("no such plugin")
	}
	return &workspace.PluginInfo{Path: h.directory}, nil
}

// components is a provider whose components and methods read a stack.
type components struct {
	plugin.UnimplementedProvider
	read func(monitor string)
}

func (c components) Construct(_ context.Context, request plugin.ConstructRequest) (plugin.ConstructResponse, error) {
	c.read(request.Info.MonitorAddress)
	return plugin.ConstructResponse{}, nil
}

func (c components) Call(_ context.Context, request plugin.CallRequest) (plugin.CallResponse, error) {
	c.read(request.Info.MonitorAddress)
	return plugin.CallResponse{}, nil
}

// TestComponents: components of plugins, and their methods, read foreseen outputs as
// programs for the plugin's runtime do. Only in a preview: else they read the state.
func TestComponents(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name, manifest string
		dryRun         bool
		want           resource.PropertyMap
	}{
		{"TypeScript", "runtime: nodejs\n", true, resource.PropertyMap{"cidr": text("b"), "id": unknown}},
		{"Go", "runtime: {name: go}\n", true, resource.PropertyMap{"cidr": text("b")}},
		{"a program", "", true, resource.PropertyMap{"cidr": text("b")}},
		{"a program, in an up", "", false, resource.PropertyMap{"cidr": text("a")}},
		{"attached", "none", true, resource.PropertyMap{"cidr": text("b")}},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			directory := t.TempDir()
			switch test.manifest {
			case "none":
				directory = ""
			case "":
			default:
				if err := os.WriteFile(filepath.Join(directory, "PulumiPlugin.yaml"), []byte(test.manifest), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			f, err := newForesight(given(t, resource.PropertyMap{"cidr": text("b"), "id": unknown}))
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(f.close)
			var reads int
			read := func(address string) {
				reads++
				response, err := dial(t, address).ReadResource(t.Context(), &pulumirpc.ReadResourceRequest{
					Type: monitor.StackReference, Id: "organization/net/dev", AcceptSecrets: true, AcceptResources: true,
				})
				if err != nil {
					t.Fatal(err)
				}
				got, err := properties.UnmarshalProperties(response.GetProperties(), keepAll)
				if err != nil || !got[outputsKey].DeepEquals(resource.NewProperty(test.want)) {
					t.Errorf("read %v, %v; want %v", got[outputsKey], err, test.want)
				}
			}
			h := host{componentHost{provider: &components{read: read}, directory: directory}, reader{foresight: f, canonical: fullName}}
			p, err := h.Provider(nil, workspace.PluginDescriptor{}, nil)
			if err != nil {
				t.Fatal(err)
			}
			engine := serveEngine(t, resource.PropertyMap{"cidr": text("a")})
			_, err = p.Construct(t.Context(), plugin.ConstructRequest{Info: plugin.ConstructInfo{DryRun: test.dryRun, MonitorAddress: engine}})
			_, failed := p.Call(t.Context(), plugin.CallRequest{Info: plugin.CallInfo{DryRun: test.dryRun, MonitorAddress: engine}})
			if err != nil || failed != nil || reads != 2 {
				t.Errorf("%v, %v, %d reads", err, failed, reads)
			}
		})
	}
}

// TestLister: only a list of the stacks in a database is ours, and of what is there only states count.
func TestLister(t *testing.T) {
	t.Parallel()
	b := &backend.MockBackend{}
	for _, test := range []struct {
		args, address string
		want          bool
	}{
		{"--non-interactive stack ls --all --json", "postgres://h/d", true},
		{"stack ls --all --json", "s3://bucket", false},
		{"stack export", "postgres://h/d", false},
		{"stack", "postgres://h/d", false},
	} {
		wrapped := (&logins{args: strings.Fields(test.args)}).wrap(b, test.address)
		if _, is := wrapped.(lister); is != test.want {
			t.Errorf("%s at %s gets a %T", test.args, test.address, wrapped)
		}
	}
	for path, want := range map[string]string{
		"vpc/dev.json": "vpc dev", "vpc/dev.json.gz": "vpc dev", "vpc/dev.json.zst": "vpc dev", "vpc/a.b.json": "vpc a.b",
		"vpc/dev.json.bak": "", "vpc/dev.json.gz.bak": "", "vpc/dev.tags": "", "dev.json": "", "vpc/x/dev.json": "",
	} {
		got := ""
		if state, ok := stateAt(path, nil); ok {
			got = state.project + " " + state.stack
		}
		if got != want {
			t.Errorf("%s is the state of %q, want %q", path, got, want)
		}
	}
}
