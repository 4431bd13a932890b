package fleet

import (
	"cmp"
	"slices"
	"strings"

	"mara/config"
	"mara/projects/model"
	"mara/projects/model/needs"
	"mara/runner/internal/run/event"
	"mara/runner/internal/run/plan"
)

// PlanName stands where the plan of one environment names its provider.
const PlanName = "fleet"

// Plan is a rollout as a plan: its steps are environments. Each wave that others
// come after, or that has something to wait for, ends with a step of its own.
type Plan struct {
	plan.Plan
	Waves        map[string]Wave // by environment, and by the step that ends it
	Environments map[string]Environment
	inWave       map[string]int // how many of the chosen ones, by wave
}

// NewPlan orders environments by the waves of a rollout. Without order they do
// not wait for one another, as for a preview. It refuses environments that are
// in no wave.
func NewPlan(chosen []Environment, r Rollout, ordered bool) (Plan, error) {
	p := Plan{
		Plan: plan.Plan{Provider: PlanName}, Waves: map[string]Wave{}, Environments: map[string]Environment{},
		inWave: map[string]int{},
	}
	members := map[string][]Environment{}
	var errs []error
	for _, e := range chosen {
		w, err := r.WaveOf(e)
		errs = append(errs, err)
		p.Waves[e.Stack], p.Environments[e.Stack] = w, e
		members[w.Name] = append(members[w.Name], e)
	}
	if err := config.Join(errs...); err != nil {
		return Plan{}, err
	}
	if !ordered || len(r.Waves) == 0 {
		for _, e := range chosen {
			p.add(model.Project{Name: e.Stack, Title: cmp.Or(e.Provider, e.Stack)}, nil)
		}
		return p, nil
	}
	ends := map[string][]string{}
	for i, w := range r.Waves {
		ends[w.Name] = p.addWave(w, members[w.Name], ends, r.Waves[i+1:])
	}
	return p, nil
}

// addWave adds the environments of a wave, and the step that ends it. It returns
// what comes after the wave has to wait for: for a wave of which nothing was
// chosen, what that would have waited for.
func (p *Plan) addWave(w Wave, members []Environment, ends map[string][]string, later []Wave) []string {
	var after []string
	for _, name := range w.After {
		for _, end := range ends[name] {
			if !slices.Contains(after, end) {
				after = append(after, end)
			}
		}
	}
	if len(members) == 0 {
		return after
	}
	var names []string
	for _, e := range members {
		p.add(model.Project{Name: e.Stack, Title: "Wave " + w.Name}, after)
		names = append(names, e.Stack)
	}
	p.inWave[w.Name] = len(members)
	isAwaited := slices.ContainsFunc(later, func(other Wave) bool { return slices.Contains(other.After, w.Name) })
	if len(w.Gates) == 0 && w.Soak == 0 && !isAwaited {
		return names
	}
	end := event.WavePrefix + w.Name
	p.Waves[end] = w
	p.add(model.Project{Name: end, Title: "End of wave " + w.Name}, names)
	return []string{end}
}

func (p *Plan) add(project model.Project, after []string) {
	p.Steps = append(p.Steps, plan.Step{Project: project, Needs: needs.Needs{Reads: []string{}, After: after},
		Index: len(p.Steps)})
}

// Ends returns the wave that a step ends; ok is false if the step is an
// environment.
func (p Plan) Ends(step string) (w Wave, ok bool) {
	if !strings.HasPrefix(step, event.WavePrefix) {
		return Wave{}, false
	}
	w, ok = p.Waves[step]
	return w, ok
}

// IsEnvironment says of a step that it is an environment.
func IsEnvironment(step string) bool { return !strings.HasPrefix(step, event.WavePrefix) }

// Limit returns the wave of a step, and how many of its environments may be
// deployed at once; 0 is no limit.
func (p Plan) Limit(step plan.Step) (wave string, limit int) {
	w := p.Waves[step.Project.Name]
	if !IsEnvironment(step.Project.Name) {
		return "", 0
	}
	return w.Name, w.Parallel.Of(p.inWave[w.Name])
}

// Tolerance counts the failures that waves allow.
type Tolerance struct {
	plan   Plan
	failed map[string]int
}

// NewTolerance counts from nothing.
func (p Plan) NewTolerance() *Tolerance { return &Tolerance{plan: p, failed: map[string]int{}} }

// Allows counts a failure, and reports whether its wave goes on.
func (t *Tolerance) Allows(step string) bool {
	w := t.plan.Waves[step]
	if !IsEnvironment(step) {
		return false
	}
	t.failed[w.Name]++
	return t.failed[w.Name] <= w.MaxFailures.AtMost(t.plan.inWave[w.Name])
}
