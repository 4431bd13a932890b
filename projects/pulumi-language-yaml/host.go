package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/pulumi/pulumi-yaml/pkg/pulumiyaml"
	"github.com/pulumi/pulumi-yaml/pkg/pulumiyaml/ast"
	"github.com/pulumi/pulumi-yaml/pkg/pulumiyaml/syntax"
	"github.com/pulumi/pulumi/pkg/v3/codegen/schema"
	"github.com/pulumi/pulumi/sdk/v3/go/pulumi"
	pulumirpc "github.com/pulumi/pulumi/sdk/v3/proto/go"

	"mara/projects/internal/languagehost"
)

// host runs templates. It serves one engine, which runs one program at a time:
// the interpreter needs the working directory of the process.
type host struct{ languagehost.Host }

// Run runs the template of a project once.
func (h *host) Run(ctx context.Context, request *pulumirpc.RunRequest) (*pulumirpc.RunResponse, error) {
	template, warnings, err := load(request.GetInfo())
	if err != nil {
		return &pulumirpc.RunResponse{Error: err.Error()}, nil
	}
	if err := os.Chdir(request.GetInfo().GetProgramDirectory()); err != nil {
		return nil, err
	}
	monitor := request.GetMonitorAddress()
	if request.GetDryRun() {
		previewCtx, end := context.WithCancel(ctx)
		defer end()
		if monitor, err = preview(previewCtx, monitor); err != nil {
			return nil, err
		}
	}
	run, err := pulumi.NewContext(ctx, pulumi.RunInfo{
		Project: request.GetProject(), Stack: request.GetStack(), Organization: request.GetOrganization(),
		RootDirectory: request.GetInfo().GetRootDirectory(),
		Config:        request.GetConfig(), ConfigSecretKeys: request.GetConfigSecretKeys(),
		Parallel: request.GetParallel(), DryRun: request.GetDryRun(),
		MonitorAddr: monitor, EngineAddr: h.EngineOf(ctx),
	})
	if err != nil {
		return nil, err
	}
	defer func() { _ = run.Close() }()
	client, err := schema.NewLoaderClient(request.GetLoaderTarget())
	if err != nil {
		return nil, err
	}
	packages := pulumiyaml.NewPackageLoaderFromSchemaLoader(schema.NewCachedLoader(client))
	defer packages.Close()
	for _, warning := range warnings {
		_ = run.Log.Warn(text(warning), nil)
	}
	return answer(pulumi.RunWithContext(run, func(ctx *pulumi.Context) error {
		config := values(template, request.GetProject(), request.GetConfig(), request.GetConfigSecretKeys())
		return pulumiyaml.RunTemplate(ctx, template, config, packages)
	})), nil
}

// load reads the template of a program.
func load(info *pulumirpc.ProgramInfo) (template *ast.TemplateDecl, warnings syntax.Diagnostics, err error) {
	if _, compiled := info.GetOptions().AsMap()["compiler"]; compiled {
		return nil, nil, errors.New("the option compiler in Pulumi.yaml needs the language host of an installed Pulumi")
	}
	template, found, err := pulumiyaml.LoadDir(info.GetProgramDirectory())
	if found.HasErrors() {
		return nil, nil, fmt.Errorf("reading the template: %s", texts(found))
	}
	if errors.Is(err, pulumiyaml.ErrMissingTemplateFile) {
		return nil, nil, fmt.Errorf("there is no Main.yaml, Main.json or Pulumi.yaml in %s", info.GetProgramDirectory())
	}
	if err != nil {
		return nil, nil, fmt.Errorf("reading the template: %w", err)
	}
	return template, slices.DeleteFunc(found, isDescription), nil
}

// isDescription reports whether a diagnostic warns of the description of a configuration key. The runner asks for keys
// by their descriptions, which Pulumi YAML does not know.
func isDescription(d *syntax.Diagnostic) bool {
	return d.Severity == hcl.DiagWarning && strings.HasPrefix(d.Summary,
		"Field 'description' does not exist on Object 'config.")
}

// answer reports how a template has ended, without errors that it has reported to the engine
// itself.
func answer(err error) *pulumirpc.RunResponse {
	if err == nil {
		return &pulumirpc.RunResponse{}
	}
	found, ok := pulumiyaml.HasDiagnostics(err)
	if !ok {
		return &pulumirpc.RunResponse{Error: err.Error()}
	}
	if untold := texts(*found.Unshown()); untold != "" {
		return &pulumirpc.RunResponse{Error: untold}
	}
	return &pulumirpc.RunResponse{Bail: found.HasErrors()}
}

// texts joins the errors among diagnostics, one per line.
func texts(found syntax.Diagnostics) string {
	var lines []string
	for _, diagnostic := range found {
		if diagnostic.Severity == hcl.DiagError {
			lines = append(lines, text(diagnostic))
		}
	}
	return strings.Join(lines, "\n")
}

// text returns a diagnostic on one line, with its position.
func text(d *syntax.Diagnostic) string {
	line := d.Summary
	if detail := strings.Join(strings.Fields(d.Detail), " "); detail != "" && detail != line {
		line += ": " + detail
	}
	if d.Subject == nil {
		return line
	}
	file, start := filepath.Base(d.Subject.Filename), d.Subject.Start
	return fmt.Sprintf("%s:%d:%d: %s", file, start.Line, start.Column, line)
}

// GetRequiredPackages implements the language host: the plugins whose resources
// are in the template.
func (h *host) GetRequiredPackages(
	_ context.Context, request *pulumirpc.GetRequiredPackagesRequest,
) (*pulumirpc.GetRequiredPackagesResponse, error) {
	response := &pulumirpc.GetRequiredPackagesResponse{}
	template, _, err := load(request.GetInfo())
	if err != nil {
		return response, nil // Run says what is wrong
	}
	referenced, _ := pulumiyaml.GetReferencedPackages(template)
	for _, p := range referenced {
		required := &pulumirpc.PackageDependency{Kind: "resource", Name: p.Name, Version: p.Version, Server: p.DownloadURL}
		if p.Parameterization != nil {
			value, err := p.Parameterization.GetValue()
			if err != nil {
				return nil, fmt.Errorf("the parameter of the package %s: %w", p.Name, err)
			}
			required.Parameterization = &pulumirpc.PackageParameterization{
				Name: p.Parameterization.Name, Version: p.Parameterization.Version, Value: value,
			}
		}
		response.Packages = append(response.Packages, required)
	}
	return response, nil
}
