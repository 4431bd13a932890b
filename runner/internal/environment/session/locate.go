package session

import (
	"context"
	"slices"
	"strings"

	"mara/providers/cloud"
	"mara/runner/internal/simulation/simulate"
)

// locator returns how to ask the environment's cloud for resources by their names;
// nil where it cannot be asked.
func locator(s *Session) func(ctx context.Context, types []string) (cloud.Located, error) {
	if s.Options.Simulation.On {
		return func(context.Context, []string) (cloud.Located, error) { return locateSimulated(s) }
	}
	if s.Deps.CloudClients == nil {
		return nil
	}
	return func(ctx context.Context, types []string) (cloud.Located, error) { return locate(ctx, s, types) }
}

// locate asks the cloud, if it could have one of the types.
func locate(ctx context.Context, s *Session, types []string) (cloud.Located, error) {
	if !slices.ContainsFunc(types, func(name string) bool { return strings.HasPrefix(name, s.Provider.Name+":") }) {
		return cloud.Located{}, nil
	}
	access := cloud.AccessTo(s.Provider, s.Env, func(key string) string { return s.Settings.Config.Text(key).Text })
	client, err := s.Deps.CloudClients(ctx, s.Provider.Name, access)
	if err != nil {
		return cloud.Located{}, err
	}
	locator, ok := client.(cloud.Locator)
	if !ok {
		return cloud.Located{}, nil
	}
	ctx, cancel := context.WithTimeout(ctx, 2*cloud.Patience)
	defer cancel()
	return locator.Locate(ctx, s.Settings.Stack.Text)
}

// locateSimulated reads what exists in the simulated clouds.
func locateSimulated(s *Session) (cloud.Located, error) {
	located := cloud.Located{Every: true}
	records, err := simulate.ReadRecords(s.Directory.Clouds(s.Settings.Stack.Text))
	for _, r := range records {
		located.Resources = append(located.Resources, cloud.Resource{Type: r.Token, ID: r.ID, Name: r.ID, URN: r.URN})
	}
	return located, err
}
