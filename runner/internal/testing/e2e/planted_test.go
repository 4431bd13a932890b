package e2e

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"mara/runner/internal/core/event"
)

// TestValuesHideSecrets changes secrets in nested values, marked and not, and searches everything that shows or keeps
// what a preview has found: screens, events, reports, pages, comments, plans and journals.
func TestValuesHideSecrets(t *testing.T) {
	t.Parallel()
	e := newEnvironment(t, embedded)
	e.write("mara.yaml", "projects:\n  - path: app\n")
	e.write("config/pulumi/Pulumi.dev.yaml", "config: {}\n")
	program := func(n string) {
		e.write("app/Pulumi.yaml", `name: app
runtime: yaml
variables:
  marked: {fn::secret: planted-marked-`+n+`}
resources:
  net:
    type: aws:ec2:Vpc
    properties:
      cidrBlock: 10.0.0.0/16
      tags:
        shown: seen-`+n+`
        whole: ${marked}
        inText: "before ${marked} after"
        inJSON: '{"list": [{"deep": "${marked}"}], "shown": "in-json-`+n+`"}'
        DB_PASSWORD: planted-unmarked-`+n+`
        pem: "-----BEGIN PRIVATE KEY-----\nplanted-pem-`+n+`\n-----END PRIVATE KEY-----\n"
        url: https://someone:planted-url-`+n+`@example.com/
outputs: {login: "${marked}", nested: {list: ["${marked}"]}, plain: seen-`+n+`}
`)
	}
	program("one")
	e.simulate(0, "up")
	program("two")
	var printed strings.Builder
	simulated := []string{"--simulate", "--simulate-speed", "100000"}
	for _, args := range [][]string{
		{"preview"}, {"preview", "--diff"}, {"preview", "--full", "--ui", "plain"}, {"preview", "-o", "json"}, {"preview", "--save-plan", "plan.json"},
		{"preview", "--report", "report.html"}, {"preview", "--report", "report.md"}, {"preview", "--report", "report.json"}, {"preview", "--report", "report.sarif"},
		{"preview", "--report", "report.xml"}, {"preview", "--report", "report.csv"}, {"fleet", "preview", "dev"},
	} {
		r := e.with("GITHUB_STEP_SUMMARY="+filepath.Join(e.root, "step-summary.md"), "GITHUB_ACTIONS=true").run(append(args, simulated...)...)
		if r.code != 0 {
			t.Fatalf("%v: exit code %d\n%s%s", args, r.code, lastLines(r.stdout), r.stderr)
		}
		if args[0] == "preview" && len(args) < 3 && !strings.Contains(r.stdout, "seen-two") {
			t.Errorf("%v does not show a value that is no secret:\n%s", args, r.stdout)
		}
		printed.WriteString(r.stdout + r.stderr)
	}
	f := findingOf(e.simulate(0, "preview"), event.RuleUnmarked)
	if f == nil || f.Project != "app" || f.Resource.Name != "net" || !strings.Contains(f.Message, "tags.DB_PASSWORD") {
		t.Errorf("the author is told %+v", f)
	}
	for _, args := range [][]string{{"web", "--export", "site", "--simulate"}, {"show", "--simulate"}, {"report", "--simulate", "-o", "html"}, {"logs", "--simulate"}} {
		r := e.run(args...)
		if r.code != 0 {
			t.Fatalf("%v: exit code %d\n%s%s", args, r.code, lastLines(r.stdout), r.stderr)
		}
		printed.WriteString(r.stdout + r.stderr)
	}
	secrets := map[string]string{
		"a marked secret": "planted-marked", "one that its name says": "planted-unmarked", "one that its form says": "planted-pem", "one in an address": "planted-url",
	}
	searchFor(t, secrets, map[string][]byte{"the output": []byte(printed.String())})
	kept := filesBelow(t, e.root)
	for name := range kept {
		isState := strings.Contains(name, "/state/") || strings.Contains(name, "/clouds/")
		if isState || strings.HasSuffix(name, "Pulumi.yaml") || strings.HasSuffix(name, "plan.json") {
			delete(kept, name) // rules and saved plans have what a program has not marked
		}
	}
	if len(kept) < 10 {
		t.Fatalf("only %d files were searched", len(kept))
	}
	searchFor(t, secrets, kept)
	plan, err := os.ReadFile(filepath.Join(e.root, "plan.json"))
	if err != nil || strings.Contains(string(plan), "planted-marked") {
		t.Errorf("the plan has a marked secret: %v", err)
	}
}
