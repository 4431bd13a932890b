package plan

import "slices"

// Excluded is a skipped step of a plan.
type Excluded struct {
	Step   Step
	Reason string // "--skip logstore+"
	// NotWanted says that its own condition does not hold. What reads it does
	// without.
	NotWanted bool
}

// WithoutUnwanted skips the projects whose own condition does not hold, for
// these reasons.
func (p Plan) WithoutUnwanted(reasons map[string]string) Plan {
	rest := p.Without(reasons)
	for i, e := range rest.Excluded {
		_, unwanted := reasons[e.Step.Project.Name]
		rest.Excluded[i].NotWanted = e.NotWanted || unwanted
	}
	return rest
}

// Without skips the projects that have a reason. What remains keeps its
// order and its edges; where an edge led through a skipped step, the
// ends are joined, so that the rest still runs in the right order. Called on a
// plan that has exclusions already, it adds to them.
func (p Plan) Without(reasons map[string]string) Plan {
	if len(reasons) == 0 {
		return p
	}
	c := cut{position: indexOf(p.Steps), through: map[string][]string{}}
	rest := p
	rest.Steps, rest.Excluded = nil, slices.Clone(p.Excluded)
	for _, step := range p.Steps {
		name := step.Project.Name
		if reason, out := reasons[name]; out {
			c.through[name] = c.nearest(step.All())
			rest.Excluded = append(rest.Excluded, Excluded{Step: step, Reason: reason})
			continue
		}
		step = c.narrow(step)
		step.Index = len(rest.Steps)
		rest.Steps = append(rest.Steps, step)
	}
	return rest
}

// Limit skips everything but the named projects, all for one reason.
func (p Plan) Limit(names []string, reason string) Plan {
	reasons := map[string]string{}
	for _, name := range p.Names() {
		if !slices.Contains(names, name) {
			reasons[name] = reason
		}
	}
	return p.Without(reasons)
}

// cut is a plan while steps are taken out of it.
type cut struct {
	position map[string]int      // in the plan before
	through  map[string][]string // skipped -> the nearest projects before it that are not
}

// nearest replaces the skipped projects by the projects they wait for.
func (c cut) nearest(names []string) []string {
	var near []string
	for _, name := range names {
		if before, out := c.through[name]; out {
			near = append(near, before...)
		} else {
			near = append(near, name)
		}
	}
	return sorted(near, c.position)
}

// narrow removes the skipped projects from the edges of a step.
func (c cut) narrow(step Step) Step {
	all := step.All()
	if !slices.ContainsFunc(all, c.isOut) {
		return step
	}
	step.Outside = slices.Clone(step.Outside)
	for _, name := range all {
		if c.isOut(name) {
			step.Outside = append(step.Outside, name)
		}
	}
	reads := slices.DeleteFunc(slices.Clone(step.Reads), c.isOut)
	isRead := func(name string) bool { return slices.Contains(reads, name) }
	step.After = slices.DeleteFunc(c.nearest(all), isRead)
	step.Reads = reads
	return step
}

func (c cut) isOut(name string) bool {
	_, out := c.through[name]
	return out
}
