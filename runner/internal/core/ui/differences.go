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
	heading = fmt.Sprintf("%s: %s", heading, typeset.Counted(number, "resource"))
	if e.summary.Changes.Update > e.updates() {
		heading += ", not counting stacks and providers"
	}
	return "\n" + e.paint.bold(typeset.Wrap(heading, e.width, 2)) + "\n" +
		typeset.Wrap("  "+strings.Join(projects, ", "), e.width, 2) + "\n"
}

// updates counts the resources that are listed as changed. The table counts stacks and providers as well.
func (e ending) updates() int {
	number := 0
	for _, s := range e.summary.Steps {
		number += len(only(s.Differences, func(d event.Difference) bool { return d.Action == event.Update }))
	}
	return number
}

// byProject renders lines of each project below its title.
func (e ending) byProject(lines func(event.Step) []string) string {
	var b strings.Builder
	for _, s := range e.summary.Steps {
		own := lines(s)
		if len(own) == 0 {
			continue
		}
		b.WriteString("\n" + e.paint.bold(typeset.Wrap(s.Label(), e.width, 2)) + "\n")
		for _, line := range own {
			b.WriteString(typeset.Wrap(line, e.width, 6) + "\n")
		}
	}
	return b.String()
}

// section renders the differences of one kind of all projects below a heading; all of them, or a screenful, in which
// equal changes share a line.
func (e ending) section(heading string, chosen func(event.Difference) bool, all bool) string {
	var b strings.Builder
	number, projects := 0, 0
	for _, s := range e.summary.Steps {
		if n := len(only(s.Differences, chosen)); n > 0 {
			number += n
			projects++
		}
	}
	if number == 0 {
		return ""
	}
	lines, listed := 0, 0
	list := func(title string, shown []changed) {
		if !all {
			shown = shown[:min(len(shown), mostChanges-lines)]
		}
		if len(shown) == 0 {
			return
		}
		lines += len(shown)
		for _, c := range shown {
			listed += 1 + len(c.others)
		}
		b.WriteString("  " + e.paint.bold(typeset.Wrap(title, e.width, 4)) + "\n")
		for _, line := range e.resources(shown, all) {
			b.WriteString(typeset.Wrap("  "+line, e.width, 10) + "\n")
		}
	}
	var joint joint
	if !all {
		joint = e.jointChanges(chosen)
		for _, title := range joint.titles {
			list(title, joint.changes[title])
		}
	}
	for _, s := range e.summary.Steps {
		own := only(s.Differences, func(d event.Difference) bool { return chosen(d) && !joint.has(d) })
		slices.SortStableFunc(own, func(a, b event.Difference) int { // what holds data comes first
			switch {
			case a.Stateful == b.Stateful:
				return 0
			case a.Stateful:
				return -1
			}
			return 1
		})
		if all {
			list(s.Label(), apart(own))
		} else {
			list(s.Label(), equal(own))
		}
	}
	if more := number - listed; more > 0 {
		fmt.Fprintf(&b, "  and %s more; --diff lists all\n", typeset.Counted(more, "resource"))
	}
	heading = fmt.Sprintf("%s: %s in %s", heading, typeset.Counted(number, "resource"), typeset.Counted(projects, "project"))
	return "\n" + e.paint.bold(heading) + "\n" + b.String()
}

// joint are changes that are equal in several projects, by a title that names these.
type joint struct {
	titles  []string
	changes map[string][]changed
	keys    map[string]bool
}

func (j joint) has(d event.Difference) bool { return j.keys[changeKey(d)] }

// jointChanges joins the resources of several projects with equal changes, if they are several.
func (e ending) jointChanges(chosen func(event.Difference) bool) joint {
	alike, of := map[string][]event.Difference{}, map[string][]string{}
	var order []string
	for _, s := range e.summary.Steps {
		for _, d := range only(s.Differences, chosen) {
			key := changeKey(d)
			if len(d.Values) == 0 {
				continue
			}
			if len(alike[key]) == 0 {
				order = append(order, key)
			}
			alike[key] = append(alike[key], d)
			if !slices.Contains(of[key], s.Name) {
				of[key] = append(of[key], s.Name)
			}
		}
	}
	found := joint{changes: map[string][]changed{}, keys: map[string]bool{}}
	for _, key := range order {
		if len(of[key]) < 2 || len(alike[key]) < leastEqual {
			continue
		}
		title := fmt.Sprintf("In %s: %s", typeset.Counted(len(of[key]), "project"), strings.Join(of[key], ", "))
		if len(found.changes[title]) == 0 {
			found.titles = append(found.titles, title)
		}
		found.changes[title] = append(found.changes[title], changed{alike[key][0], alike[key][1:]})
		found.keys[key] = true
	}
	return found
}

// changeKey is the same for resources of one type with equal changes.
func changeKey(d event.Difference) string {
	return fmt.Sprint(d.Action, d.Resource.Type, d.Properties, lists.Map(d.Values, func(c event.ValueChange) string {
		return c.Text(math.MaxInt) + fmt.Sprint(c.Line, c.Replaces)
	}))
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
	for _, d := range differences {
		alike[changeKey(d)] = append(alike[changeKey(d)], d)
	}
	var joined []changed
	for _, d := range differences {
		group := alike[changeKey(d)]
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
	heading := "  Outputs:"
	if readers := e.readersOf(s.Name); len(readers) > 0 {
		heading = fmt.Sprintf("  Outputs, read by %s:", strings.Join(readers, ", "))
	}
	return append([]string{heading}, lines...)
}

// readersOf returns the projects of the run that read the outputs of one.
func (e ending) readersOf(project string) []string {
	var readers []string
	for _, s := range e.summary.Steps {
		if slices.Contains(s.Reads, project) {
			readers = append(readers, s.Name)
		}
	}
	return readers
}

// difference says what happens to a resource, or what has become of it. Properties are named where no value of them is
// known.
func difference(op operation.Operation, d changed) string {
	mark := d.Action.Found() + ":"
	if op == operation.Preview {
		mark = map[event.Action]string{event.Create: "+", event.Update: "~", event.Replace: "+-", event.Delete: "-"}[d.Action]
	}
	text := mark + " " + d.Resource.String()
	if n := len(d.others); n > 0 {
		text += fmt.Sprintf(" and %d more alike", n)
		names := lists.Map(d.others, nameOf)
		if slices.ContainsFunc(names, func(name string) bool { return name != d.Resource.Name }) {
			text += ": " + strings.Join(slices.Compact(names), ", ")
		}
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
