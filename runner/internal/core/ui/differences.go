package ui

import (
	"fmt"
	"slices"
	"strings"

	"mara/config/lists"
	"mara/projects/model/operation"
	"mara/runner/internal/core/event"
	"mara/runner/internal/machine/typeset"
)

// What a preview lists without --diff: everything that would be lost, and this much of what would change.
const (
	mostChanges = 20 // resources
	mostValues  = 6  // of each
)

// differences lists what a look for drift has found, or what a preview would change: first what would be lost, by name
// and with the reason, then the changed values, then outputs. --diff lists all of it, and new resources.
func (e ending) differences() string {
	if e.summary.Operation != operation.Preview {
		return e.byProject(func(s event.Step) []string {
			return append(e.resources(s.Differences, true), e.outputLines(s)...)
		})
	}
	lost := e.section("Would be lost", isLoss, true)
	changed := e.section("Would change", func(d event.Difference) bool { return d.Action == event.Update && !d.Vague }, e.diff)
	if e.diff {
		changed += e.section("May change, with values that are not known yet", isVague, true)
	} else {
		changed += e.counted("May change, with values that are not known yet", isVague)
	}
	created := ""
	if e.diff {
		created = e.section("Would be created", func(d event.Difference) bool { return d.Action == event.Create }, true)
	}
	return lost + changed + created + e.byProject(e.outputLines)
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

func isLoss(d event.Difference) bool { return d.Action == event.Replace || d.Action == event.Delete }

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
	for _, s := range e.summary.Steps {
		own := slices.DeleteFunc(slices.Clone(s.Differences), func(d event.Difference) bool { return !chosen(d) })
		if len(own) == 0 {
			continue
		}
		shown := own
		if room := mostChanges - number; !all && len(own) > room {
			shown = own[:max(room, 0)]
		}
		number += len(own)
		projects++
		if len(shown) > 0 {
			b.WriteString("  " + e.paint.bold(typeset.Wrap(s.Title+" ("+s.Name+")", e.width, 4)) + "\n")
		}
		for _, line := range e.resources(shown, all || e.diff) {
			b.WriteString(typeset.Wrap("  "+line, e.width, 10) + "\n")
		}
	}
	if number == 0 {
		return ""
	}
	if more := number - mostChanges; !all && more > 0 {
		fmt.Fprintf(&b, "  and %s more; --diff lists all\n", typeset.Counted(more, "resource"))
	}
	heading = fmt.Sprintf("%s: %s in %s", heading, typeset.Counted(number, "resource"), typeset.Counted(projects, "project"))
	return "\n" + e.paint.bold(heading) + "\n" + b.String()
}

// resources renders differences, each with its values: all of them, or the first.
func (e ending) resources(differences []event.Difference, all bool) []string {
	var lines []string
	for _, d := range differences {
		lines = append(lines, "  "+difference(e.summary.Operation, d))
		for i, value := range d.Values {
			if !all && i == mostValues {
				lines = append(lines, "      and "+typeset.Counted(len(d.Values)-i, "value")+" more; --diff lists all")
				break
			}
			lines = append(lines, valueLines(value)...)
		}
	}
	return lines
}

// outputLines lists the outputs of a project that change. All those of a new stack
// are new: they are named if a preview lists everything, and else only counted.
func (e ending) outputLines(s event.Step) []string {
	switch {
	case len(s.Outputs) == 0 || s.Changes.IsNew() && !e.diff:
		return nil
	case s.Changes.IsNew():
		names := lists.Map(s.Outputs, func(c event.OutputChange) string { return c.Name })
		return []string{"  new outputs: " + strings.Join(names, ", ")}
	}
	lines := lists.Map(s.Outputs, func(c event.OutputChange) string { return "    " + c.String() })
	return append([]string{"  Outputs:"}, lines...)
}

// difference says what happens to a resource, or what has become of it. Properties are named where no value of them is
// known.
func difference(op operation.Operation, d event.Difference) string {
	words := map[event.Action]string{
		event.Create: "new:", event.Update: "changed:", event.Replace: "replaced:", event.Delete: "gone:",
	}
	if op == operation.Preview {
		words = map[event.Action]string{event.Create: "+", event.Update: "~", event.Replace: "+-", event.Delete: "-"}
	}
	text := words[d.Action] + " " + d.Resource.String()
	if d.Stateful && isLoss(d) {
		text += ", which holds data"
	}
	if len(d.Properties) > 0 && len(d.Values) == 0 {
		text += ", in " + strings.Join(d.Properties, ", ")
	}
	return text
}

// valueLines renders a value that differs; a text of several lines by its lines.
func valueLines(c event.ValueChange) []string {
	because := ""
	if c.Replaces {
		because = "  (forces the replacement)"
	}
	if c.Line == 0 {
		return []string{"      " + c.String() + because}
	}
	lines := []string{fmt.Sprintf("      %s, line %d:%s", c.Path, c.Line, because)}
	for _, side := range []struct {
		mark string
		text any
	}{{"-", c.Before}, {"+", c.After}} {
		text, _ := side.text.(string)
		for i, line := range strings.Split(text, "\n") {
			if i == mostLines {
				lines = append(lines, "        "+side.mark+" …")
				break
			}
			if text != "" {
				lines = append(lines, "        "+side.mark+" "+shortLine(line))
			}
		}
	}
	return lines
}

// mostLines is how many lines of a text are shown on each side.
const mostLines = 6

// shortLine cuts a long line of a text.
func shortLine(line string) string {
	const most = 120
	if runes := []rune(line); len(runes) > most {
		return string(runes[:most]) + "…"
	}
	return line
}
