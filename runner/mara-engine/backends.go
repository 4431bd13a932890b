package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strconv"

	"github.com/pulumi/pulumi/pkg/v3/backend"
	"github.com/pulumi/pulumi/pkg/v3/backend/httpstate"
	cmdbackend "github.com/pulumi/pulumi/pkg/v3/cmd/pulumi/backend"
	"github.com/pulumi/pulumi/pkg/v3/display"
	"github.com/pulumi/pulumi/pkg/v3/engine"
	"github.com/pulumi/pulumi/pkg/v3/resource/deploy"
	"github.com/pulumi/pulumi/pkg/v3/resource/plugin"
	pkgworkspace "github.com/pulumi/pulumi/pkg/v3/workspace"
	"github.com/pulumi/pulumi/sdk/v3/go/common/diag"
	"github.com/pulumi/pulumi/sdk/v3/go/common/diag/colors"
	"github.com/pulumi/pulumi/sdk/v3/go/common/env"
	"github.com/pulumi/pulumi/sdk/v3/go/common/resource"
	"github.com/pulumi/pulumi/sdk/v3/go/common/workspace"
	pulumirpc "github.com/pulumi/pulumi/sdk/v3/proto/go"
	"google.golang.org/grpc"

	"mara/projects/monitor"
	"mara/runner/internal/core/pulumicli/wire"
	"mara/runner/mara-engine/journal"
)

// Pulumi's engine makes the resource monitor of a preview deep inside, and has no
// hook there. The exported hooks lead to it in steps: the login manager makes the
// backend, which makes the stack, whose backend previews it with a plugin host,
// which has the language runtime, which is given the monitor's address, as the
// providers of components are. Each type
// here wraps one of them and changes only what leads to the next. Only previews
// that the runner asks for are wrapped: all other commands look for the backend's
// own types.

// logins wraps the login manager.
type logins struct {
	cmdbackend.LoginManager
	preview *foresight // of the running command; nil for a command as Pulumi has it
	args    []string   // of the running command
	kept    databases
}

// hookLogins has all commands log in through a wrapped login manager.
func hookLogins() *logins {
	l := &logins{LoginManager: cmdbackend.DefaultLoginManager, kept: databases{}}
	cmdbackend.DefaultLoginManager = l
	return l
}

// Current implements LoginManager.
func (l *logins) Current(ctx context.Context, ws pkgworkspace.Context, sink diag.Sink, url string,
	project *workspace.Project, setCurrent bool) (backend.Backend, error) {
	b, err := l.kept.open(url, project, func() (backend.Backend, error) {
		return l.LoginManager.Current(ctx, ws, sink, url, project, setCurrent)
	})
	if err != nil {
		return nil, err
	}
	return l.wrap(b, url), nil
}

// Login implements LoginManager.
func (l *logins) Login(ctx context.Context, ws pkgworkspace.Context, sink diag.Sink, url string,
	project *workspace.Project, setCurrent bool, insecure bool, color colors.Colorization,
	options ...cmdbackend.LoginOption) (backend.Backend, error) {
	b, err := l.kept.open(url, project, func() (backend.Backend, error) {
		return l.LoginManager.Login(ctx, ws, sink, url, project, setCurrent, insecure, color, options...)
	})
	if err != nil {
		return nil, err
	}
	return l.wrap(b, url), nil
}

func (l *logins) wrap(b backend.Backend, url string) backend.Backend {
	if b == nil {
		return nil
	}
	b = journal.Wrap(b, journal.Options{
		Off: isTrue(wire.NoJournalVariable), Forget: isTrue(wire.ForgetJournalVariable),
		Warn: func(text string) { fmt.Fprintln(os.Stderr, "warning: "+text) },
	})
	if isList(l.args, url) {
		return lister{b, url}
	}
	if l.preview == nil {
		return b
	}
	if cloud, ok := b.(cloudBackend); ok {
		return cloudPreviewer{cloud, l.preview}
	}
	return previewer{b, l.preview}
}

// isTrue reports whether a variable of the running command is true.
func isTrue(variable string) bool {
	is, _ := strconv.ParseBool(os.Getenv(variable))
	return is
}

// cloudBackend is all that commands expect of the backend of Pulumi Cloud.
type cloudBackend interface {
	httpstate.Backend
	backend.EnvironmentsBackend
	backend.SpecificDeploymentExporter
}

// previewer wraps a backend that keeps states in a directory or a bucket.
type previewer struct {
	backend.Backend
	preview *foresight
}

// GetStack implements Backend.
func (p previewer) GetStack(ctx context.Context, ref backend.StackReference) (backend.Stack, error) {
	s, err := p.Backend.GetStack(ctx, ref)
	if err != nil || s == nil {
		return s, err
	}
	return previewedStack{s, p}, nil
}

// Preview implements Backend.
func (p previewer) Preview(ctx context.Context, s backend.Stack, op backend.UpdateOperation,
	events chan<- engine.Event) (*deploy.Plan, display.ResourceChanges, error) {
	if wrapped, ok := s.(previewedStack); ok {
		s = wrapped.Stack
	}
	p.preview.attach(ctx, p.Backend, s, &op)
	return p.Backend.Preview(ctx, s, op, events)
}

// previewedStack is a stack of a previewer.
type previewedStack struct {
	backend.Stack
	previewer previewer
}

// Backend implements Stack.
func (s previewedStack) Backend() backend.Backend { return s.previewer }

// cloudPreviewer wraps the backend of Pulumi Cloud.
type cloudPreviewer struct {
	cloudBackend
	preview *foresight
}

