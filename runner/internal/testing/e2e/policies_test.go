package e2e

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"mara/runner/internal/core/event"
	"mara/runner/internal/core/refusal"
	"mara/runner/internal/core/updateplan"
)

// TestPolicies: a finding that denies fails a preview, and keeps an up from
// changing anything; an exception lets it pass.
func TestPolicies(t *testing.T) {
	t.Parallel()
	e := newEnvironment(t, embedded)
	e.write("policies/no-registry.jq", "# No registry.\ndef deny: resources(\"kind:index:Registry\") | finding(\"is not wanted\");\ndef warn: \"in general\";\n")
	args := []string{"-p", "kind", "--only", "kind-cluster,kind-registry"}
	events := e.simulate(1, "preview", args...)
	const denied = "policy DENIES no-registry: kind:index:Registry registry: is not wanted"
	if warned := strings.Join(warnings(events), "\n"); !strings.Contains(warned, denied) || !strings.Contains(warned, "policy no-registry: in general") {
		t.Errorf("warnings: %s", warned)
	}
	if last := events[len(events)-1]; last.Type != event.RunFinished || last.Result != event.Failed {
		t.Errorf("the last event is %+v", last)
	}
	if f := findingOf(events, "no-registry"); f == nil || f.Level != event.LevelDeny || f.Project != "kind-registry" || f.Resource.Name != "registry" || f.File == "" {
		t.Errorf("the finding is %+v", f)
	}
	if events := e.simulate(1, "up", args...); len(events) != 2 || findingOf(events, "no-registry") == nil || events[0].Run == "" || events[0].Time.IsZero() {
		t.Errorf("an up that is denied emits %v", events)
	}
	r := e.run(append([]string{"up", "--simulate", "--yes", "--report", "up.xml"}, args...)...)
	if report, err := os.ReadFile(filepath.Join(e.root, "up.xml")); err != nil || !strings.Contains(string(report), `<failure message="is not wanted" type="deny">`) {
		t.Errorf("%v\n%s", err, report)
	}
	if r.code != 1 || !strings.Contains(r.stdout, denied) || !strings.Contains(r.stderr, "error: forbidden by policy: no-registry (kind-registry); nothing was changed") {
		t.Errorf("exit code %d\n%s%s", r.code, r.stdout, r.stderr)
	}
	if r := e.run("query", "--simulate", "types"); !strings.Contains(r.stdout, "no results") {
		t.Errorf("something is deployed: %s%s", r.stdout, r.stderr)
	}
	e.write("policies/policies.yaml", "exceptions:\n  - {rule: no-registry, resource: \"kind-registry * *\", reason: needed until spring, until: 2999-01-01}\n")
	events = e.simulate(0, "up", append(args, "--report", "allowed.xml")...)
	if f := findingOf(events, "no-registry"); f == nil || f.Exception == "" || events[0].Type != event.RunStarted {
		t.Errorf("the finding is %+v after %s", f, events[0].Type)
	}
	if report, err := os.ReadFile(filepath.Join(e.root, "allowed.xml")); err != nil || !strings.Contains(string(report), "needed until spring") {
		t.Errorf("%v\n%s", err, report)
	}
	if r := e.run("policy", "check", "--simulate", "-o", "json"); r.code != 0 || !strings.Contains(r.stdout, "needed until spring (until 2999-01-01)") {
		t.Errorf("exit code %d\n%s%s", r.code, r.stdout, r.stderr)
	}
	if r := e.run("policy", "check", "--simulate", "-o", "sarif"); r.code != 0 || !strings.Contains(r.stdout, `"uri": "policies/policies.yaml"`) {
		t.Errorf("exit code %d\n%s%s", r.code, r.stdout, r.stderr)
	}
	e.write("policies/policies.yaml", "use: [no-such-rule]\n")
	if r := e.run("up", "--simulate", "--yes"); r.code != 3 || !strings.Contains(r.stderr, `policies.yaml:1: there is no rule "no-such-rule"`) {
		t.Errorf("exit code %d\n%s", r.code, r.stderr)
	}
}

// findingOf returns what a rule has found; nil if it has found nothing.
func findingOf(events []event.Event, rule string) *event.Finding {
	for _, e := range events {
		if e.Finding != nil && e.Finding.Rule == rule {
			return e.Finding
		}
	}
	return nil
}

