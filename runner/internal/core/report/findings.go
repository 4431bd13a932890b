package report

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"

	"mara/projects/model/operation"
	"mara/runner/internal/core/event"
	"mara/runner/internal/core/sarif"
)

// writeSARIF writes what the guards have found, and what a preview would lose. It has no values: code scanning keeps its
// results for months.
func writeSARIF(w io.Writer, s *event.Summary) error {
	var results []sarif.Result
	for _, f := range append(s.Findings(), lossesIn(s)...) {
		text := strings.TrimPrefix(f.Subject()+": "+f.Message, ": ")
		if !s.Fleet {
			text = s.Stack + ": " + text
		}
		results = append(results, sarif.Result{Finding: f, Text: text})
	}
	id := fmt.Sprintf("%s/%s", s.Operation, cmp.Or(s.Stack, "fleet"))
	return encodeJSON(w, sarif.New(sarif.Options{ID: id, Failed: s.Outcome() != event.Succeeded, Errors: errorsOf(s)}, results))
}

// errorsOf returns why projects have failed, a text for each failure.
func errorsOf(s *event.Summary) (all []string) {
	for _, f := range s.Failures() {
		var texts []string
		for _, d := range f.Errors {
			texts = append(texts, d.Text(": "))
		}
		all = append(all, f.Title()+": "+strings.Join(texts, "\n"))
	}
	return all
}

// lossesIn returns what a preview would replace or delete, except what a guard has found already.
func lossesIn(s *event.Summary) []event.Finding {
	if s.Operation != operation.Preview {
		return nil
	}
	type place struct {
		project  string
		resource event.Resource
	}
	found := map[place]bool{}
	for _, f := range s.Findings() {
		found[place{f.Project, f.Resource}] = true
	}
	var losses []event.Finding
	for _, d := range lossesOf(s) {
		if found[place{d.Project, d.Resource}] {
			continue
		}
		text := "would be deleted"
		if d.Action == event.Replace {
			text = "would be replaced"
		}
		if d.Stateful {
			text += ", and holds data"
		}
		var reasons []string
		for _, value := range d.Values {
			if value.Replaces {
				reasons = append(reasons, value.Path)
			}
		}
		if len(reasons) > 0 {
			text += ", because of " + strings.Join(reasons, ", ")
		}
		losses = append(losses, event.Finding{
			Rule: event.RuleLoss, Level: event.LevelWarn, Project: d.Project, Resource: d.Resource, Message: text,
		})
	}
	return losses
}

// addFindings adds a case for each finding: a failure for one that forbids.
func (j *junitSuite) addFindings(s *event.Summary) {
	for _, f := range s.Findings() {
		c := junitCase{
			Name: strings.TrimSpace(f.Rule + " " + f.Subject()), Class: j.class(s) + ".guards", Time: seconds(0), File: f.File,
			Line: f.Line,
		}
		switch {
		case f.Exception != "":
			j.Skipped++
			c.Skipped = &junitProblem{Message: "allowed: " + f.Exception, Text: findingText(f)}
		case f.Denies():
			j.Failures++
			c.Failure = &junitProblem{Message: f.Message, Type: f.Level, Text: findingText(f)}
		default: // JUnit knows no warnings
			c.Output = findingText(f)
		}
		j.Cases = append(j.Cases, c)
	}
}

// findingText lists all that is known of a finding, a line for each.
func findingText(f event.Finding) string {
	var lines []string
	for _, line := range [][2]string{
		{"rule", f.Rule}, {"level", f.Level}, {"project", f.Project}, {"resource", f.Resource.String()}, {"urn", f.URN},
		{"file", f.Place()},
		{"finding", f.Message}, {"allowed", f.Exception},
	} {
		if line[1] != "" {
			lines = append(lines, line[0]+": "+line[1])
		}
	}
	return strings.Join(lines, "\n")
}

// addOutcome adds an error for a run that has not succeeded although none of its
// cases says so: a failed run must not pass for a green one.
func (j *junitSuite) addOutcome(s *event.Summary) {
	if s.Outcome() == event.Succeeded || j.Failures+j.Errors > 0 {
		return
	}
	j.Errors++
	text := fmt.Sprintf("the run ended as %s, and no project of it did; its screen or log says why", s.Outcome())
	j.Cases = append(j.Cases, junitCase{Name: "run " + s.Run, Class: j.class(s), Time: seconds(s.DurationMS),
		Error: &junitProblem{Message: text}})
}

// markdownFindings writes a table of what the guards have found.
func markdownFindings(b *strings.Builder, s *event.Summary) {
	findings := s.Findings()
	if len(findings) == 0 {
		return
	}
	heading := "Findings"
	if denying := slices.DeleteFunc(s.Findings(), func(f event.Finding) bool { return !f.Denies() }); len(denying) > 0 {
		heading = fmt.Sprintf("Findings, %d of which forbid it", len(denying))
	}
	fmt.Fprintf(b, "\n### %s\n\n| Level | Rule | Project | Resource | File | Finding |\n|---|---|---|---|---|---|\n",
		heading)
	for _, f := range findings {
		text := f.Message
		if f.Exception != "" {
			text += "; allowed: " + f.Exception
		}
		fmt.Fprintf(b, "| %s | %s | %s | %s | %s | %s |\n",
			f.Verdict(), inline(f.Rule), inline(f.Project), inline(f.Resource.String()), inline(f.Place()), inline(text))
	}
}
