package plan

import (
	"maps"
	"time"

	"mara/projects"
)

// Declared are estimates for a first deployment, for as long as no run tells
// better: what the projects usually take on a real cloud.
func Declared() Estimates {
	known := map[string]time.Duration{}
	for _, project := range projects.All() {
		known[project.Name] = project.Estimate
	}
	return Estimates{Known: known, Default: time.Minute}
}

// Or fills in what is not known from other estimates.
func (e Estimates) Or(other Estimates) Estimates {
	known := map[string]time.Duration{}
	maps.Copy(known, other.Known)
	maps.Copy(known, e.Known)
	return Estimates{Known: known, Default: other.Default}
}
