package e2e

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// edit replaces a string in a file of the root, and returns a function that undoes it.
func (e *environment) edit(file, old, replacement string) (undo func()) {
	e.t.Helper()
	content, err := os.ReadFile(filepath.Join(e.root, file))
	if err != nil || !strings.Contains(string(content), old) {
		e.t.Fatalf("%s does not have %q: %v", file, old, err)
	}
	e.write(file, strings.ReplaceAll(string(content), old, replacement))
	return func() { e.write(file, string(content)) }
}

// expectText checks a command's exit code, and that its output has all of the texts.
func (e *environment) expectText(code int, texts []string, args ...string) {
	e.t.Helper()
	r := e.run(args...)
	if r.code != code {
		e.t.Errorf("%s: exit code %d, want %d\n%s%s", strings.Join(args, " "), r.code, code, r.stdout, r.stderr)
	}
	for _, text := range texts {
		if !strings.Contains(r.stdout+r.stderr, text) {
			e.t.Errorf("%s does not say %q:\n%s%s", strings.Join(args, " "), text, r.stdout, r.stderr)
		}
	}
}

// expectChangedOutputs changes nothing but an output of the deployed example "own".
func expectChangedOutputs(t *testing.T, e *environment) {
	t.Helper()
	undo := e.edit("network/Pulumi.yaml", "shop.example.com", "books.example.org")
	defer undo()
	changed := `    ~ domain: "shop.example.com" => "books.example.org"`
	e.expectText(5, []string{changed, "SAME  OUTPUTS", "to change"}, "preview", "--exit-code", "--report", filepath.Join(e.root, "r.md"))
	if report, err := os.ReadFile(filepath.Join(e.root, "r.md")); err != nil || !strings.Contains(string(report), strings.TrimSpace(changed)) {
		t.Errorf("the report does not have the output: %v\n%s", err, report)
	}
	e.write("policies/no-domain.jq", "def deny: .projects[] as $p | $p.outputs[]? | select(.name == \"domain\") | \"\\($p.name): domain may not change\";\n")
	e.expectText(1, []string{"shop-network: domain may not change"}, "preview")
	if err := os.RemoveAll(filepath.Join(e.root, "policies")); err != nil {
		t.Fatal(err)
	}
	person := e.sit("up", "--ui", "plain")
	person.answer(typed("Deploy this to the stack dev (4 outputs to change)?", "y"))
	if screen := person.end(0); strings.Count(screen, strings.TrimSpace(changed)) != 2 {
		t.Errorf("preview and up do not both have the output:\n%s", screen)
	}
	e.expectText(0, []string{"no changes"}, "preview", "--exit-code")
}

// expectOutputsAreAContract renames an output of the deployed example "own" that both
// other projects read, and leaves the example as it was.
func expectOutputsAreAContract(t *testing.T, e *environment) {
	t.Helper()
	undo := e.edit("network/Main.yaml", "domain: ", "dns: ")
	const exported = `reads output "domain" of shop-network, which exports dns, range (network/Main.yaml:1)`
	both := []string{"database/Main.yaml:7 " + exported, "shop/Main.yaml:11 " + exported}
	e.expectText(3, both, "preview")
	e.expectText(3, append(both, "nothing was changed", "--on-missing-output warn"), "up", "--yes")
	e.expectText(0, []string{"domain: "}, "outputs", "shop-network")
	e.expectText(0, []string{`output "domain" would go, and shop reads it (shop/Main.yaml:11)`, "    - domain: "}, "preview", "--only", "shop-network")
	report := filepath.Join(e.root, "r.md")
	e.expectText(0, []string{`output \"domain\" would go, and shop reads it`}, "preview", "--only", "shop-network", "-o", "json", "--report", report)
	if text, err := os.ReadFile(report); err != nil || !strings.Contains(string(text), "would go, and shop reads it (shop/Main.yaml:11)") {
		t.Errorf("the report does not have the output that would go: %v\n%s", err, text)
	}
	e.expectText(0, append(both, "https://<nil>/"), "up", "--yes", "--on-missing-output", "warn")
	e.expectText(3, []string{"shop/Main.yaml:11 " + exported}, "up", "--yes", "--only", "shop")
	undo()
	e.expectText(0, []string{"    + domain: "}, "up", "--yes")
	undo = e.edit("network/Main.yaml", "outputs:\n", "outputs:\n  token: {fn::secret: first-token}\n")
	e.expectText(0, []string{"    + token: [secret]"}, "up", "--yes")
	e.edit("network/Main.yaml", "first-token", "other-token")
	e.expectText(5, []string{"    ~ token: [secret] => [secret]"}, "preview", "--exit-code")
	e.expectText(0, []string{"    ~ token: [secret] => [secret]", "1 output changed"}, "up", "--yes")
	undo() // an output that no project reads
	e.expectText(0, []string{"    - token: [secret]", "1 output changed"}, "up", "--yes")
}

// expectContractAmongLanguages looks, in the deployed example "mixed", at an output of a
// built-in project that is misspelt, and at one that a program in Go may read.
func expectContractAmongLanguages(t *testing.T, e *environment) {
	t.Helper()
	undo := e.edit("greeting/Main.yaml", `outputs["kubeconfig"]`, `outputs["kubeconfg"]`)
	e.expectText(3, []string{`greeting/Main.yaml:13 reads output "kubeconfg" of kubeconfig, which exports `, `did you mean "kubeconfig"?`},
		"preview", "--simulate", "--only", "kubeconfig,greeting")
	undo()
	undo = e.edit("greeting/Main.yaml", "  message: ", "  text: ")
	e.expectText(0, []string{
		`output "message" would go, and banner reads outputs of this stack; the runner does not know which`,
		"mara.yaml:10 lists the output message, but the program exports text (greeting/Main.yaml:",
	}, "preview", "--simulate", "--only", "greeting")
	e.expectText(1, []string{`banner/Pulumi.yaml reads output "message" of greeting, which exports text (greeting/Main.yaml:`},
		"preview", "--simulate", "--only", "greeting,banner")
	undo()
	e.write("logs/Pulumi.yaml", "name: logstore\nruntime: yaml\noutputs:\n  hostname: logs.example.com\n  port: 9200\n")
	undo = e.edit("mara.yaml", "projects:", "projects:\n  - {path: logs, replaces: logstore}")
	e.expectText(1, []string{`logagent reads output "host" of logstore, which exports hostname, port (logs/Pulumi.yaml:3)`},
		"preview", "--simulate", "--only", "logstore,logagent")
	undo()
}
