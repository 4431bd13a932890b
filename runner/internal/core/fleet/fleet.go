// Package fleet knows the environments of one root as a whole: which there are,
// with their labels, how labels choose among them, and the waves of
// config/rollout.yaml in which a change reaches them. It is pure but for reading
// that file.
package fleet

import (
	"cmp"
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/selection"

	"mara/config"
	"mara/config/lists"
	"mara/projects/model"
	"mara/projects/model/needs"
	"mara/runner/internal/core/event"
	"mara/runner/internal/core/plan"
	"mara/runner/internal/machine/failure"
)

// Labels that every environment has, unless it sets them itself.
const (
	EnvironmentLabel = "environment" // its name
	ProviderLabel    = "provider"
)

// Environment is one environment of a fleet.
type Environment struct {
	Stack    string
	Provider string // "" if it is not named
	Labels   map[string]string
	File     string   // that describes it, else its stack file, else another one that names it
	Backend  string   // that its description names; "" for that of all environments
	Layers   []string // files that its description imports, directly or not
}

// NewEnvironment returns an environment with its labels.
func NewEnvironment(stack, provider string, file config.StackFile, d config.Description) Environment {
	e := Environment{Stack: stack, Provider: provider, Labels: map[string]string{EnvironmentLabel: stack}, File: d.File,
		Backend: d.Backend.Text, Layers: d.Layers}
	if e.File == "" && file.Exists {
		e.File = file.File
	}
	if provider != "" {
		e.Labels[ProviderLabel] = provider
	}
	for name, value := range d.Labels {
		e.Labels[name] = value.Text
	}
	return e
}

// Own returns the labels that the environment sets itself.
func (e Environment) Own() map[string]string {
	own := maps.Clone(e.Labels)
	maps.DeleteFunc(own, func(name, value string) bool {
		return name == EnvironmentLabel && value == e.Stack || name == ProviderLabel && value == e.Provider
	})
	return own
}

// Names returns the names of environments.
func Names(all []Environment) []string {
	return lists.Map(all, func(e Environment) string { return e.Stack })
}

// labelNames returns the names of all labels in a fleet.
func labelNames(all []Environment) []string {
	return lists.Keys(lists.Map(all, func(e Environment) map[string]string { return e.Labels })...)
}

// Selection chooses environments. What is set has to hold all together.
type Selection struct {
	Names  []string // or patterns, as of files; any of them
	Labels string   // as kubectl takes them
	All    bool
}

// IsEmpty says that nothing was chosen.
func (s Selection) IsEmpty() bool { return len(s.Names) == 0 && s.Labels == "" && !s.All }

// Words returns the selection as it was given.
func (s Selection) Words() []string {
	words := slices.Clone(s.Names)
	if s.Labels != "" {
		words = append(words, "-l "+s.Labels)
	}
	if s.All {
		words = append(words, "--all")
	}
	return words
}

// Select chooses environments; nothing at all chooses every one. A name or a
// label that there is not is an error, never an empty choice, and so is that there are
// no environments at all.
func Select(all []Environment, s Selection) ([]Environment, error) {
	if len(all) == 0 {
		return nil, &failure.Environment{Text: "there are no environments here", Next: "describe the first one in " +
			config.DescriptionPath("NAME")}
	}
	selector, err := Parse(s.Labels, all)
	if err != nil {
		return nil, &failure.Usage{Text: "-l: " + err.Error(), Next: "`runner fleet list` shows the labels"}
	}
	for _, name := range s.Names {
		if !slices.ContainsFunc(all, func(e Environment) bool { return matches(name, e.Stack) }) {
			return nil, &failure.Usage{
				Text: fmt.Sprintf("no environment %q%s", name, config.DidYouMean(name, Names(all))),
				Next: "`runner fleet list` shows those there are",
			}
		}
	}
	chosen := slices.DeleteFunc(slices.Clone(all), func(e Environment) bool {
		named := len(s.Names) == 0 || slices.ContainsFunc(s.Names, func(name string) bool { return matches(name, e.Stack) })
		return !named || !selector.Matches(labels.Set(e.Labels))
	})
	if len(chosen) == 0 {
		return nil, &failure.Usage{Text: "no environment is chosen by " + strings.Join(s.Words(), " "),
			Next: "`runner fleet list` shows those there are"}
	}
	return chosen, nil
}

func matches(pattern, name string) bool {
	matched, err := path.Match(pattern, name)
	return err == nil && matched || pattern == name
}

// Parse reads a selector of labels, such as stage=prod,region!=us-1. It refuses labels that no environment has, where
// they are asked for, or look like a misspelled one.
func Parse(text string, all []Environment) (labels.Selector, error) {
	selector, err := labels.Parse(text)
	if err != nil {
		return nil, fmt.Errorf("%q does not select labels: %w", text, err)
	}
	requirements, _ := selector.Requirements()
	known := labelNames(all)
	for _, r := range requirements {
		excludes := []selection.Operator{selection.DoesNotExist, selection.NotIn, selection.NotEquals}
		if isMeant := slices.Contains(excludes, r.Operator()) && config.Suggest(r.Key(), known) == ""; isMeant {
			continue
		}
		if !slices.Contains(known, r.Key()) {
			return nil, fmt.Errorf("no environment has a label %q%s", r.Key(), config.DidYouMean(r.Key(), known))
		}
	}
	return selector, nil
}

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
	for _, e := range members {
		p.add(model.Project{Name: e.Stack, Title: "Wave " + w.Name}, after)
	}
	names := Names(members)
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
	if !event.EndsWave(step) {
		return Wave{}, false
	}
	w, ok = p.Waves[step]
	return w, ok
}

// Limit returns the wave of a step, and how many of its environments may be
// deployed at once; 0 is no limit.
func (p Plan) Limit(step plan.Step) (wave string, limit int) {
	if event.EndsWave(step.Project.Name) {
		return "", 0
	}
	w := p.Waves[step.Project.Name]
	return w.Name, w.Parallel.Of(p.inWave[w.Name])
}

// Tolerance returns a function that counts failures of steps, and reports for each whether its wave continues.
func (p Plan) Tolerance() func(step string) bool {
	failed := map[string]int{}
	return func(step string) bool {
		if event.EndsWave(step) {
			return false
		}
		w := p.Waves[step]
		failed[w.Name]++
		return failed[w.Name] <= w.MaxFailures.AtMost(p.inWave[w.Name])
	}
}
