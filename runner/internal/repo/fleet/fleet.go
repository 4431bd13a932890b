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

	"mara/config"
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
	File     string // that describes it, else its stack file
}

// NewEnvironment returns an environment with its labels.
func NewEnvironment(stack, provider string, file config.StackFile, d config.Description) Environment {
	e := Environment{Stack: stack, Provider: provider, Labels: map[string]string{EnvironmentLabel: stack},
		File: cmp.Or(d.File, file.File)}
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
	names := make([]string, len(all))
	for i, e := range all {
		names[i] = e.Stack
	}
	return names
}

// labelNames returns the names of all labels in a fleet.
func labelNames(all []Environment) []string {
	known := map[string]bool{}
	for _, e := range all {
		for name := range e.Labels {
			known[name] = true
		}
	}
	return slices.Sorted(maps.Keys(known))
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

// Parse reads a selector of labels, such as stage=prod,region!=us-1. It refuses
// labels that no environment has.
func Parse(text string, all []Environment) (labels.Selector, error) {
	selector, err := labels.Parse(text)
	if err != nil {
		return nil, fmt.Errorf("%q does not select labels: %w", text, err)
	}
	requirements, _ := selector.Requirements()
	known := labelNames(all)
	for _, r := range requirements {
		if !slices.Contains(known, r.Key()) {
			return nil, fmt.Errorf("no environment has a label %q%s", r.Key(), config.DidYouMean(r.Key(), known))
		}
	}
	return selector, nil
}
