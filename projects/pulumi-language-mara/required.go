package main

import (
	"context"
	"os"
	"path/filepath"
	"slices"

	pulumirpc "github.com/pulumi/pulumi/sdk/v3/proto/go"
	"gopkg.in/yaml.v3"

	"mara/projects/model"
	"mara/projects/schemas"
	"mara/providers"
)

// GetRequiredPackages implements the language host: the plugins that Pulumi may
// download before it runs the program. The engines of a runner get none: it has
// looked for plugins itself, and simulated ones are nowhere to be found.
func (h *host) GetRequiredPackages(
	_ context.Context, request *pulumirpc.GetRequiredPackagesRequest,
) (*pulumirpc.GetRequiredPackagesResponse, error) {
	response := &pulumirpc.GetRequiredPackagesResponse{}
	if h.runner {
		return response, nil
	}
	versions := schemas.Versions()
	for _, name := range plugins(projectIn(request.GetInfo().GetRootDirectory())) {
		if version := versions[name]; version != "" { // the others cannot be downloaded
			response.Packages = append(response.Packages,
				&pulumirpc.PackageDependency{Name: name, Kind: "resource", Version: "v" + version})
		}
	}
	return response, nil
}

// projectIn returns the name of the project in a directory, or "".
func projectIn(dir string) string {
	var manifest struct {
		Name string `yaml:"name"`
	}
	content, err := os.ReadFile(filepath.Join(dir, "Pulumi.yaml"))
	if err != nil || yaml.Unmarshal(content, &manifest) != nil {
		return ""
	}
	return manifest.Name
}

// plugins returns the plugins that a project's program uses with every provider that has the
// project. Pulumi downloads the others when a program needs them.
func plugins(project string) []string {
	var common []string
	first := true
	for _, provider := range providers.All() {
		if !slices.ContainsFunc(provider.Steps, func(s model.Step) bool { return s.Project.Name == project }) {
			continue
		}
		used := provider.PluginsFor([]string{project})
		if first {
			common, first = used, false
		}
		common = slices.DeleteFunc(common, func(name string) bool { return !slices.Contains(used, name) })
	}
	return common
}
