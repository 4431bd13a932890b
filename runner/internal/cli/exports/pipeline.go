package exports

import (
	"bytes"
	"embed"
	"fmt"
	"path"
	"slices"
	"strings"
	"text/template"
)

// templates are the pipelines, with as little logic as possible: jobs call the runner. They
// preview on a pull request, with one comment about all environments; they bring environments
// up on a merge, in waves; and they check for drift every night.
//
//go:embed *.yml
var templates embed.FS

// pipelineFiles maps the supported CI systems to the path of their pipeline in a repository.
func pipelineFiles() map[string]string {
	return map[string]string{"github": ".github/workflows/runner.yml", "gitlab": ".gitlab-ci.yml"}
}

// pipeline has the values of a pipeline.
type pipeline struct {
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
func (p pipeline) Environments() []string { return slices.Concat(p.Waves...) }

// render renders the pipeline for a CI system.
func (p pipeline) render(system string) ([]byte, error) {
	quote := func(text string) string { return fmt.Sprintf("%q", text) } // as in YAML
	functions := template.FuncMap{
		"quote": quote, "inside": path.Join,
		"join": func(texts []string) string { return strings.Join(texts, " ") },
		"inc":  func(n int) int { return n + 1 },
		"list": func(texts []string) string { // in YAML, on one line
			var quoted []string
			for _, text := range texts {
				quoted = append(quoted, quote(text))
			}
			return "[" + strings.Join(quoted, ", ") + "]"
		},
	}
	// Both systems use braces themselves.
	t, err := template.New("").Delims("[[", "]]").Funcs(functions).ParseFS(templates, system+".yml")
	if err != nil {
		return nil, err
	}
	var b bytes.Buffer
	err = t.ExecuteTemplate(&b, system+".yml", p)
	return b.Bytes(), err
}
