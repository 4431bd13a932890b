package cli

import (
	"path/filepath"

	"mara/providers"
	"mara/runner/internal/plan"
	"mara/runner/internal/preflight"
)

// machineChecks are those that look at this machine and at clouds, for a
// provider's operation on the projects of a plan.
func machineChecks(d Deps, provider providers.Provider, p plan.Plan, facts preflight.Facts) []preflight.Check {
	if provider.Name == "" {
		return nil
	}
	return append(
		[]preflight.Check{preflight.Plugins(pluginOptions(d, provider, facts))},
		preflight.ForProvider(provider, p.Names(), facts)...,
	)
}

func pluginOptions(d Deps, provider providers.Provider, facts preflight.Facts) preflight.PluginOptions {
	o := preflight.PluginOptions{Env: facts.Env}
	versions := map[string]string{}
	if d.Plugins != nil {
		versions = d.Plugins()
	}
	for _, name := range provider.Plugins {
		o.Wanted = append(o.Wanted, preflight.Plugin{Name: name, Version: versions[name]})
	}
	if len(d.Engines) > 0 {
		o.Beside = filepath.Dir(d.Engines[0])
	}
	return o
}
