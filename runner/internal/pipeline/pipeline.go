// Package pipeline writes pipelines for CI systems: a preview on a pull request with
// one comment about all environments, an up on a merge in waves, and a look for drift
// at night. The pipelines are templates with as little in them as possible: what a
// job does is the runner's.
package pipeline

import (
	"bytes"
	"embed"
	"fmt"
	"path"
	"slices"
	"strings"
	"text/template"

	"github.com/pulumi/pulumi/sdk/v3/go/common/slice"
)

//go:embed *.yml
var templates embed.FS

// System is a CI system.
type System string

// The systems that there are pipelines for.
const (
	GitHub System = "github"
	GitLab System = "gitlab"
)

// Systems lists them.
func Systems() []System { return []System{GitHub, GitLab} }

// File is where the system looks for a pipeline, from the top of the repository.
func (s System) File() string {
	if s == GitLab {
		return ".gitlab-ci.yml"
	}
	return ".github/workflows/runner.yml"
}

// Options say what a pipeline does.
type Options struct {
	Waves   [][]string // environments; each wave waits for the one before
	Image   string     // with the runner
	Folder  string     // of the root, from the top of the repository; "." for the top
	Branch  string     // that a merge goes to
	Nightly string     // when to look for drift, as cron has it
	// AWSRole is what jobs become on AWS, by OIDC; "" without AWS. AWSRegion goes with it.
	AWSRole, AWSRegion string
	Secrets            []string // variables that the CI system keeps secret
	Variables          []string // others that it keeps
}

// Environments lists the environments of all waves.
func (o Options) Environments() []string { return slices.Concat(o.Waves...) }

// Wave is a wave of an up, as templates see it.
type Wave struct {
	Number       int
	Environments []string
}

// Previous is the number of the wave before.
func (w Wave) Previous() int { return w.Number - 1 }

// UpWaves are the waves with their numbers, from 1.
func (o Options) UpWaves() []Wave {
	var waves []Wave
	for i, environments := range o.Waves {
		waves = append(waves, Wave{Number: i + 1, Environments: environments})
	}
	return waves
}

// Write writes the pipeline.
func Write(s System, o Options) ([]byte, error) {
	functions := template.FuncMap{
		"list": list, "quote": quote, "inside": path.Join,
		"one": func(text string) []string { return []string{text} }, "join": func(texts []string) string {
			return strings.Join(texts, " ")
		},
	}
	// Both systems have braces of their own.
	t, err := template.New("").Delims("[[", "]]").Funcs(functions).ParseFS(templates, string(s)+".yml")
	if err != nil {
		return nil, err
	}
	var b bytes.Buffer
	err = t.ExecuteTemplate(&b, string(s)+".yml", o)
	return b.Bytes(), err
}

// list is a list in YAML, on one line.
func list(texts []string) string {
	return "[" + strings.Join(slice.Map(texts, quote), ", ") + "]"
}

// quote is a text in YAML.
func quote(text string) string { return fmt.Sprintf("%q", text) }
