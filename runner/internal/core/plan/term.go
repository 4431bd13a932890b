package plan

import (
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"

	"mara/config"
)

// matcher finds the steps that terms mean.
type matcher struct {
	plan       Plan
	needs      [][]int // by position: what the project needs, whatever the direction of the plan
	dependents [][]int // by position: what needs the project
	errs       []error
}

func newMatcher(p Plan) *matcher {
	m := &matcher{plan: p}
	m.needs, m.dependents, _ = p.Edges() // a plan is whole
	if p.Destroy {
		m.needs, m.dependents = m.dependents, m.needs
	}
	return m
}

// Edges returns the needs and the dependents of every step, by position. It refuses cycles
// and other mistakes, which would leave steps that never start; a plan of New has none.
func (p Plan) Edges() (needs, dependents [][]int, err error) {
	needs, dependents = make([][]int, len(p.Steps)), make([][]int, len(p.Steps))
	position := make(map[string]int, len(p.Steps))
	for i, step := range p.Steps {
		if _, twice := position[step.Project.Name]; twice {
			return nil, nil, fmt.Errorf("plan: project %q is listed twice", step.Project.Name)
		}
		for _, name := range step.All() {
			need, ok := position[name]
			if !ok {
				return nil, nil, fmt.Errorf("plan: project %q needs %q, which is not listed before it", step.Project.Name, name)
			}
			needs[i] = append(needs[i], need)
			dependents[need] = append(dependents[need], i)
		}
		position[step.Project.Name] = i
	}
	return needs, dependents, nil
}

// match returns for every step the first term that means it, "" for none.
func (m *matcher) match(flag string, values []string) []string {
	matched := make([]string, len(m.plan.Steps))
	for _, value := range values {
		terms := splitTerms(value)
		if len(terms) == 0 {
			m.errs = append(m.errs, &SelectionError{Flag: flag, Text: "no project is named"})
		}
		for _, text := range terms {
			positions, err := m.positions(text)
			if err != nil {
				m.errs = append(m.errs, &SelectionError{Flag: flag, Text: err.Error()})
			}
			for _, i := range positions {
				if matched[i] == "" {
					matched[i] = text
				}
			}
		}
	}
	return matched
}

// Match lists the projects that a term means, as in a Selection. The flag is
// what an error names.
func (p Plan) Match(flag, term string) ([]string, error) {
	m := newMatcher(p)
	matched := m.match(flag, []string{term})
	if err := errors.Join(m.errs...); err != nil {
		return nil, err
	}
	var names []string
	for i, step := range p.Steps {
		if isMatch(matched[i]) {
			names = append(names, step.Project.Name)
		}
	}
	return names, nil
}

// splitTerms splits a list at its commas and drops empty terms.
func splitTerms(value string) []string {
	var terms []string
	for term := range strings.SplitSeq(value, ",") {
		if term = strings.TrimSpace(term); term != "" {
			terms = append(terms, term)
		}
	}
	return terms
}

// positions returns the steps of one term.
func (m *matcher) positions(text string) ([]int, error) {
	name, before := strings.CutPrefix(text, "+")
	name, after := strings.CutSuffix(name, "+")
	if name == "" {
		return nil, fmt.Errorf("%q names no project", text)
	}
	named, err := m.named(name)
	if err != nil {
		return nil, err
	}
	all := slices.Clone(named)
	if before {
		all = append(all, reach(named, m.needs)...)
	}
	if after {
		all = append(all, reach(named, m.dependents)...)
	}
	return all, nil
}

// named returns the steps that match a name or a pattern, without dependencies.
func (m *matcher) named(name string) ([]int, error) {
	pattern := strings.ToLower(name)
	if _, err := path.Match(pattern, ""); err != nil {
		return nil, fmt.Errorf("%q is not a pattern: %w", name, err)
	}
	var found []int
	for i, step := range m.plan.Steps {
		if step.goesBy(pattern) {
			found = append(found, i)
		}
	}
	switch {
	case len(found) > 0:
		return found, nil
	case strings.ContainsAny(name, `*?[`):
		return nil, fmt.Errorf("no project in the plan matches %q", name)
	}
	return nil, fmt.Errorf("no project %q in the plan%s", name, config.DidYouMean(name, m.plan.words()))
}

// goesBy reports whether a pattern in lower case means the step.
func (s Step) goesBy(pattern string) bool {
	return slices.ContainsFunc(s.words(), func(word string) bool {
		word = strings.ToLower(word)
		matched, _ := path.Match(pattern, word)
		return matched || word == pattern
	})
}

// words returns the names by which a step can be selected.
func (s Step) words() []string { return []string{s.Project.Name, s.Project.Title, s.Project.Path} }

// words returns the names of all projects, then their titles and paths.
func (p Plan) words() []string {
	words := p.Names()
	for _, step := range p.Steps {
		words = append(words, step.words()[1:]...)
	}
	return words
}

// reach returns where the edges lead from some steps, however far away.
func reach(from []int, edges [][]int) []int {
	seen := map[int]bool{}
	var reached []int
	for queue := slices.Clone(from); len(queue) > 0; queue = queue[1:] {
		for _, next := range edges[queue[0]] {
			if !seen[next] {
				seen[next] = true
				reached = append(reached, next)
				queue = append(queue, next)
			}
		}
	}
	return reached
}
