package plan

import (
	"errors"
	"slices"
	"strings"

	"mara/projects/model"
)

// Selection says which steps of a plan run. An empty field selects everything;
// a step runs if no field is against it.
//
// Every text is a list of terms, separated by commas. A term is the name of a
// project, its title or its directory, or a pattern for one of them such as
// "ingress-*"; upper and lower case are the same. "+name" also means all that
// the project needs, "name+" all that needs it, however indirectly. That is
// about projects, not about the order of the run: it is the same for a destroy.
type Selection struct {
	Only  []string // nothing but these
	Skip  []string // not these, even if they are in Only
	From  []string // nothing that is listed before the first of these
	Until []string // nothing that is listed after the last of these
}

// SelectionError says what is wrong with one flag of a selection, or, without
// a flag, with all of it.
type SelectionError struct {
	Flag string
	Text string
}

// Error says what is wrong.
func (e *SelectionError) Error() string {
	if e.Flag == "" {
		return e.Text
	}
	return e.Flag + ": " + e.Text
}

// NextStep says where the names are.
func (e *SelectionError) NextStep() string { return "`runner plan` lists the projects" }

// Select removes what is not selected. Every term that means nothing is
// reported, and a selection that leaves nothing is refused.
func Select(p Plan, s Selection) (Plan, error) {
	m := newMatcher(p)
	only, skip := m.match("--only", s.Only), m.match("--skip", s.Skip)
	from, until := m.match("--from", s.From), m.match("--until", s.Until)
	if err := errors.Join(m.errs...); err != nil {
		return Plan{}, err
	}
	first := slices.IndexFunc(from, isMatch) // -1 without terms
	last := len(until) - 1
	for len(s.Until) > 0 && !isMatch(until[last]) {
		last--
	}
	reasons := map[string]string{}
	for i, step := range p.Steps {
		name := step.Project.Name
		switch {
		case isMatch(skip[i]):
			reasons[name] = "--skip " + skip[i]
		case len(s.Only) > 0 && !isMatch(only[i]):
			reasons[name] = "not in --only"
		case i < first:
			reasons[name] = "before --from " + strings.Join(s.From, ",")
		case i > last:
			reasons[name] = "after --until " + strings.Join(s.Until, ",")
		}
	}
	if len(reasons) == len(p.Steps) && len(reasons) > 0 {
		return Plan{}, &SelectionError{Text: "the selection skips every project"}
	}
	return p.Without(reasons), nil
}

func isMatch(term string) bool { return term != "" }

// Narrow reduces a provider to the needs of the selected projects. It returns the whole provider if the
// selection is wrong; another check reports that.
func Narrow(p model.Provider, selection Selection) model.Provider {
	selected, err := New(p)
	if err == nil {
		selected, err = Select(selected, selection)
	}
	if err != nil {
		return p
	}
	return p.Narrow(selected.Names())
}
