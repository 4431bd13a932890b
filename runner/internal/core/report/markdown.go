package report

import (
	"fmt"
	"io"
	"strings"

	"mara/config/lists"
	"mara/projects/model/operation"
	"mara/runner/internal/core/event"
	"mara/runner/internal/core/ui"
)

// writeMarkdown writes GitHub's dialect, as job summaries and comments use it.
func writeMarkdown(w io.Writer, s *event.Summary) error {
	var b strings.Builder
	fmt.Fprintf(&b, "## %s\n\n", inline(title(s)))
	if s.Simulated {
		b.WriteString("> **SIMULATED**: stand-ins answered for every cloud; nothing real was touched.\n\n")
	}
	fmt.Fprintf(&b, "%s; %s; %s\n\n", s.Results, s.Changes.Words(s.Operation), event.FormatDuration(s.Duration()))
	if s.Outcome() != event.Succeeded && len(s.Steps) > 0 {
		fmt.Fprintf(&b, "%s\n\n", inline(s.Standing().String()))
	}
	if about := s.About(); about != "" {
		fmt.Fprintf(&b, "%s\n\n", inline(about))
	}
	markdownTable(&b, s)
	if s.Operation != operation.Preview && s.Operation != operation.Drift {
		markdownOutputs(&b, s) // they are among the differences of the others
	}
	markdownDifferences(&b, s)
	for _, f := range s.Failures() {
		markdownFailure(&b, f)
	}
	markdownFindings(&b, s)
	markdownList(&b, "Warnings", s.OtherWarnings(), func(a event.Alert) string {
		return inline(strings.TrimPrefix(a.Project+": "+a.Message, ": "))
	})
	markdownList(&b, "Left out", s.Excluded, func(x event.Exclusion) string {
		return inline(x.Name) + ": " + inline(x.Reason)
	})
	if plan := s.SavedPlan; plan != nil {
		fmt.Fprintf(&b, "\nSaved plan: %s, digest %s\n", inline(plan.File), inline(plan.Digest))
	}
	fmt.Fprintf(&b, "\n<sub>run %s, started %s</sub>\n", inline(s.Run), s.Started.UTC().Format("2006-01-02 15:04:05 UTC"))
	_, err := io.WriteString(w, b.String())
	return err
}

func markdownTable(b *strings.Builder, s *event.Summary) {
	b.WriteString("| Project | Result | Changes | Time | Reason |\n|---|---|---|---:|---|\n")
	for _, step := range s.Steps {
		fmt.Fprintf(b, "| %s | %s | %s | %s | %s |\n",
			linked(step), result(step), changes(step), took(step), inline(step.Reason))
	}
}

// mostDifferences is how many characters a Markdown report has of what differs: a comment at GitHub takes 65,536 in all.
const mostDifferences = 40_000

// markdownDifferences lists what a preview would change, or what has drifted, in as much detail as there is room.
func markdownDifferences(b *strings.Builder, s *event.Summary) {
	heading := map[operation.Operation]string{
		operation.Preview: "What would change", operation.Drift: "What others have changed",
	}[s.Operation]
	var text string
	for _, list := range []ui.List{ui.All, ui.Short} {
		if text = strings.Trim(ui.Differences(s, ui.Options{List: list}), "\n"); len(text) <= mostDifferences {
			break
		}
	}
	if heading == "" || text == "" {
		return
	}
	if len(text) > mostDifferences {
		cut := strings.ToValidUTF8(text[:mostDifferences], "")
		text = cut + "\n… cut; `runner show " + s.Run + "` and the report page have the rest"
	}
	open := ""
	if losses := len(lossesOf(s)); losses > 0 {
		heading += fmt.Sprintf(", %d lost", losses)
		open = " open"
	}
	fmt.Fprintf(b, "\n<details%s><summary>%s</summary>\n\n%s\n</details>\n", open, heading, fenced(text))
}

// markdownOutputs lists the outputs that change. All those of a new stack are new, and
// only counted.
func markdownOutputs(b *strings.Builder, s *event.Summary) {
	for _, step := range s.Steps {
		if len(step.Outputs) == 0 || step.Changes.IsNew() {
			continue
		}
		changes := strings.Join(lists.Map(step.Outputs, event.OutputChange.String), "\n")
		fmt.Fprintf(b, "\n### Outputs of %s\n\n%s\n", inline(step.Name), fenced(changes))
	}
}

func markdownFailure(b *strings.Builder, f event.Failure) {
	fmt.Fprintf(b, "\n### %s failed\n", inline(f.Title()))
	for _, d := range f.Errors {
		if d.Resource != (event.Resource{}) {
			fmt.Fprintf(b, "\n%s\n", inline(d.Resource.String()))
		}
		fmt.Fprintf(b, "\n%s\n", fenced(d.Message))
	}
}

// markdownList writes a section with a list, if there is something in it.
func markdownList[T any](b *strings.Builder, heading string, items []T, line func(T) string) {
	if len(items) > 0 {
		fmt.Fprintf(b, "\n### %s\n\n- %s\n", heading, strings.Join(lists.Map(items, line), "\n- "))
	}
}

// inline escapes a text for a line or a table cell: it must not become markup.
func inline(text string) string {
	text = strings.Join(strings.Fields(text), " ")
	return strings.NewReplacer(
		`\`, `\\`, "`", "\\`", "*", `\*`, "_", `\_`, "|", `\|`, "[", `\[`, "]", `\]`,
		"&", "&amp;", "<", "&lt;", ">", "&gt;",
	).Replace(text)
}

// fenced puts a text between fences that are longer than any run of backticks in it.
func fenced(text string) string {
	fence := "```"
	for strings.Contains(text, fence) {
		fence += "`"
	}
	return fence + "\n" + text + "\n" + fence
}

// linked returns the name of a project, as a link to the page of its update at Pulumi Cloud if there is one.
func linked(step event.Step) string {
	if step.Link == "" {
		return inline(step.Name)
	}
	return "[" + inline(step.Name) + "](" + step.Link + ")"
}
