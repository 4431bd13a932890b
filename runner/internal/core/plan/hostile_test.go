package plan

import (
	"encoding/xml"
	"errors"
	"io"
	"os/exec"
	"regexp"
	"strings"
	"testing"

	"golang.org/x/net/html"

	"mara/providers"
)

// hostileTitles are titles that a pull request may bring, or that somebody who means well may write.
func hostileTitles() []string {
	return []string{
		`The "old" shop`, `<b>bold</b><script>alert(1)</script>`, `a & b; #quot; #1`, `back\slash\n \N "`, "`code` **bold**", "]]> --> end",
		"Redis \u202ecod\u202c cache", "bell\a and \x1b[31mred", "line\nbreak\r\nand\ttab", strings.Repeat("very long ", 12), "{curly} [square] (round) |pipe|",
		"日本語 👩‍👩‍👧 é", "'single'", "", "%s %d", "subgraph", "end", "click p0 href \"javascript:alert(1)\"",
	}
}

// hostilePlan returns a plan of which every title and phase is hostile.
func hostilePlan(t *testing.T) Plan {
	t.Helper()
	p := mustNew(t, providers.All()[0])
	titles := hostileTitles()
	for i := range p.Steps {
		p.Steps[i].Project.Title = titles[i%len(titles)]
		p.Steps[i].Phase = Phase(titles[(i+3)%len(titles)])
	}
	p.Title = titles[0] + titles[1] + titles[6]
	return p
}

// mermaidLines are the lines that Mermaid's grammar of flowcharts has, as far as a plan uses them. In a text between quotes only line
// breaks are markup, and neither quotes, backquotes nor bare ampersands and hashes are allowed. Mermaid 11 parses what these match.
var mermaidLines = regexp.MustCompile(`^(---|title: "([^"\\]|\\\\|\\")*"|flowchart TD|` +
	`  subgraph phase_\d+ \["([^"<>&#` + "`" + `]|#(quot|lt|gt|amp|35|96);)*"\]|  end|` +
	`    p\d+\["([^"<>&#` + "`" + `]|#(quot|lt|gt|amp|35|96);|<br/>)*"\]|  p\d+ (-->|-\.->) p\d+)$`)

// dotLines are those of DOT.
var dotLines = regexp.MustCompile(`^\s*(digraph QUOTED \{|label=QUOTED;|labelloc=t;|node \[shape=box, style=rounded\];|subgraph QUOTED \{|\}|` +
	`QUOTED \[label=QUOTED\];|QUOTED -> QUOTED( \[style=dashed\])?;)$`)

var quoted = regexp.MustCompile(`"([^"\\]|\\["\\n])*"`)

// TestHostileTitles: whatever titles and phases say, each format is one that its parser takes, and nothing of them is markup.
func TestHostileTitles(t *testing.T) {
	t.Parallel()
	p := hostilePlan(t)
	draw := func(format Format) string {
		text, err := Render(p, format, 0)
		if err != nil {
			t.Fatal(err)
		}
		for _, hidden := range []string{"\u202e", "\a", "\x1b"} {
			if strings.Contains(text, hidden) {
				t.Errorf("%s has %q as it is", format, hidden)
			}
		}
		return text
	}
	for line := range strings.Lines(draw(Mermaid)) {
		if !mermaidLines.MatchString(strings.TrimSuffix(line, "\n")) {
			t.Errorf("Mermaid does not know the line %s", line)
		}
	}
	dot := draw(DOT)
	for line := range strings.Lines(dot) {
		if !dotLines.MatchString(quoted.ReplaceAllString(strings.TrimSuffix(line, "\n"), "QUOTED")) {
			t.Errorf("DOT does not know the line %s", line)
		}
	}
	if program, err := exec.LookPath("dot"); err == nil {
		command := exec.CommandContext(t.Context(), program, "-Tsvg")
		command.Stdin = strings.NewReader(dot)
		if output, err := command.CombinedOutput(); err != nil || strings.Contains(string(output), "Warning") {
			t.Errorf("Graphviz: %v\n%s", err, output)
		}
	}
	for decoder := xml.NewDecoder(strings.NewReader(draw(SVG))); ; {
		token, err := decoder.Token()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatalf("the picture is not XML: %v", err)
		}
		if element, ok := token.(xml.StartElement); ok && strings.Contains(" b script ", " "+element.Name.Local+" ") {
			t.Errorf("the picture has the element %s of a title", element.Name.Local)
		}
	}
	page, err := html.Parse(strings.NewReader(draw(HTML)))
	if err != nil {
		t.Fatal(err)
	}
	for node := range page.Descendants() {
		if node.Type == html.ElementNode && (node.Data == "b" || node.Data == "script") {
			t.Errorf("the page has the element %s of a title", node.Data)
		}
	}
}

// TestLongTitlesAreCut: one long title makes no box of a picture wider than others are, and is there in full on hover.
func TestLongTitlesAreCut(t *testing.T) {
	t.Parallel()
	p := mustNew(t, providers.All()[0])
	width := func() string {
		text, err := Render(p, SVG, 0)
		if err != nil {
			t.Fatal(err)
		}
		return regexp.MustCompile(` width="(\d+)"`).FindStringSubmatch(text)[1]
	}
	p.Steps[0].Project.Title = strings.Repeat("x", 28)
	before := width()
	long := strings.Repeat("long title ", 11)
	p.Steps[0].Project.Title = long
	if text, _ := Render(p, SVG, 0); width() != before || !strings.Contains(text, "<title>"+strings.TrimSpace(long)) {
		t.Errorf("width %s with a long title, %s with one of 28 letters", width(), before)
	}
}
