package ui

import (
	"fmt"
	"strings"

	"mara/config/lists"
	"mara/runner/internal/core/event"
)

// command writes a workflow command of GitHub Actions.
func (p *Plain) command(name, properties, text string) {
	if properties != "" {
		name += " " + properties
	}
	p.silence.broken()
	p.out.write([]byte("::" + name + "::" + escapeData(text) + "\n"))
}

// annotate makes a message stand out, about a project if it names one.
func (p *Plain) annotate(level, project, message string) {
	properties := ""
	if project != "" {
		title := project
		if step, _ := p.summary.Step(project); step != nil && step.Title != "" {
			title = step.Label()
		}
		properties = "title=" + escapeProperty(title)
	}
	p.command(level, properties, message)
}

// annotateFinding marks what a guard has found, at its place in the repository.
func (p *Plain) annotateFinding(f event.Finding, message string) {
	level := "warning"
	switch {
	case f.Exception != "":
		level = "notice"
	case f.Denies():
		level = "error"
	}
	properties := "title=" + escapeProperty(strings.TrimSpace(f.Rule+" "+f.Project))
	if f.File != "" {
		properties += fmt.Sprintf(",file=%s,line=%d", escapeProperty(f.File), max(f.Line, 1))
	}
	p.command(level, properties, message)
}

// annotateErrors tells a step's errors together: GitHub shows few annotations.
func (p *Plain) annotateErrors(e event.Event) {
	step, _ := p.summary.Step(e.Project)
	if !p.o.GitHub || step == nil {
		return
	}
	p.annotate("error", e.Project, strings.Join(lists.Map(step.Errors(), func(d event.Diagnostic) string {
		return d.Text("\n")
	}), "\n"))
}

// escapeData lets a text of several lines be one command.
func escapeData(text string) string {
	return strings.NewReplacer("%", "%25", "\r", "%0D", "\n", "%0A").Replace(text)
}

// escapeProperty escapes the property of a command.
func escapeProperty(text string) string {
	return strings.NewReplacer(":", "%3A", ",", "%2C").Replace(escapeData(text))
}

// defuse keeps a text that comes from elsewhere from being a command: GitHub
// obeys any line that looks like one, indented or not.
func defuse(text string) string {
	if !strings.Contains(text, "::") && !strings.Contains(text, "##[") {
		return text
	}
	var b strings.Builder
	for line := range strings.Lines(strings.ReplaceAll(text, "##[", "## [")) {
		rest := strings.TrimLeft(line, " \t")
		if strings.HasPrefix(rest, "::") {
			line = line[:len(line)-len(rest)] + ": :" + rest[len("::"):]
		}
		b.WriteString(line)
	}
	return b.String()
}
