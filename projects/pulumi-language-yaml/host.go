package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/pulumi/pulumi-yaml/pkg/pulumiyaml"
	"github.com/pulumi/pulumi-yaml/pkg/pulumiyaml/ast"
	"github.com/pulumi/pulumi-yaml/pkg/pulumiyaml/packages"
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
	loader := pulumiyaml.NewPackageLoaderFromSchemaLoader(schema.NewCachedLoader(client))
	defer loader.Close()
	log := &told{Log: run.Log}
	run.Log = log
	for _, warning := range warnings {
		_ = run.Log.Warn(text(warning), nil)
	}
	return log.answer(pulumi.RunWithContext(run, func(ctx *pulumi.Context) error {
		config := values(template, request.GetProject(), request.GetConfig(), request.GetConfigSecretKeys())
		return pulumiyaml.RunTemplate(ctx, template, config, loader)
	})), nil
}

// load reads the template of a program.
func load(info *pulumirpc.ProgramInfo) (template *ast.TemplateDecl, warnings syntax.Diagnostics, err error) {
	if _, compiled := info.GetOptions().AsMap()["compiler"]; compiled {
		return nil, nil, errors.New("the option compiler in Pulumi.yaml needs the language host of an installed Pulumi")
	}
	template, found, name, err := parse(info.GetProgramDirectory())
	if found.HasErrors() {
		return nil, nil, fmt.Errorf("reading %s: %s", name, texts(found))
	}
	if err != nil {
		return nil, nil, fmt.Errorf("reading %s: %w", name, err)
	}
	return template, slices.DeleteFunc(found, isDescription), nil
}

// parse reads the template in a directory, as pulumiyaml.LoadDir does, under a name that an editor can open.
func parse(dir string) (template *ast.TemplateDecl, found syntax.Diagnostics, name string, err error) {
	for _, file := range []string{pulumiyaml.MainTemplate + ".json", pulumiyaml.MainTemplate + ".yaml", "Pulumi.yaml"} {
		content, err := os.ReadFile(filepath.Join(dir, file))
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		name = shown(os.Getenv(rootVariable), filepath.Join(dir, file))
		if err != nil {
			return nil, nil, name, err
		}
		if template, found, err = pulumiyaml.LoadYAMLBytes(name, content); err != nil || found.HasErrors() {
			return nil, found, name, err
		}
		template.Sdks, err = packages.SearchPackageDecls(dir)
		return template, found, name, err
	}
	return nil, nil, "the template", fmt.Errorf("there is no Main.yaml, Main.json or Pulumi.yaml in %s", dir)
}

// rootVariable has the root of the repository, from which the runner names files. Plain Pulumi does not set it, and is in
// the directory of the project.
const rootVariable = "MARA_ROOT"

// shown returns the path of a file from root on, or its name if it is not below.
func shown(root, file string) string {
	path, err := filepath.Rel(root, file)
	if root == "" || err != nil || !filepath.IsLocal(path) {
		return filepath.Base(file)
	}
	return filepath.ToSlash(path)
}

// isDescription reports whether a diagnostic warns of the description of a configuration key. The runner asks for keys
// by their descriptions, which Pulumi YAML does not know.
func isDescription(d *syntax.Diagnostic) bool {
	return d.Severity == hcl.DiagWarning && strings.HasPrefix(d.Summary,
		"Field 'description' does not exist on Object 'config.")
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
	return fmt.Sprintf("%s:%d:%d: %s", d.Subject.Filename, d.Subject.Start.Line, d.Subject.Start.Column, line)
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
