// Package plan turns a provider's list of projects into a plan: the steps of a
// run in order, with what each of them waits for. It is pure: no files, no
// configuration, no Pulumi.
//
// The order is the contract: a run with one step at a time follows it exactly.
// The edges are what a parallel run obeys; they always point backwards in the
// order, so a plan has no cycles.
package plan

import (
	"fmt"
	"slices"
	"strings"

	"mara/config"
	"mara/config/lists"
	"mara/projects/model"
	"mara/projects/model/needs"
	"mara/runner/internal/machine/failure"
)

// Phase is the part of a plan that a step belongs to.
type Phase string

// The phases of the built-in plans, in order. Own projects may have others.
const (
	Infrastructure Phase = "infrastructure" // a cluster and a way to reach it
	Secrets        Phase = "secrets"        // the project secrets
	Kubernetes     Phase = "kubernetes"     // what needs the cluster, the registry and the application
)

// Step is one project in a plan.
type Step struct {
	Project model.Project
	Phase   Phase
	Index   int // position in the plan, from 0
	needs.Needs
	// Hooks are those of an up; in the plan of a destroy, those of a destroy.
	Hooks []model.Hook
	// Outside are the projects that it reads or waits for and that a selection
	// has skipped; none in a whole plan.
	Outside []string
}

// Plan is an ordered list of steps.
type Plan struct {
	Provider string
	Title    string // of the provider
	Heading  string // in place of one about a provider
	Steps    []Step
	Destroy  bool // the plan is reversed
	// Excluded are the steps that a selection skips.
	Excluded []Excluded
	// Estimates are how long the steps take, for those who look at the plan.
	Estimates Estimates
	// News is what is known of the steps since they ran, for pictures.
	News map[string]News
}

// New makes the plan of a provider. A name that is listed twice, and a project that
// is not listed behind all that it needs, are errors.
func New(p model.Provider) (Plan, error) {
	plan := Plan{Provider: p.Name, Title: p.Title}
	phases := phasesOf(p.Steps)
	for i, step := range p.Steps {
		plan.Steps = append(plan.Steps, Step{Project: step.Project, Phase: phases[i], Index: i, Needs: step.Needs,
			Hooks: plan.hooksOf(step.Project)})
	}
	if _, _, err := plan.Edges(); err != nil {
		return Plan{}, err
	}
	position := indexOf(plan.Steps)
	for i, step := range plan.Steps {
		plan.Steps[i].Needs = needs.Needs{Reads: sorted(step.Reads, position), After: sorted(step.After, position)}
	}
	return plan, nil
}

// Reverse returns the plan in destroy order: the last step comes first, and each step waits
// for all steps that needed it. Destroying reads no outputs, so all edges are order only.
func (p Plan) Reverse() Plan {
	reversed := Plan{Provider: p.Provider, Title: p.Title, Heading: p.Heading, Destroy: !p.Destroy, Estimates: p.Estimates}
	excluded := lists.Map(p.Excluded, func(e Excluded) Step { return e.Step })
	dependents, outside := dependentsOf(p.Steps), dependentsOf(excluded)
	for i, step := range slices.Backward(p.Steps) {
		reversed.Steps = append(reversed.Steps, Step{
			Project: step.Project,
			Phase:   step.Phase,
			Needs:   needs.Needs{After: dependents[step.Project.Name]},
			Index:   len(p.Steps) - 1 - i,
			Hooks:   reversed.hooksOf(step.Project),
			Outside: outside[step.Project.Name],
		})
	}
	for _, e := range slices.Backward(p.Excluded) {
		name := e.Step.Project.Name
		e.Step.Needs, e.Step.Outside = needs.Needs{After: dependents[name]}, outside[name]
		reversed.Excluded = append(reversed.Excluded, e)
	}
	return reversed
}

// phasesOf returns the phases of steps: the declared one, else by the place before or after
// the project secrets. Without that project they have none.
func phasesOf(steps []model.Step) []Phase {
	phases := make([]Phase, len(steps))
	secrets := slices.IndexFunc(steps, func(s model.Step) bool { return s.Project.Name == model.SecretsProject })
	for i, step := range steps {
		switch {
		case step.Phase != "":
			phases[i] = Phase(step.Phase)
		case secrets < 0:
		case i < secrets:
			phases[i] = Infrastructure
		case i == secrets:
			phases[i] = Secrets
		default:
			phases[i] = Kubernetes
		}
	}
	return phases
}

// hooksOf returns the hooks of a project for the plan's operation.
func (p Plan) hooksOf(project model.Project) []model.Hook {
	return slices.DeleteFunc(slices.Clone(project.Hooks), func(h model.Hook) bool { return !h.For(p.operation()) })
}

// Unordered returns the same plan without edges: all steps may run at once. What a step
// reads counts as outside of the plan.
func (p Plan) Unordered() Plan {
	steps := slices.Clone(p.Steps)
	for i, step := range steps {
		step.Outside = slices.Concat(step.Outside, step.All())
		step.Needs = needs.Needs{}
		steps[i] = step
	}
	p.Steps = steps
	return p
}

// dependentsOf maps each project to those of the steps that need it, the last
// one first.
func dependentsOf(steps []Step) map[string][]string {
	dependents := map[string][]string{}
	for _, step := range slices.Backward(steps) {
		for _, name := range slices.Concat(step.All(), step.Outside) {
			dependents[name] = append(dependents[name], step.Project.Name)
		}
	}
	return dependents
}

// Names lists the projects in plan order.
func (p Plan) Names() []string {
	return lists.Map(p.Steps, func(step Step) string { return step.Project.Name })
}

// Project finds a project by its name, title or directory.
func (p Plan) Project(word string) (model.Project, error) {
	found := model.Resolve(lists.Map(p.Steps, func(step Step) model.Project { return step.Project }), word)
	switch len(found) {
	case 0:
		return model.Project{}, &failure.Usage{
			Text: fmt.Sprintf("no project %q in the plan of %s%s", word, p.Provider, config.DidYouMean(word, p.words())),
			Next: "`runner plan` shows the projects",
		}
	case 1:
		step, _ := lists.Find(p.Steps, func(step Step) bool { return step.Project.Name == found[0] })
		return step.Project, nil
	}
	return model.Project{}, &failure.Usage{Text: fmt.Sprintf("%q may be %s; use a name", word,
		strings.Join(found, " or "))}
}

// ReadsSecrets reports whether programs of the plan read secrets: the project that hands them on, or one that has
// them in its configuration. An optional one counts if isSet says that it has a value.
func (p Plan) ReadsSecrets(isSet func(key string) bool) bool {
	return slices.ContainsFunc(p.Steps, func(s Step) bool {
		reads := func(secret model.Secret) bool { return secret.Own && (!secret.Optional || isSet(secret.Key)) }
		return s.Project.Name == model.SecretsProject || slices.ContainsFunc(s.Project.Secrets, reads)
	})
}

// indexOf maps the names of projects to the position of their steps.
func indexOf(steps []Step) map[string]int {
	index := make(map[string]int, len(steps))
	for i, step := range steps {
		index[step.Project.Name] = i
	}
	return index
}

// sorted returns the names in plan order, without duplicates.
func sorted(names []string, position map[string]int) []string {
	names = slices.Clone(names)
	slices.SortFunc(names, func(a, b string) int { return position[a] - position[b] })
	return slices.Compact(names)
}
