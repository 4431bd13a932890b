// Package survey has what a cluster that is there already answers for configuration keys that are not set.
package survey

import (
	"context"
	"slices"

	"mara/config"
	"mara/projects"
	"mara/projects/model"
	"mara/projects/model/cloud"
	"mara/runner/internal/core/session"
)

// askTime bounds how long the questions to a cluster may take.
const askTime = 2 * cloud.Patience

// Ask asks the cluster of a provider. It returns nothing for clusters that projects make, and the error of a cluster
// that does not answer.
func Ask(
	ctx context.Context, clients cloud.Clients, p model.Provider, stack string, file config.StackFile,
	env map[string]string,
) ([]config.Answer, error) {
	if p.Existing == nil || clients == nil {
		return nil, nil
	}
	ctx, cancel := context.WithTimeout(ctx, askTime)
	defer cancel()
	access := cloud.AccessTo(p, env, func(key string) string { return file.Text(key).Text })
	client, err := clients(ctx, p.InfraType(), access)
	if err != nil {
		return nil, err
	}
	surveyor, ok := client.(cloud.Surveyor)
	if !ok {
		return nil, nil
	}
	found, err := surveyor.Survey(ctx, cloud.Question{Stack: stack, Projects: p.Projects(), Settings: p.Values(file)})
	return read(p, found.Answers), err
}

// read omits the answers that no project of the provider reads: mara.yaml may have it do without them.
func read(p model.Provider, found []config.Answer) []config.Answer {
	return slices.DeleteFunc(found, func(a config.Answer) bool { return !p.Reads(a.Key) })
}

// Simulated returns the answers of a simulated cluster.
func Simulated(p model.Provider) []config.Answer {
	if p.Existing == nil {
		return nil
	}
	const why = "it is simulated"
	return read(p, []config.Answer{
		{Key: projects.EntryKey, Value: projects.LoadBalancer, Why: why},
		{Key: projects.SmallKey, Value: false, Why: why},
		{Key: projects.DistributionKey, Value: "simulated", Why: why},
	})
}

// Answers returns what the cluster of an environment answers, or would answer if it is simulated. A cluster is asked for
// operations that run programs.
func Answers(ctx context.Context, s *session.Resolved, file config.StackFile) ([]config.Answer, error) {
	switch {
	case s.Options.Simulation.On:
		return Simulated(s.Provider), nil
	case s.Options.Operation.RunsPrograms():
		return Ask(ctx, s.Deps.CloudClients, s.Provider, s.Settings.Stack.Text, file, s.Env)
	}
	return nil, nil
}
