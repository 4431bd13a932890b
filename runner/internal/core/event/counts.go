package event

// Changes counts resources by what happened to them, or in a preview by what
// would happen.
type Changes struct {
	Create  int `json:"create"`
	Update  int `json:"update"`
	Replace int `json:"replace"`
	Delete  int `json:"delete"`
	Same    int `json:"same"`
	// NotReady counts those of the created, updated and replaced ones that did not become ready: their step has failed.
	NotReady int `json:"not_ready,omitempty"`
	// Outputs counts the outputs of stacks that differ. They are no resources.
	Outputs int `json:"outputs,omitempty"`
}

// Any reports whether anything differs from before: a resource or an output.
func (c Changes) Any() bool { return c.Create+c.Update+c.Replace+c.Delete+c.Outputs > 0 }

// Resources returns the counts of resources alone.
func (c Changes) Resources() Changes {
	c.Outputs = 0
	return c
}

// IsNew reports whether the stack has not existed before: everything in it is created.
func (c Changes) IsNew() bool { return c.Create > 0 && c.Total() == c.Create }

// Total returns the number of resources counted.
func (c Changes) Total() int { return c.Create + c.Update + c.Replace + c.Delete + c.Same }

// Plus returns the sum of both.
func (c Changes) Plus(d Changes) Changes {
	return Changes{
		Create:  c.Create + d.Create,
		Update:  c.Update + d.Update,
		Replace: c.Replace + d.Replace,
		Delete:  c.Delete + d.Delete,
		Same:    c.Same + d.Same,

		NotReady: c.NotReady + d.NotReady,
		Outputs:  c.Outputs + d.Outputs,
	}
}

// Count returns c with one more resource for the action. Reading, refreshing
// and importing change nothing that is counted.
func (c Changes) Count(a Action) Changes {
	switch a {
	case Create:
		c.Create++
	case Update:
		c.Update++
	case Replace:
		c.Replace++
	case Delete:
		c.Delete++
	case Same:
		c.Same++
	}
	return c
}

// Results counts steps by their result.
type Results struct {
	Succeeded int `json:"succeeded"`
	Failed    int `json:"failed"`
	Skipped   int `json:"skipped"`
	// Unchanged are those of the skipped ones for which nothing has changed.
	Unchanged int `json:"unchanged,omitempty"`
	Cancelled int `json:"cancelled"`
}

// Count returns r with one more step of the result.
func (r Results) Count(result Result) Results {
	switch result {
	case Succeeded:
		r.Succeeded++
	case Failed:
		r.Failed++
	case Skipped:
		r.Skipped++
	case Cancelled:
		r.Cancelled++
	}
	return r
}

// CountStep returns r with one more step: how it ended, and since which other
// run nothing has changed for it, "" if that is not why it was skipped. The end
// of a wave counts only where it has gone wrong, so that results of a fleet are
// those of its environments.
func (r Results) CountStep(name string, result Result, unchanged string) Results {
	if EndsWave(name) && result != Failed && result != Cancelled {
		return r
	}
	if unchanged != "" {
		r.Unchanged++
	}
	return r.Count(result)
}

// Outcome returns the result of a run with such steps. A cancelled step makes
// the run interrupted, whatever else happened.
func (r Results) Outcome() Result {
	switch {
	case r.Cancelled > 0:
		return Interrupted
	case r.Failed > 0:
		return Failed
	default:
		return Succeeded
	}
}
