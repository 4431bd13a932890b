package session

import (
	"os"
	"path/filepath"
	"slices"

	"mara/providers"
)

// findPlugins finds the resource providers that come with the runner, by name:
// Pulumi can neither download them nor guess where they are. One that is not
// there may be on the PATH, where Pulumi looks by itself; that it is nowhere is
// a matter of the preflight checks. Simulated clouds do without.
func findPlugins(provider providers.Provider, folders []string) map[string]string {
	found := map[string]string{}
	for _, name := range provider.BundledPlugins {
		for _, folder := range slices.Backward(folders) { // the first has the last word
			if info, err := os.Stat(filepath.Join(folder, "pulumi-resource-"+name)); err == nil && info.Mode().IsRegular() {
				found[name] = folder
			}
		}
	}
	return found
}
