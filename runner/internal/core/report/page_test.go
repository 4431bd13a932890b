package report_test

import (
	"bytes"
	"regexp"
	"strings"
	"testing"

	"mara/runner/internal/core/event"
	"mara/runner/internal/core/report"
	"mara/runner/internal/testing/eventtest"
	"mara/runner/internal/testing/uitest"
)

// detailed returns the page of a failed run with every section.
func detailed(t *testing.T) string {
	t.Helper()
	script := uitest.AWSFailure()
	script.Simulated = true
	s, d, err := report.Collect(eventtest.Stream(uitest.Play(script)))
	if err != nil {
		t.Fatal(err)
	}
	d.Outputs["aws-eks"] = []report.Output{{Name: "kubeconfig", Value: "hunter2", Secret: true}, {Name: "cluster_name", Value: "main-4f2a"}}
	s.Steps[1].Attempt = 3
	s.Excluded = []event.Exclusion{{Name: "extra", Title: "Extra", Reason: "--skip <extra>"}}
	s.Apply(event.Event{Type: event.RunWarning, Project: "secrets", Message: "reads the stack of aws-ecr"})
	var b bytes.Buffer
	if err := report.Write(&b, report.HTML, s, d); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func TestPageShowsEverything(t *testing.T) {
	t.Parallel()
	page := detailed(t)
	for _, want := range []string{
		"SIMULATED: stand-ins", "timed out waiting for the condition", "reads the stack of aws-ecr",
		"Critical path", "<svg", `data-near="0 `, `.graph:has([data-n="0"]:is(:hover,:focus-visible))`, "aws:eks/nodeGroup:NodeGroup", "main-4f2a", "[secret]", "skipped: logstore failed", "<dt>Attempts</dt><dd>3</dd>", "--skip &lt;extra&gt;",
		`aria-label="Logstore (logstore): failed, 2m23s"`, "Next: <code>runner up -s dev --resume --simulate</code>",
	} {
		if !strings.Contains(page, want) {
			t.Errorf("%q is missing", want)
		}
	}
	if strings.Contains(page, "hunter2") {
		t.Error("a secret output is shown")
	}
}

func TestLinksLeadSomewhere(t *testing.T) {
	t.Parallel()
	page := detailed(t)
	ids := map[string]int{}
	for _, m := range regexp.MustCompile(` id="([^"]+)"`).FindAllStringSubmatch(page, -1) {
		if ids[m[1]]++; ids[m[1]] > 1 {
			t.Errorf("id %s is given twice", m[1])
		}
	}
	links := regexp.MustCompile(` href="#([^"]+)"`).FindAllStringSubmatch(page, -1)
	if len(links) < 40 {
		t.Errorf("only %d links", len(links))
	}
	for _, m := range links {
		if ids[m[1]] == 0 {
			t.Errorf("the link to %s leads nowhere", m[1])
		}
	}
	for _, m := range regexp.MustCompile(`aria-labelledby="([^"]+)"`).FindAllStringSubmatch(page, -1) {
		if ids[m[1]] == 0 {
			t.Errorf("the label %s does not exist", m[1])
		}
	}
}
