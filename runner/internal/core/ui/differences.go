package ui

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	"mara/config/lists"
	"mara/projects/model/operation"
	"mara/runner/internal/core/event"
	"mara/runner/internal/machine/typeset"
)

// List is how much a preview lists of what it would do.
type List int

// The lists.
const (
	Short List = iota // what fits a screen, with all losses
	All               // all resources with all values, of which long ones are cut
	Full              // with long values and texts in full, as far as events have them
)

// What Short has of what would change, and of what would be created.
const (
	mostChanges = 20 // lines of resources
	mostValues  = 6  // of each
	mostNew     = 10 // new resources that are listed each; more are counted by type
	leastEqual  = 3  // resources of one project with equal changes that share a line
)

// longest is how many characters of a value a line shows.
func (l List) longest() int {
	if l == Full {
		return math.MaxInt
	}
	return event.LongestValue
}

// Differences renders what a look for drift has found, or what a preview would change.
func Differences(s *event.Summary, o Options) string {
	return ending{summary: s, paint: palette{on: o.Colour}, width: o.Width, list: o.List}.differences()
}

// differences lists what a look for drift has found, or what a preview would change: first what would be lost, by name
// and with the reason, then the changed values, then what is new, then outputs.
func (e ending) differences() string {
	if e.summary.Operation != operation.Preview {
		return e.byProject(func(s event.Step) []string {
			return append(e.resources(apart(s.Differences), true), e.outputLines(s)...)
		})
	}
	lost := e.section(lostHeading, event.Difference.IsLoss, true)
	changed := e.section("Would change", func(d event.Difference) bool { return d.Action == event.Update && !d.Vague }, e.list != Short)
	if e.list != Short {
		changed += e.section("May change, with values that are not known yet", isVague, true)
	} else {
		changed += e.counted("May change, with values that are not known yet", isVague)
	}
	return lost + changed + e.created() + e.byProject(e.outputLines)
}

// lostHeading begins what would be lost.
const lostHeading = "Would be lost"

// only returns the differences of one kind.
func only(differences []event.Difference, chosen func(event.Difference) bool) []event.Difference {
	return slices.DeleteFunc(slices.Clone(differences), func(d event.Difference) bool { return !chosen(d) })
}

func isNew(d event.Difference) bool { return d.Action == event.Create }

// created lists new resources: each, if they are few or all are asked for, and else by type.
func (e ending) created() string {
	const heading = "Would be created"
	number := 0
	for _, s := range e.summary.Steps {
		number += len(only(s.Differences, isNew))
	}
	if e.list != Short || number <= mostNew {
		return e.section(heading, isNew, true)
	}
	var b strings.Builder
	shown, projects := 0, 0
	for _, s := range e.summary.Steps {
		created := only(s.Differences, isNew)
		if len(created) == 0 {
			continue
		}
		if projects++; projects <= mostChanges {
			shown += len(created)
			text := fmt.Sprintf("  %s %d: %s", s.Name, len(created), strings.Join(ByType(created), ", "))
			b.WriteString(typeset.Wrap(text, e.width, 6) + "\n")
		}
	}
	if shown < number {
		fmt.Fprintf(&b, "  and %s more in %s; --diff lists all\n", typeset.Counted(number-shown, "resource"),
			typeset.Counted(projects-mostChanges, "project"))
	}
	title := fmt.Sprintf("%s: %s in %s", heading, typeset.Counted(number, "resource"), typeset.Counted(projects, "project"))
	if e.summary.Changes.Create > number {
		title += ", not counting stacks and providers"
	}
	return "\n" + e.paint.bold(title) + "\n" + b.String()
}

// ByType counts resources by the last part of their type, the most frequent first; single ones have their name.
func ByType(resources []event.Difference) []string {
	names := map[string][]string{}
	data := map[string]bool{}
	for _, d := range resources {
		kind := d.Resource.Type[strings.LastIndexByte(d.Resource.Type, ':')+1:]
		names[kind] = append(names[kind], d.Resource.Name)
		data[kind] = data[kind] || d.Stateful
	}
	kinds := slices.SortedFunc(maps.Keys(names), func(a, b string) int {
		return cmp.Or(len(names[b])-len(names[a]), cmp.Compare(a, b))
	})
	return lists.Map(kinds, func(kind string) string {
		text := kind + " " + names[kind][0]
		if n := len(names[kind]); n > 1 {
			text = fmt.Sprintf("%d %s", n, kind)
		}
		if data[kind] {
			text += " (holds data)"
		}
		return text
	})
}

func isVague(d event.Difference) bool { return d.Action == event.Update && d.Vague }

// counted renders how many differences of one kind each project has, in one line.
func (e ending) counted(heading string, chosen func(event.Difference) bool) string {
	var projects []string
	number := 0
	for _, s := range e.summary.Steps {
		own := 0
		for _, d := range s.Differences {
			if chosen(d) {
				own++
			}
		}
		if own > 0 {
			projects = append(projects, fmt.Sprintf("%s %d", s.Name, own))
			number += own
		}
	}
	if number == 0 {
		return ""
	}
	return "\n" + e.paint.bold(fmt.Sprintf("%s: %s", heading, typeset.Counted(number, "resource"))) + "\n" +
		typeset.Wrap("  "+strings.Join(projects, ", "), e.width, 2) + "\n"
}

// byProject renders lines of each project below its title.
func (e ending) byProject(lines func(event.Step) []string) string {
	var b strings.Builder
	for _, s := range e.summary.Steps {
		own := lines(s)
		if len(own) == 0 {
			continue
		}
		b.WriteString("\n" + e.paint.bold(typeset.Wrap(s.Title+" ("+s.Name+")", e.width, 2)) + "\n")
		for _, line := range own {
			b.WriteString(typeset.Wrap(line, e.width, 6) + "\n")
		}
	}
	return b.String()
}

