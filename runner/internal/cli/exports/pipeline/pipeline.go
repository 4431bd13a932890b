// Package pipeline writes pipelines for CI systems: a preview on a pull request, with one
// comment about all environments; an up on a merge, in waves; and a nightly drift check.
// The pipelines are templates with as little logic as possible: jobs call the runner.
package pipeline

import (
	"bytes"
	"embed"
	"fmt"
	"path"
	"slices"
	"strings"
	"text/template"
)

//go:embed *.yml
var templates embed.FS

// System is a CI system.
type System string

// The supported systems.
const (
	GitHub System = "github"
	GitLab System = "gitlab"
)

// Systems lists the supported systems.
func Systems() []System { return []System{GitHub, GitLab} }

// File returns the path of the system's pipeline in the repository.
func (s System) File() string {
	if s == GitLab {
		return ".gitlab-ci.yml"
	}
	return ".github/workflows/runner.yml"
}

// Options configure a pipeline.
type Options struct {
	Waves     [][]string // environments; each wave waits for the one before
	Image     string     // with the runner
	Directory string     // of the root in the repository; "." for the top
	Branch    string     // whose merges trigger an up
	Nightly   string     // cron schedule of the drift check
	// AWSRole is the role that jobs assume by OIDC in AWSRegion; "" without AWS.
	AWSRole, AWSRegion string
	Secrets            []string // secret variables of the CI system
	Variables          []string // its other variables
}

// Environments lists the environments of all waves.
func (o Options) Environments() []string { return slices.Concat(o.Waves...) }

// Wave is a wave of an up, for templates.
type Wave struct {
	Number       int
	Environments []string
}

// Previous returns the number of the previous wave.
func (w Wave) Previous() int { return w.Number - 1 }

// UpWaves returns the waves with their numbers, from 1.
func (o Options) UpWaves() []Wave {
	var waves []Wave
	for i, environments := range o.Waves {
		waves = append(waves, Wave{Number: i + 1, Environments: environments})
	}
	return waves
}

// Write renders the pipeline.
func Write(s System, o Options) ([]byte, error) {
	functions := template.FuncMap{
		"list": list, "quote": quote, "inside": path.Join,
		"one": func(text string) []string { return []string{text} }, "join": func(texts []string) string {
			return strings.Join(texts, " ")
		},
	}
	// Both systems use braces themselves.
	t, err := template.New("").Delims("[[", "]]").Funcs(functions).ParseFS(templates, string(s)+".yml")
	if err != nil {
		return nil, err
	}
	var b bytes.Buffer
	err = t.ExecuteTemplate(&b, string(s)+".yml", o)
	return b.Bytes(), err
}

// list returns a YAML list on one line.
func list(texts []string) string {
	var quoted []string
	for _, text := range texts {
		quoted = append(quoted, quote(text))
	}
	return "[" + strings.Join(quoted, ", ") + "]"
}

// quote returns a string in YAML.
func quote(text string) string { return fmt.Sprintf("%q", text) }
