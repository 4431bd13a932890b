// Package worldtest gives tests what main gives the core, with nothing of the network.
package worldtest

import (
	"mara/providers"
	"mara/runner/internal/core/session"
	"mara/runner/internal/feature/doctor"
	"mara/runner/internal/feature/simulate"
	"mara/runner/internal/feature/simulate/simulated"
	"mara/runner/internal/feature/survey"
)

// World returns a world that simulates no packages but those of own projects, and fetches no charts.
func World() session.World {
	return session.World{
		BuiltIn:  providers.Catalogue,
		Simulate: simulated.World(func() []simulate.Package { return nil }), Simulated: simulated.Resources,
		Check: doctor.Start, Explain: doctor.AllProblems, Answers: survey.Answers,
	}
}
