package plan

import (
	"cmp"
	"maps"
	"slices"
	"time"
)

// Estimates say how long steps take.
type Estimates struct {
	Known   map[string]time.Duration // by project: from earlier runs, else declared
	Default time.Duration            // for all others
}

// Of returns the estimate for a project.
func (e Estimates) Of(project string) time.Duration {
	if known, ok := e.Known[project]; ok {
		return max(known, 0)
	}
	return max(e.Default, 0)
}

// known returns how long some projects take together, or 0 where there is no estimate for one of them: the default is
// good enough to decide what starts first, not to be shown.
func (e Estimates) known(projects ...string) (total time.Duration) {
	for _, name := range projects {
		if e.Known[name] <= 0 {
			return 0
		}
		total += e.Known[name]
	}
	return total
}

// Path is a chain of steps, each of which waits for the one before.
type Path struct {
	Projects []string
	Total    time.Duration
}

// Remaining returns for every step how long the run takes from its start on at
// the least: its own time and that of the longest chain of steps that wait for
// it.
func (p Plan) Remaining(e Estimates) []time.Duration {
	needs, _, _ := p.Edges()
	remaining := make([]time.Duration, len(p.Steps))
	for i := len(p.Steps) - 1; i >= 0; i-- {
		remaining[i] += e.Of(p.Steps[i].Project.Name) // on top of the longest of what waits for it
		for _, need := range needs[i] {
			remaining[need] = max(remaining[need], remaining[i])
		}
	}
	return remaining
}

// CriticalPath returns the chain of steps that takes longest. No run is faster than
// its total, however many steps run at once.
func (p Plan) CriticalPath(e Estimates) Path {
	if len(p.Steps) == 0 {
		return Path{}
	}
	_, dependents, _ := p.Edges()
	remaining := p.Remaining(e)
	next := make([]int, len(p.Steps))
	for i := range next {
		next[i] = i
	}
	path := Path{}
	for len(next) > 0 {
		at := slices.MaxFunc(next, func(a, b int) int { return cmp.Compare(remaining[a], remaining[b]) })
		path.Projects = append(path.Projects, p.Steps[at].Project.Name)
		path.Total += e.Of(p.Steps[at].Project.Name)
		next = dependents[at]
	}
	return path
}

// Levels groups the projects by how many others have to run one after another
// before them: those of a level need nothing but earlier levels.
func (p Plan) Levels() [][]string {
	var levels [][]string
	for i, level := range p.levels() {
		if level > len(levels) {
			levels = append(levels, nil)
		}
		levels[level-1] = append(levels[level-1], p.Steps[i].Project.Name)
	}
	return levels
}

// levels returns the level of every step, from 1.
func (p Plan) levels() []int {
	needs, _, _ := p.Edges()
	levels := make([]int, len(p.Steps))
	for i := range levels {
		levels[i] = 1
		for _, need := range needs[i] {
			levels[i] = max(levels[i], levels[need]+1)
		}
	}
	return levels
}

// Width returns the size of the largest level: at least as many projects can run at once.
func (p Plan) Width() int {
	width := 0
	for _, level := range p.Levels() {
		width = max(width, len(level))
	}
	return width
}

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
