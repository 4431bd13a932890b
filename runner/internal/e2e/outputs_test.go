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
func (e *environment) expectText(code int, texts []string, args ...string) string {
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
	return r.stdout + r.stderr
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
	if text := e.expectText(0, []string{changed}, "up", "--yes"); strings.Contains(text, "no changes\n\n") {
		t.Errorf("up has changed nothing:\n%s", text)
	}
	e.expectText(0, []string{"no changes"}, "preview", "--exit-code")
}