// GetStack implements Backend.
func (p cloudPreviewer) GetStack(ctx context.Context, ref backend.StackReference) (backend.Stack, error) {
	s, err := p.cloudBackend.GetStack(ctx, ref)
	if cloud, ok := s.(httpstate.Stack); ok && err == nil {
		return previewedCloudStack{cloud, p}, nil
	}
	return s, err
}

// Preview implements Backend.
func (p cloudPreviewer) Preview(ctx context.Context, s backend.Stack, op backend.UpdateOperation,
	events chan<- engine.Event) (*deploy.Plan, display.ResourceChanges, error) {
	if wrapped, ok := s.(previewedCloudStack); ok {
		s = wrapped.Stack
	}
	p.preview.attach(ctx, p.cloudBackend, s, &op)
	return p.cloudBackend.Preview(ctx, s, op, events)
}

// previewedCloudStack is a stack of a cloudPreviewer.
type previewedCloudStack struct {
	httpstate.Stack
	previewer cloudPreviewer
}

// Backend implements Stack.
func (s previewedCloudStack) Backend() backend.Backend { return s.previewer }

// attach makes a preview of a stack call the foresight.
func (f *foresight) attach(ctx context.Context, b backend.Backend, s backend.Stack, op *backend.UpdateOperation) {
	f.state = func() (resource.PropertyMap, error) {
		outputs, err := s.SnapshotStackOutputs(ctx, op.SecretsProvider)
		return resource.ToResourcePropertyMap(outputs), err
	}
	newHost := op.Opts.Engine.HostFactory
	if newHost == nil {
		newHost = backend.DefaultHostFactory(b.GetReadOnlyCloudRegistry())
	}
	canonical := func(name string) string {
		ref, err := b.ParseStackReference(name)
		if err != nil {
			return name // which the engine refuses
		}
		return string(ref.FullyQualifiedName())
	}
	op.Opts.Engine.HostFactory = func(ctx context.Context, d, status diag.Sink,
		debug plugin.DebugContext) (plugin.Host, error) {
		h, err := newHost(ctx, d, status, debug)
		if err != nil {
			return nil, err
		}
		return host{h, reader{foresight: f, canonical: canonical}}, nil
	}
}

// host wraps a plugin host.
type host struct {
	plugin.Host
	reader reader
}

// LanguageRuntime implements Host.
func (h host) LanguageRuntime(ctx *plugin.Context, name string) (plugin.LanguageRuntime, error) {
	l, err := h.Host.LanguageRuntime(ctx, name)
	if err != nil {
		return nil, err
	}
	h.reader.runtime = name
	return language{l, h.reader}, nil
}

// Provider implements Host.
func (h host) Provider(ctx *plugin.Context, descriptor workspace.PluginDescriptor, e env.Env) (plugin.Provider, error) {
	p, err := h.Host.Provider(ctx, descriptor, e)
	if err != nil {
		return nil, err
	}
	h.reader.runtime = h.runtimeOf(ctx, descriptor)
	return provider{p, h.reader}, nil
}

// runtimeOf returns the runtime that a plugin is written for: the one that its
// PulumiPlugin.yaml names, as that of a plugin in TypeScript or Python does, or else
// Go, because most plugins are programs in Go.
func (h host) runtimeOf(ctx *plugin.Context, descriptor workspace.PluginDescriptor) string {
	info, err := h.ResolvePlugin(ctx, descriptor)
	if err != nil || info == nil {
		return runtimeGo
	}
	project, err := workspace.LoadPluginProject(filepath.Join(info.Path, "PulumiPlugin.yaml"))
	if err != nil {
		return runtimeGo
	}
	return project.Runtime.Name()
}

// language wraps a language runtime.
type language struct {
	plugin.LanguageRuntime
	reader reader
}

// Run implements LanguageRuntime: a program that is previewed calls the foresight's
// monitor.
func (l language) Run(ctx context.Context, info plugin.RunInfo) (string, bool, error) {
	if err := l.reader.serve(ctx, info.DryRun, &info.MonitorAddress); err != nil {
		return "", false, err
	}
	return l.LanguageRuntime.Run(ctx, info)
}

// provider wraps a resource provider, whose components are programs as well.
type provider struct {
	plugin.Provider
	reader reader
}

// Construct implements Provider: a component that is previewed calls the foresight's
// monitor.
func (p provider) Construct(ctx context.Context, request plugin.ConstructRequest) (plugin.ConstructResponse, error) {
	if err := p.reader.serve(ctx, request.Info.DryRun, &request.Info.MonitorAddress); err != nil {
		return plugin.ConstructResponse{}, err
	}
	return p.Provider.Construct(ctx, request)
}

// Call implements Provider, and does for a method of a component what Construct does.
func (p provider) Call(ctx context.Context, request plugin.CallRequest) (plugin.CallResponse, error) {
	if err := p.reader.serve(ctx, request.Info.DryRun, &request.Info.MonitorAddress); err != nil {
		return plugin.CallResponse{}, err
	}
	return p.Provider.Call(ctx, request)
}

// serve serves the foresight's monitor in front of the engine's for a preview, and replaces the engine's address. It
// does so until the foresight is closed, for a component may call it after Construct has returned.
func (r reader) serve(ctx context.Context, preview bool, address *string) (err error) {
	if !preview {
		return nil
	}
	ctx, stop := context.WithCancel(context.WithoutCancel(ctx))
	r.closeWith(stop)
	*address, err = monitor.Serve(ctx, *address, func(engine pulumirpc.ResourceMonitorClient) []grpc.MethodDesc {
		r.engine = engine
		return []grpc.MethodDesc{ // the methods that are not simply forwarded
			monitor.Method("ReadResource", r.readResource),
			monitor.Method("Invoke", r.invoke),
			monitor.Method("RegisterResourceOutputs", r.registerOutputs),
		}
	})
	return err
}