// section renders the differences of one kind of all projects below a heading; all of them, or a screenful.
func (e ending) section(heading string, chosen func(event.Difference) bool, all bool) string {
	var b strings.Builder
	number, projects := 0, 0
	lines, shownOf := 0, 0
	for _, s := range e.summary.Steps {
		own := only(s.Differences, chosen)
		if len(own) == 0 {
			continue
		}
		number += len(own)
		projects++
		shown := apart(own)
		if !all {
			shown = equal(own)
			shown = shown[:min(len(shown), mostChanges-lines)]
		}
		lines += len(shown)
		for _, c := range shown {
			shownOf += 1 + len(c.others)
		}
		if len(shown) > 0 {
			b.WriteString("  " + e.paint.bold(typeset.Wrap(s.Title+" ("+s.Name+")", e.width, 4)) + "\n")
		}
		for _, line := range e.resources(shown, all) {
			b.WriteString(typeset.Wrap("  "+line, e.width, 10) + "\n")
		}
	}
	if number == 0 {
		return ""
	}
	if more := number - shownOf; more > 0 {
		fmt.Fprintf(&b, "  and %s more; --diff lists all\n", typeset.Counted(more, "resource"))
	}
	heading = fmt.Sprintf("%s: %s in %s", heading, typeset.Counted(number, "resource"), typeset.Counted(projects, "project"))
	return "\n" + e.paint.bold(heading) + "\n" + b.String()
}

// changed is a resource that differs, and the others of its project that differ in the same way.
type changed struct {
	event.Difference
	others []event.Difference
}

// apart lists each resource by itself.
func apart(differences []event.Difference) []changed {
	return lists.Map(differences, func(d event.Difference) changed { return changed{d, nil} })
}

// equal joins resources of one type with equal changes, if they are several.
func equal(differences []event.Difference) []changed {
	alike := map[string][]event.Difference{}
	key := func(d event.Difference) string {
		return fmt.Sprint(d.Action, d.Resource.Type, d.Properties, lists.Map(d.Values, func(c event.ValueChange) string {
			return c.Text(math.MaxInt) + fmt.Sprint(c.Line, c.Replaces)
		}))
	}
	for _, d := range differences {
		alike[key(d)] = append(alike[key(d)], d)
	}
	var joined []changed
	for _, d := range differences {
		group := alike[key(d)]
		if len(group) < leastEqual || len(d.Values) == 0 {
			joined = append(joined, changed{d, nil})
		} else if group[0].Resource == d.Resource {
			joined = append(joined, changed{d, group[1:]})
		}
	}
	return joined
}

// resources renders resources that differ, each with its values: all of them, or the first.
func (e ending) resources(differences []changed, all bool) []string {
	var lines []string
	for _, d := range differences {
		lines = append(lines, "  "+difference(e.summary.Operation, d))
		for i, value := range d.Values {
			if !all && i == mostValues {
				lines = append(lines, "      and "+typeset.Counted(len(d.Values)-i, "value")+" more; --diff lists all")
				break
			}
			lines = append(lines, e.valueLines(value)...)
		}
	}
	return lines
}

// outputLines lists the outputs of a project that change. All those of a new stack
// are new: they are named if a preview lists everything, and else only counted.
func (e ending) outputLines(s event.Step) []string {
	switch {
	case len(s.Outputs) == 0 || s.Changes.IsNew() && e.list == Short:
		return nil
	case s.Changes.IsNew():
		names := lists.Map(s.Outputs, func(c event.OutputChange) string { return c.Name })
		return []string{"  new outputs: " + strings.Join(names, ", ")}
	}
	lines := lists.Map(s.Outputs, func(c event.OutputChange) string { return "    " + c.Text(e.list.longest()) })
	return append([]string{"  Outputs:"}, lines...)
}

// difference says what happens to a resource, or what has become of it. Properties are named where no value of them is
// known.
func difference(op operation.Operation, d changed) string {
	words := map[event.Action]string{
		event.Create: "new:", event.Update: "changed:", event.Replace: "replaced:", event.Delete: "gone:",
	}
	if op == operation.Preview {
		words = map[event.Action]string{event.Create: "+", event.Update: "~", event.Replace: "+-", event.Delete: "-"}
	}
	text := words[d.Action] + " " + d.Resource.String()
	if n := len(d.others); n > 0 {
		text += fmt.Sprintf(" and %d more alike: %s", n, strings.Join(lists.Map(d.others, nameOf), ", "))
	}
	if d.Stateful && d.IsLoss() {
		text += ", which holds data"
	}
	if len(d.Properties) > 0 && len(d.Values) == 0 {
		text += ", in " + strings.Join(d.Properties, ", ")
	}
	return text
}

func nameOf(d event.Difference) string { return d.Resource.Name }

// valueLines renders a value that differs; a text of several lines by its lines.
func (e ending) valueLines(c event.ValueChange) []string {
	because := ""
	if c.Replaces {
		because = "  (forces the replacement)"
	}
	if c.Line == 0 {
		return []string{"      " + c.Text(e.list.longest()) + because}
	}
	lines := []string{fmt.Sprintf("      %s, line %d:%s", c.Path, c.Line, because)}
	before, after := c.Lines()
	for _, side := range []struct {
		mark string
		text []string
	}{{"-", before}, {"+", after}} {
		for i, line := range side.text {
			if i == mostLines && e.list != Full {
				lines = append(lines, "        "+side.mark+" …")
				break
			}
			lines = append(lines, "        "+side.mark+" "+typeset.Cut(line, e.list.longest(), "…"))
		}
	}
	return lines
}

// mostLines is how many lines of a text are shown on each side.
const mostLines = 6