// TestCosts: a preview says what an environment costs at least, and a limit
// keeps an up from changing anything.
func TestCosts(t *testing.T) {
	t.Parallel()
	e := newEnvironment(t, embedded)
	args := []string{"--simulate", "--yes", "-p", "linode", "--only", "linode-lke"}
	if r := e.run(append([]string{"preview"}, args...)...); r.code != 0 || !strings.Contains(r.stdout, "Costs at least 144 USD a month (+144)") {
		t.Errorf("exit code %d\n%s%s", r.code, lastLines(r.stdout), r.stderr)
	}
	events := e.simulate(0, "preview", "-p", "linode", "--only", "linode-lke", "--report", "page.html")
	if i := slices.IndexFunc(events, func(e event.Event) bool { return e.Type == event.RunCosts }); i < 0 || events[i].Costs.Monthly != 144 || len(events[i].Costs.Items) == 0 {
		t.Errorf("the stream tells no costs: %v", i)
	}
	if page, err := os.ReadFile(filepath.Join(e.root, "page.html")); err != nil || !strings.Contains(string(page), "At least 144 USD a month (&#43;144)") {
		t.Errorf("the page tells no costs: %v", err)
	}
	r := e.run(append([]string{"up", "--max-monthly", "100"}, args...)...)
	if r.code != 1 || !strings.Contains(r.stderr, "error: forbidden by --max-monthly 100: it costs at least 144 USD a month") {
		t.Errorf("exit code %d\n%s%s", r.code, lastLines(r.stdout), r.stderr)
	}
	if r := e.run("query", "--simulate", "types"); !strings.Contains(r.stdout, "no results") {
		t.Errorf("something is deployed: %s%s", r.stdout, r.stderr)
	}
	e.write("prices.yaml", "types:\n  linode:index/lkecluster:LkeCluster: {per: month, price: 1, day: 2026-11-01, source: us}\n")
	r = e.run(append([]string{"preview", "--max-monthly", "0"}, args...)...)
	if r.code != 1 || !strings.Contains(r.stderr, "forbidden by --max-monthly 0") || !strings.Contains(r.stdout, `did you mean "linode:index/lkeCluster:LkeCluster"?`) {
		t.Errorf("exit code %d\n%s%s", r.code, lastLines(r.stdout), r.stderr)
	}
}

// TestPlanIsKept: an up does what its plan says, also where the preview was
// partial, and refuses when something has changed.
func TestPlanIsKept(t *testing.T) {
	t.Parallel()
	long(t)
	e := newEnvironment(t, embedded)
	const only = "kind-cluster,kind-registry,kubeconfig,certmgr,logstore"
	file := filepath.Join(e.root, "plan.json")
	previewed := e.simulate(0, "preview", "-p", "kind", "--only", only, "--save-plan", "plan.json")
	document, err := updateplan.Read(file)
	if err != nil || len(document.Projects) != 5 || !document.Simulated {
		t.Fatalf("%v: %+v", err, document)
	}
	for _, args := range [][]string{{"--plan", "plan.json", "-s", "other"}, {"--plan", "plan.json", "--only", "certmgr"}, {"--plan", "config/pulumi/environment"},
		{"--plan", ""}, {"--plan", "plan.json", "--plan-digest", "sha256:" + strings.Repeat("0", 64)}} {
		if r := e.run(append([]string{"up", "--simulate", "-p", "kind"}, args...)...); r.code == 0 || !strings.Contains(r.stderr, "error: --") {
			t.Errorf("%v: exit code %d\n%s", args, r.code, r.stderr)
		}
	}
	// A plan from which a user has removed a part is not what an up would do.
	smaller := document
	smaller.Projects = append([]updateplan.Project{}, document.Projects...)
	last := &smaller.Projects[4]
	last.Steps = last.Steps[1:]
	if _, err := smaller.Write(filepath.Join(e.root, "smaller.json")); err != nil {
		t.Fatal(err)
	}
	if got := savedPlanOf(previewed); got == nil || got.Digest != document.Digest || got.File != file {
		t.Errorf("the preview names the plan %+v, not %s", got, document.Digest)
	}
	carried := e.simulate(0, "up", "-p", "kind", "--plan", "plan.json", "--plan-digest", document.Digest)
	if got := savedPlanOf(carried); got == nil || got.Digest != document.Digest {
		t.Errorf("the up names the plan %+v", got)
	}
	r := e.run("up", "--simulate", "-p", "kind", "--plan", "plan.json")
	if r.code != 3 || !strings.Contains(r.stderr, "--plan: the state has changed since: kind-cluster, kind-registry") {
		t.Errorf("exit code %d\n%s", r.code, r.stderr)
	}
	e.simulate(0, "destroy")
	r = e.run("up", "--simulate", "-p", "kind", "--plan", "smaller.json", "--non-interactive")
	if r.code != 1 || !strings.Contains(r.stdout, "the plan does not say so: create of ") {
		t.Errorf("exit code %d\n%s%s", r.code, lastLines(r.stdout), r.stderr)
	}
	if want := "Next:\n  runner preview -s dev --simulate --provider kind --only kind-cluster,kind-registry,kubeconfig,logstore,certmgr --save-plan smaller.json "; !strings.Contains(r.stdout, want) {
		t.Errorf("what is proposed next is not another plan:\n%s", lastLines(r.stdout))
	}
	e.checkPlannedValue(document)
	e.write("config/pulumi/Pulumi.dev.yaml", "config:\n  kubernetes:infra_type: kind\n  kind:workers: 2\n")
	if r := e.run("up", "--simulate", "--plan", "plan.json"); r.code != 3 || !strings.Contains(r.stderr, "--plan: the configuration has changed since: config/pulumi/Pulumi.dev.yaml") {
		t.Errorf("exit code %d\n%s", r.code, r.stderr)
	}
}

