package main

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/pulumi/pulumi/sdk/v3/go/pulumi"
	pulumirpc "github.com/pulumi/pulumi/sdk/v3/proto/go"

	"mara/config"
	"mara/projects"
	"mara/projects/internal/languagehost"
	"mara/projects/model/wire"
	"mara/projects/programs"
)

// host answers the engines' questions to a language host.
type host struct {
	languagehost.Host
	options
	find func(project string) (pulumi.RunFunc, bool)
	ran  func(wire.Ran) // reports every program that ran; may be nil
}

// Run runs the program of a project once, for a preview or for an update.
func (h *host) Run(ctx context.Context, request *pulumirpc.RunRequest) (*pulumirpc.RunResponse, error) {
	program, ok := h.find(request.GetProject())
	if !ok {
		return &pulumirpc.RunResponse{Error: unknownProject(request.GetProject())}, nil
	}
	began := time.Now()
	if h.root != "" {
		ctx = context.WithValue(ctx, projects.RootKey{}, h.root)
	}
	run, err := pulumi.NewContext(ctx, h.info(ctx, request))
	if err != nil {
		return nil, err
	}
	defer func() { _ = run.Close() }()
	err = execute(run, program)
	if h.ran != nil {
		h.ran(wire.Ran{Project: request.GetProject(), Took: time.Since(began)})
	}
	if err != nil {
		return &pulumirpc.RunResponse{Error: err.Error()}, nil
	}
	return &pulumirpc.RunResponse{}, nil
}

// execute turns a panic of the program into an error: other programs run in the
// same process.
func execute(ctx *pulumi.Context, program pulumi.RunFunc) (err error) {
	defer func() {
		if caught := recover(); caught != nil {
			err = fmt.Errorf("the program panicked: %v", caught)
		}
	}()
	return pulumi.RunWithContext(ctx, program)
}

// unknownProject says which projects there are.
func unknownProject(name string) string {
	if _, ok := projects.ByName(name); ok {
		return fmt.Sprintf("the program of %s is not in this pulumi-language-mara, "+
			"which `make demo` has built for kind alone: `make build` builds all", name)
	}
	return fmt.Sprintf(
		"no built-in program for project %q: with `runtime: mara` the name in Pulumi.yaml must be one of %s",
		name, strings.Join(slices.Sorted(maps.Keys(programs.All())), ", "))
}

// info returns what a program learns about its run.
func (h *host) info(ctx context.Context, request *pulumirpc.RunRequest) pulumi.RunInfo {
	return pulumi.RunInfo{
		Project: request.GetProject(), Stack: request.GetStack(), Organization: request.GetOrganization(),
		RootDirectory: request.GetInfo().GetRootDirectory(),
		Config:        h.config(request.GetConfig()), ConfigSecretKeys: request.GetConfigSecretKeys(),
		Parallel: request.GetParallel(), DryRun: request.GetDryRun(),
		MonitorAddr: request.GetMonitorAddress(), EngineAddr: h.EngineOf(ctx),
	}
}

// config adds the provider to a configuration that does not name it.
func (h *host) config(given map[string]string) map[string]string {
	all := map[string]string{}
	if h.provider != "" {
		all[config.InfraType] = h.provider
	}
	maps.Copy(all, given)
	return all
}
