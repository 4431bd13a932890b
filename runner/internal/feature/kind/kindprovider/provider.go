// Package kindprovider is the Pulumi resource provider "kind": Kubernetes
// clusters in containers on this machine, made by kind as a library, and a
// container registry beside them.
//
// Whatever it makes carries a mark that says which stack has made it, so that it
// never takes over, changes or deletes what belongs to someone else. The mark
// is there from the first moment on: what a run has left half made is found and
// cleared away by the next.
package kindprovider

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"

	p "github.com/pulumi/pulumi-go-provider"
	"github.com/pulumi/pulumi-go-provider/infer"
	"github.com/pulumi/pulumi-go-provider/middleware/schema"
	"github.com/pulumi/pulumi/sdk/v3/go/common/tokens"
	"github.com/pulumi/pulumi/sdk/v3/go/pulumi/provider"
	pulumirpc "github.com/pulumi/pulumi/sdk/v3/proto/go"

	"mara/config/lists"
	"mara/runner/internal/feature/kind/containers"
)

const (
	// Name is the name of the provider's package.
	Name = "kind"
	// Version is the version of its schema.
	Version = "0.1.0"
)

// Config is the configuration of the provider.
type Config struct {
	Runtime *string `pulumi:"runtime,optional" doc:"The container runtime: docker, podman or nerdctl. The one found first when nil."`
}

// Annotate implements infer.Annotated.
func (c *Config) Annotate(a infer.Annotator) { describe(a, c) }

// Check implements infer.CustomCheck.
func (c *Config) Check(ctx context.Context, req infer.CheckRequest) (infer.CheckResponse[*Config], error) {
	config, failures, err := infer.DefaultCheck[*Config](ctx, req.NewInputs)
	if config != nil && config.Runtime != nil && !slices.Contains(containers.Names(), *config.Runtime) {
		failures = append(failures, p.CheckFailure{
			Property: "runtime",
			Reason: fmt.Sprintf("%q is no container runtime that kind works with: choose docker, podman or nerdctl",
				*config.Runtime),
		})
	}
	return infer.CheckResponse[*Config]{Inputs: config, Failures: failures}, err
}

// diffConfig replaces the provider and all its resources if the runtime changes: the
// containers of one runtime are not in another. Names and ports are taken once, so the
// old resources are deleted first. infer's own method keeps values of earlier calls
// and compares with them.
func diffConfig(_ context.Context, req p.DiffRequest) (p.DiffResponse, error) {
	if req.State.Get("runtime").Equals(req.Inputs.Get("runtime")) {
		return p.DiffResponse{}, nil
	}
	change := map[string]p.PropertyDiff{"runtime": {Kind: p.UpdateReplace, InputDiff: true}}
	return p.DiffResponse{HasChanges: true, DeleteBeforeReplace: true, DetailedDiff: change}, nil
}

// Serve makes the provider's server for a connection of the engine.
func Serve(open Open, engine *provider.HostClient) (pulumirpc.ResourceProviderServer, error) {
	m := &machine{open: open}
	inner, err := p.RawServer(Name, Version, newProvider(m))(engine)
	return &server{ResourceProviderServer: inner, machine: m}, err
}

// Schema describes the provider to Pulumi's tools.
func Schema(ctx context.Context) (string, error) {
	s, err := Serve(nil, nil)
	if err != nil {
		return "", err
	}
	response, err := s.GetSchema(ctx, &pulumirpc.GetSchemaRequest{})
	return response.GetSchema(), err
}

func newProvider(m *machine) p.Provider {
	made := infer.Provider(infer.Options{
		Metadata: schema.Metadata{
			DisplayName: "kind",
			Description: "Kubernetes clusters in containers on this machine, and a container registry beside them.",
			Keywords:    []string{"kind", "kubernetes", "docker", "podman"},
			License:     "Apache-2.0",
		},
		Config:    infer.Config(&Config{}),
		Resources: []infer.InferredResource{infer.Resource(&Cluster{machine: m}), infer.Resource(&Registry{machine: m})},
		ModuleMap: map[tokens.ModuleName]tokens.ModuleName{"kindprovider": "index"},
	})
	made.DiffConfig = diffConfig
	return made
}

// server learns from the engine which provider resource it serves.
type server struct {
	pulumirpc.ResourceProviderServer
	machine *machine
}

