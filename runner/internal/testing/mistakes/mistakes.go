// Package mistakes has two tables of configurations: mistakes, each with where it is named, and inputs that are valid
// but unusual, which nothing may refuse.
package mistakes

import (
	_ "embed"
	"strings"
	"testing"

	"gopkg.in/yaml.v3"
)

//go:embed mistakes.yaml
var mistakes []byte

//go:embed valid.yaml
var valid []byte

// Outcome is where a mistake is named.
type Outcome string

// The outcomes, which mistakes.yaml explains.
const (
	Check   Outcome = "check"
	File    Outcome = "file"
	Preview Outcome = "preview"
	Rule    Outcome = "rule"
	Late    Outcome = "late"
)

// Input is a row of a table.
type Input struct {
	Name    string
	Config  string            // of Pulumi.dev.yaml; "" for no such file
	Files   map[string]string // others
	Args    string            // of the runner; "" for `runner check`
	Outcome Outcome           // of a mistake
	Want    string            // what is said of a mistake, without "error" and "warning"
	Why     string            // a mistake is named late
	Warns   string            // what is said of a valid input; "" for no warning
}

// All returns the mistakes.
func All(t *testing.T) []Input { return read(t, mistakes) }

// Valid returns the valid inputs.
func Valid(t *testing.T) []Input { return read(t, valid) }

func read(t *testing.T, content []byte) (rows []Input) {
	t.Helper()
	if err := yaml.Unmarshal(content, &rows); err != nil {
		t.Fatal(err)
	}
	return rows
}

// Write writes the files of an input with a function that takes a name below the root.
func (in Input) Write(write func(name, content string)) {
	if in.Config != "" {
		lines := strings.NewReplacer(
			"KIND", "kubernetes:infra_type: kind", "AWS", "kubernetes:infra_type: aws\n  aws:region: us-west-2",
			"LINODE", "kubernetes:infra_type: linode\n  lke:region: us-ord", "DO", "kubernetes:infra_type: digitalocean",
		)
		first, rest, _ := strings.Cut(in.Config, "\n")
		content := "config:\n  " + lines.Replace(first) + "\n" + rest
		write("config/pulumi/Pulumi.dev.yaml", strings.TrimRight(content, "\n")+"\n")
	}
	for name, content := range in.Files {
		write(name, content)
	}
}

// Plain returns what was said without the words that tell errors from warnings.
func Plain(said string) string {
	return strings.NewReplacer(": error: ", ": ", ": warning: ", ": ").Replace(said)
}
