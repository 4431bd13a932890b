package preflight

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func report() Report {
	check := func(name string, group Group, findings ...Finding) Result {
		return Result{Name: name, Title: name, Group: group, Status: worst(findings), Findings: findings}
	}
	return Report{Results: []Result{
		check("configuration", Environment,
			Finding{Problem, "config/pulumi/Pulumi.dev.yaml:3: eks:szie is read by no project; did you mean \"eks:size\"?", "", "", ""},
			Finding{Problem, "config/pulumi/Pulumi.dev.yaml: aws:region is missing", "add it", "", ""}),
		check("lock", State, Finding{Status: Skipped, Text: "not looked at"}),
		check("Docker", Tools, Finding{Status: OK, Text: "the daemon answers, version 27.0"}),
		check("kubectl", Tools, Finding{Warning, "there is none on PATH", "install it", "", ""}),
	}}
}

func TestStatus(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		findings []Finding
		want     Status
	}{
		{nil, OK},
		{[]Finding{{Status: OK}, {Status: Skipped}}, Skipped},
		{[]Finding{{Status: Warning}, {Status: OK}}, Warning},
		{[]Finding{{Status: Warning}, {Status: Problem}, {Status: OK}}, Problem},
	} {
		r := Report{Results: []Result{{Status: worst(tt.findings), Findings: tt.findings}}}
		if got := r.Status(); got != tt.want {
			t.Errorf("%v: got %s", tt.findings, got)
		}
	}
	if got := (Report{}).Status(); got != OK {
		t.Errorf("nothing: %s", got)
	}
}

func TestOnly(t *testing.T) {
	t.Parallel()
	r := report()
	r.Results[0].Findings[1].Status = Warning
	got := r.Only(Warning)
	if len(got.Results) != 2 || len(got.Results[0].Findings) != 1 || got.Status() != Warning || got.Results[1].Name != "kubectl" {
		t.Errorf("got %v", got)
	}
	if len(r.Results[0].Findings) != 2 || r.Results[0].Findings[0].Status != Problem {
		t.Error("the report itself has changed")
	}
}

// TestReplace: a second look has the last word about what it is about.
func TestReplace(t *testing.T) {
	t.Parallel()
	result := func(name string, findings []Finding) Result {
		return Result{Name: name, Status: findings[0].Status, Findings: findings}
	}
	first := Report{Results: []Result{result("disk", Bad("full", "")), result("docker", Bad("broken", "")), result("ports", Bad("taken", ""))}}
	second := Report{Results: []Result{result("docker", Good("27"))}}
	skipped := result("ports", Unseen("not needed"))
	want := Report{Results: []Result{result("disk", Bad("full", "")), result("docker", Good("27")), skipped}}
	if diff := cmp.Diff(want, first.Replace([]string{"docker", "ports"}, second, "not needed")); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if first.Status() != Problem || first.Results[1].Status != Problem {
		t.Error("the first report has changed")
	}
}

func TestMasked(t *testing.T) {
	t.Parallel()
	r := report()
	got := r.Masked(func(text string) string { return strings.ReplaceAll(text, "add", "[secret]") })
	if got.Results[0].Findings[1].Remedy != "[secret] it" || r.Results[0].Findings[1].Remedy != "add it" {
		t.Errorf("got %v", got)
	}
}

func TestText(t *testing.T) {
	t.Parallel()
	want := `environment
  problem  configuration: config/pulumi/Pulumi.dev.yaml:3: eks:szie is read by no project; did you mean "eks:size"?
  problem  configuration: config/pulumi/Pulumi.dev.yaml: aws:region is missing
           -> add it

tools
  ok       Docker: the daemon answers, version 27.0
  warning  kubectl: there is none on PATH
           -> install it

state
  skipped  lock: not looked at

2 problems, 1 warning, 1 ok, 1 not looked at
`
	if diff := cmp.Diff(want, report().Text(Style{})); diff != "" {
		t.Error(diff)
	}
}

// TestNarrowText fits, but for words that are longer than a line.
func TestNarrowText(t *testing.T) {
	t.Parallel()
	want := `environment
  problem  configuration:
           config/pulumi/Pulumi.dev.yaml:3:
           eks:szie is read by no project;
           did you mean "eks:size"?
  problem  configuration:
           config/pulumi/Pulumi.dev.yaml:
           aws:region is missing
           -> add it

tools
  ok       Docker: the daemon answers,
           version 27.0
  warning  kubectl: there is none on PATH
           -> install it

state
  skipped  lock: not looked at

2 problems, 1 warning, 1 ok, 1 not looked at
`
	if diff := cmp.Diff(want, report().Text(Style{Width: 43})); diff != "" {
		t.Error(diff)
	}
}

func TestColour(t *testing.T) {
	t.Parallel()
	text := report().Text(Style{Colour: true})
	if !strings.Contains(text, "\x1b[31mproblem\x1b[0m  configuration") || !strings.Contains(text, "\x1b[32mok\x1b[0m       Docker") {
		t.Errorf("got %q", text)
	}
	if plain := report().Text(Style{}); strings.Contains(plain, "\x1b") {
		t.Errorf("got %q", plain)
	}
}

func TestSum(t *testing.T) {
	t.Parallel()
	if got := (Report{}).Sum(); got != "no problems, no warnings, 0 ok" {
		t.Errorf("got %s", got)
	}
}

// TestSettled: what is in the place of a project is a problem only if the environment has no state of the project.
func TestSettled(t *testing.T) {
	t.Parallel()
	claim := func(project string) Finding { return Finding{Status: Problem, Text: project, IfAbsent: project} }
	report := Report{Results: []Result{
		{Name: "disk", Status: OK, Findings: Good("there is room")},
		{Name: "cluster", Status: Problem, Findings: []Finding{claim("shop"), {Status: Warning, Text: "no metrics"}, claim("web")}},
	}}
	cases := map[string]struct {
		absent []string
		status Status
		claims int
	}{
		"both are there":   {nil, Warning, 0},
		"one is not":       {[]string{"web"}, Problem, 1},
		"nothing is known": {[]string{"shop", "web"}, Problem, 2},
	}
	for name, c := range cases {
		isAbsent := func(project string) bool { return slices.Contains(c.absent, project) }
		settled := report.Settled(isAbsent)
		if settled.Status() != c.status || settled.Counts()[Problem] != c.claims || settled.Counts()[OK] != 1 {
			t.Errorf("%s: %s, %v", name, settled.Status(), settled.Counts())
		}
		if got := report.Conditional().Settled(isAbsent).Counts(); got[Problem] != c.claims || got[Warning]+got[OK] != 0 {
			t.Errorf("%s: of the conditional ones %v", name, got)
		}
	}
}
