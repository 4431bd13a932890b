package report_test

import (
	"fmt"
	"strings"
	"testing"

	"mara/projects/model/operation"
	"mara/runner/internal/core/event"
	"mara/runner/internal/core/report"
)

// previewed returns a preview in which a database is replaced and so many resources are changed.
func previewed(updates int) *event.Summary {
	step := event.Step{Project: event.Project{Name: "db", Title: "Database"}, Result: event.Succeeded, Differences: []event.Difference{{
		Resource: event.Resource{Type: "aws:rds/instance:Instance", Name: "main"}, Action: event.Replace, Stateful: true,
		Values: []event.ValueChange{{Path: "engineVersion", Action: event.Update, Before: "14", After: "<b>16</b> ``` @team", Replaces: true}},
	}}}
	for i := range updates {
		step.Differences = append(step.Differences, event.Difference{
			Resource: event.Resource{Type: "k:D", Name: fmt.Sprintf("d%d", i)}, Action: event.Update,
			Values: []event.ValueChange{{Path: "data", Action: event.Update, Line: 2, Before: "one", After: strings.Repeat("two ", i%50)}},
		})
	}
	return &event.Summary{Operation: operation.Preview, Environment: event.Environment{Stack: "dev"}, Run: "20261128-000000-000abc", Result: event.Succeeded, Steps: []event.Step{step}}
}

// TestDifferences: each report for people has losses, reasons and values; those of machines have the losses.
func TestDifferences(t *testing.T) {
	t.Parallel()
	for format, want := range map[report.Format][]string{
		report.Markdown: {"<details open><summary>What would change, 1 lost</summary>", "````\nWould be lost: 1 resource in 1 project\n",
			"engineVersion: \"14\" => \"<b>16</b> ``` @team\"  (forces the replacement)", "data, line 2:\n          - one\n          + two"},
		report.HTML:  {`<h2 id="losses">Would be lost</h2>`, "because engineVersion: &#34;14&#34; =&gt; &#34;&lt;b&gt;16&lt;/b&gt;", "- one\n&#43; two"},
		report.SARIF: {`"loss"`, "aws:rds/instance:Instance main: would be replaced, and holds data, because of engineVersion"},
	} {
		got := write(t, format, previewed(3))
		for _, text := range want {
			if !strings.Contains(got, text) {
				t.Errorf("%s has no %q:\n%s", format, text, got)
			}
		}
		if format == report.SARIF && strings.Contains(got, "@team") {
			t.Errorf("%s has values:\n%s", format, got)
		}
	}
}

// TestDifferencesFitAComment: a comment at GitHub takes 65,536 characters. Losses stay.
func TestDifferencesFitAComment(t *testing.T) {
	t.Parallel()
	for _, updates := range []int{100, 10_000} {
		got := write(t, report.Markdown, previewed(updates))
		if len(got) > 60_000 || !strings.Contains(got, "aws:rds/instance:Instance main, which holds data") {
			t.Errorf("%d changes: %d characters, %.500s", updates, len(got), got)
		}
	}
}
