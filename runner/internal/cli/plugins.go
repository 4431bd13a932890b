package cli

import (
	"maps"
	"os"
	"path/filepath"
	"slices"
)

// findPlugins finds the resource providers that come with the runner, by name:
// Pulumi can neither download them nor guess where they are. One that is not
// there may be on the PATH, where Pulumi looks by itself; that it is nowhere is
// a matter of the preflight checks. Simulated clouds do without.
func (s *session) findPlugins(d Deps, simulated bool) {
	s.plugins = map[string]string{}
	if simulated {
		return
	}
	for _, name := range s.provider.Shipped {
		for _, folder := range slices.Backward(d.PluginFolders) { // the first has the last word
			if info, err := os.Stat(filepath.Join(folder, "pulumi-resource-"+name)); err == nil && info.Mode().IsRegular() {
				s.plugins[name] = folder
			}
		}
	}
}

// pluginList is how a Pulumi.yaml lists resource providers.
func pluginList(plugins map[string]string) []map[string]string {
	list := []map[string]string{}
	for _, name := range slices.Sorted(maps.Keys(plugins)) {
		list = append(list, map[string]string{"name": name, "path": plugins[name]})
	}
	return list
}
