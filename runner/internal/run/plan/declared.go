package plan

import (
	"maps"
	"time"
)

// Declared returns estimates for a first deployment, before any run was measured: what the
// plan's projects usually take on a real cloud.
func (p Plan) Declared() Estimates {
	known := map[string]time.Duration{}
	for _, step := range p.Steps {
		if step.Project.Estimate > 0 {
			known[step.Project.Name] = step.Project.Estimate
		}
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
