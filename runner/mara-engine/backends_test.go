package main

import (
	"context"
	"testing"

	"github.com/pulumi/pulumi/pkg/v3/backend"
	"github.com/pulumi/pulumi/pkg/v3/backend/httpstate"
	"github.com/pulumi/pulumi/pkg/v3/display"
	"github.com/pulumi/pulumi/pkg/v3/resource/deploy"
	"github.com/pulumi/pulumi/sdk/v3/go/common/registry"

	"mara/runner/internal/pulumicli/wire"
)

// cloudStack and cloud are a stack and the backend of Pulumi Cloud.
type cloudStack struct{ httpstate.Stack }

type cloud struct {
	*httpstate.MockHTTPBackend
	backend.EnvironmentsBackend
	backend.SpecificDeploymentExporter
}

// previewedIn is a backend with one stack that records what it previews.
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
			if got := (&logins{}).wrap(test.backend); got != test.backend {
				t.Errorf("without foresight: %T", got)
			}
			f, err := newForesight(&wire.Preview{})
			if err != nil {
				t.Fatal(err)
			}
			wrapped := (&logins{preview: f}).wrap(test.backend)
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
	if got := (&logins{preview: &foresight{}}).wrap(nil); got != nil {
		t.Errorf("no backend: %v", got)
	}
}