// Configure keeps the id of the provider resource: the engine makes it up when
// the stack is created and keeps it in the stack's state before it creates
// anything else, so it tells one stack from all others.
func (s *server) Configure(ctx context.Context, req *pulumirpc.ConfigureRequest) (*pulumirpc.ConfigureResponse, error) {
	s.machine.mu.Lock()
	s.machine.owner = req.GetId()
	s.machine.mu.Unlock()
	return s.ResourceProviderServer.Configure(ctx, req)
}

// diff compares two structs of inputs, field by field; the fields' tags say
// what cannot be changed. Names and ports can be taken only once, so the old
// resource is deleted before its replacement is created.
func diff[I any](before, after I) p.DiffResponse {
	response := p.DiffResponse{DeleteBeforeReplace: true, DetailedDiff: map[string]p.PropertyDiff{}}
	is := reflect.ValueOf(after)
	for field, a := range reflect.ValueOf(before).Fields() {
		b := is.FieldByIndex(field.Index)
		if isEmpty(a) && isEmpty(b) || reflect.DeepEqual(a.Interface(), b.Interface()) {
			continue // an empty list or map is the same as none
		}
		kind := p.Update
		if replaces(field) {
			kind = p.UpdateReplace
		}
		response.HasChanges = true
		response.DetailedDiff[property(field)] = p.PropertyDiff{Kind: kind, InputDiff: true}
	}
	return response
}

// fixed returns the immutable inputs as JSON, by the names of their properties.
func fixed[I any](inputs I) map[string]json.RawMessage {
	values := map[string]json.RawMessage{}
	for field, value := range reflect.ValueOf(inputs).Fields() {
		switch {
		case !replaces(field):
		case isEmpty(value):
			values[property(field)] = json.RawMessage("null")
		default:
			values[property(field)], _ = json.Marshal(value.Interface()) // plain values only
		}
	}
	return values
}

// describe hands the `doc` tags of a struct's fields to an annotator.
func describe(a infer.Annotator, properties any) {
	for field, value := range reflect.ValueOf(properties).Elem().Fields() {
		if doc, ok := field.Tag.Lookup("doc"); ok {
			a.Describe(value.Addr().Interface(), doc)
		}
	}
}

func property(field reflect.StructField) string {
	name, _, _ := strings.Cut(field.Tag.Get("pulumi"), ",")
	return name
}

func replaces(field reflect.StructField) bool {
	return strings.Contains(field.Tag.Get("provider"), "replaceOnChanges")
}

func isEmpty(value reflect.Value) bool {
	return (value.Kind() == reflect.Slice || value.Kind() == reflect.Map) && value.Len() == 0
}

// incomplete returns the error of a resource that exists, but not as it should: the
// state keeps it, and the next run repairs it. It is nil without causes.
func incomplete(causes ...error) error {
	causes = slices.DeleteFunc(causes, func(cause error) bool { return cause == nil })
	if len(causes) == 0 {
		return nil
	}
	return &incompleteError{lists.Map(causes, explain)}
}

// incompleteError lists the causes; infer's own error says only that there are some.
type incompleteError struct{ causes []error }

func (e *incompleteError) Error() string { return errors.Join(e.causes...).Error() }

// Unwrap returns the causes and the error that infer looks for.
func (e *incompleteError) Unwrap() []error {
	return append(slices.Clone(e.causes), infer.ResourceInitFailedError{Reasons: texts(e.causes)})
}

// texts returns the messages of errors, with hints.
func texts(errs []error) []string {
	return lists.Map(errs, func(err error) string { return explain(err).Error() })
}

// explain adds a hint to errors that runtimes report in their own words.
func explain(err error) error {
	var before explainedError
	switch {
	case err == nil || errors.As(err, &before):
		return err
	case containers.Unreachable(err):
		return explainedError{fmt.Errorf("the container runtime does not answer: start its daemon (%w)", err)}
	case containers.PortTaken(err) != "":
		return explainedError{fmt.Errorf("port %s of this machine is taken: stop what holds it, or choose another port "+
			"(kind:http_port, kind:https_port, kind:api_server_port, kind:registry_port) (%w)", containers.PortTaken(err), err)}
	}
	return err
}

// explainedError is not to be explained again.
type explainedError struct{ error }

func (e explainedError) Unwrap() error { return e.error }