// savedPlanOf returns the saved plan that the events of a run name.
func savedPlanOf(events []event.Event) *event.SavedPlan {
	i := slices.IndexFunc(events, func(e event.Event) bool { return e.Type == event.RunPlan })
	if i < 0 {
		return nil
	}
	return events[i].Plan
}

// checkPlannedValue: an up that is refused because of a value names the property, with
// the planned value and the one of now, in a finding.
func (e *environment) checkPlannedValue(document updateplan.Document) {
	e.t.Helper()
	e.simulate(0, "destroy")
	const name = "kind-registry"
	i := slices.IndexFunc(document.Projects, func(p updateplan.Project) bool { return p.Name == name })
	j := slices.IndexFunc(document.Projects[i].Steps, func(s updateplan.Step) bool { return s.Type == "kind:index:Registry" })
	inputs := document.Projects[i].Steps[j].Inputs
	was := inputs["name"]
	inputs["name"] = "another"
	if _, err := document.Write(filepath.Join(e.root, "another.json")); err != nil {
		e.t.Fatal(err)
	}
	inputs["name"] = was
	events := e.simulate(1, "up", "-p", "kind", "--plan", "another.json")
	f := findingOf(events, string(refusal.Plan))
	if f == nil || f.Project != name || f.Property != "name" || f.Planned != `"another"` || f.Now != fmt.Sprintf("%q", was) || !f.Denies() {
		e.t.Errorf("the finding is %+v", f)
	}
	if got := finished(events)[name]; !strings.Contains(got.Error, `: planned "another", now `) || !strings.Contains(got.Hint, "--save-plan another.json") {
		e.t.Errorf("%s: %s (%s)", name, got.Error, got.Hint)
	}
	e.simulate(0, "destroy")
}

// TestSavedPlansHoldNoSecrets although they hold what a program is given.
func TestSavedPlansHoldNoSecrets(t *testing.T) {
	t.Parallel()
	e := newEnvironment(t, embedded)
	e.simulate(0, "up", "-p", "kind", "--only", "kind-cluster,kubeconfig")
	e.simulate(0, "preview", "--save-plan", "plan.json")
	content, err := os.ReadFile(filepath.Join(e.root, "plan.json"))
	if err != nil || !json.Valid(content) {
		t.Fatalf("%v: %s", err, content)
	}
	if r := e.run("outputs", "kind-cluster", "kubeconfig", "--simulate", "--show-secrets"); len(r.stdout) < 100 || strings.Contains(string(content), "client-key-data") {
		t.Errorf("the plan shows a kubeconfig, or there is none: %q", r.stdout)
	}
	if !strings.Contains(string(content), "[secret]") || !strings.Contains(string(content), updateplan.Unknown) {
		t.Error("nothing in the plan is secret, or nothing unknown")
	}
}
