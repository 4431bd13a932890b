package wire

import (
	"context"

	"mara/projects/model/cloud"
	"mara/providers"
	"mara/runner/internal/core/guard"
	"mara/runner/internal/core/session"
	"mara/runner/internal/feature/clusterlife"
	"mara/runner/internal/feature/doctor"
	"mara/runner/internal/feature/kind/kindnodes"
	"mara/runner/internal/feature/mirror"
	"mara/runner/internal/feature/policy"
	"mara/runner/internal/feature/policy/bill"
	"mara/runner/internal/feature/simulate"
	"mara/runner/internal/feature/simulate/simulated"
	"mara/runner/internal/feature/survey"
)

// World returns what comes with the runner, and what its features do for the core. The packages are the clouds that
// can be simulated.
func World(packages func() []simulate.Package) session.World {
	return session.World{
		BuiltIn:  providers.Catalogue,
		Simulate: simulated.World(packages), Simulated: simulated.Resources,
		Check: doctor.Start, Accounts: doctor.Accounts, Explain: doctor.AllProblems, Answers: survey.Answers,
		Charts: charts, Nodes: kindnodes.Local{},
	}
}

// Guards returns what may refuse an operation, in the order in which it is asked.
func Guards() []guard.Maker {
	return []guard.Maker{clusterlife.Guard, bill.Guard, policy.Guard}
}

// charts fetches charts over the network.
func charts(env map[string]string, cache string) (session.FetchChart, func() error) {
	network := mirror.NewNetwork(cloud.Proxy(env), cache)
	fetch := func(ctx context.Context, repository, name, version string) ([]byte, error) {
		return network.Fetch(ctx, mirror.Chart{Repository: repository, Name: name, Version: version})
	}
	return fetch, network.Close
}
