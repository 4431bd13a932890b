package firstrun

import (
	"context"
	"slices"

	"mara/config"
	"mara/runner/internal/machine/prompt"
)

// chooseProvider finds the provider, or asks for it. It is written to the stack file if it was asked for, or if the
// environment is new.
func (f *firstRun) chooseProvider(ctx context.Context) (asked bool, err error) {
	f.o.Provider, f.o.Catalogue, f.with = f.given.Provider, f.given.Catalogue, nil
	f.named, f.values = nil, nil
	named := f.o.Provider // overrides the stack file while nothing is deployed
	if !named.IsSet() || !f.o.ChangeProvider {
		if named, err = config.ResolveProvider(f.o.Provider, f.o.Sources, f.file); err != nil {
			return false, err
		}
	}
	named, err = f.o.RememberedProvider(f.o.Directory(), stackName(f.o.Request), named)
	if err != nil {
		return false, err
	}
	if asked = !named.IsSet(); asked {
		if named, err = f.askProvider(ctx); err != nil {
			return true, err
		}
		f.o.Provider = named
	}
	if f.provider, err = f.o.ProviderOf(named); err != nil {
		return asked, err
	}
	_, written := f.file.Lookup(config.InfraType)
	if written || !asked && !f.writesProvider() || f.o.Known().Default() != "" { // the only provider needs no name
		return asked, nil
	}
	f.named = []config.Change{{Key: config.InfraType, Value: f.provider.Name}}
	return asked, nil
}

// writesProvider reports whether a provider that was named is written: about a new environment, but not because of a
// simulation, which asks nothing then.
func (f *firstRun) writesProvider() bool {
	return f.isNew() && (!f.o.Simulation.On || f.newRoot || f.earlier)
}

func (f *firstRun) askProvider(ctx context.Context) (config.Value, error) {
	known := f.o.Known()
	if len(known.Providers) == 0 {
		_, err := f.o.ProviderOf(config.Value{})
		return config.Value{}, err
	}
	choice := prompt.Choice{
		Question: prompt.Question{
			Text: "Provider of the cluster and the registry", Default: known.Names()[0], Back: f.earlier,
		},
	}
	if slices.Contains(known.Names(), "kind") {
		choice.Default = "kind" // it costs nothing
	}
	for _, p := range known.Providers {
		choice.Options = append(choice.Options, prompt.Option{Value: p.Name, Note: p.Title})
	}
	name, err := f.terminal.Choose(ctx, choice)
	return fromFlag("--provider", name), err
}
