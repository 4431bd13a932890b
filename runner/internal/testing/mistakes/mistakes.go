// Package mistakes has two tables of configurations: mistakes, each with where it is named, and inputs that are valid
// but unusual, which nothing may refuse.
package mistakes

import (
	_ "embed"
	"strings"

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
	App     string            // keys of the application shop in mara.yaml, beside an image
	Program string            // lines of net/Pulumi.yaml, the only project
	Files   map[string]string // others
	Args    string            // of the runner; "" for `runner check`
	Outcome Outcome           // of a mistake
	Want    string            // what is said of a mistake, without "error" and "warning"
	Why     string            // a mistake is named late
	Warns   string            // what is said of a valid input; "" for no warning
}

// Table returns the mistakes.
func Table() []Input { return read(mistakes) }

// ValidTable returns the valid inputs.
func ValidTable() []Input { return read(valid) }

func read(content []byte) (rows []Input) {
	if err := yaml.Unmarshal(content, &rows); err != nil {
		panic(err) // it is built in
	}
	return rows
}

// Write writes the files of an input with a function that takes a name below the root.
func (in Input) Write(write func(name, content string)) {
	if in.App != "" {
		write("mara.yaml", "providers: {kind: {}}\napplications:\n  shop:\n"+withImage(in.App)+"\n")
	}
	if in.Program != "" {
		write("mara.yaml", "projects: [{path: net}]\n")
		write("net/Pulumi.yaml", "name: net\nruntime: yaml\n"+in.Program+"\n")
		write("config/pulumi/Pulumi.dev.yaml", "config: {}\n")
	}
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

func withImage(keys string) string {
	if strings.HasPrefix(keys, "image:") {
		return "    " + keys
	}
	return "    image: ghcr.io/acme/shop:1.2.3\n    " + keys
}

// Plain returns what was said without the words that tell errors from warnings.
func Plain(said string) string {
	return strings.NewReplacer(": error: ", ": ", ": warning: ", ": ").Replace(said)
}
