package export

import (
	"bytes"
	"encoding/json"
	"errors"
	"flag"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/rhysd/actionlint"
	"github.com/santhosh-tekuri/jsonschema/v6"
	"gopkg.in/yaml.v3"

	"mara/runner/internal/testing/scripttest"
)

var update = flag.Bool("update", false, "write the golden files")

// cases returns the options of the tested pipelines.
func cases() map[string]pipeline {
	return map[string]pipeline{
		"one": {Waves: [][]string{{"dev"}}, Image: "registry.example/runner:1", Directory: ".", Branch: "main", Nightly: "17 3 * * *"},
		"waves": {
			Waves: [][]string{{"dev"}, {"prod-eu", "prod-us"}}, Image: "registry.example/runner:1", Directory: "infra/live", Branch: "trunk", Nightly: "17 3 * * *",
			AWSRole: "arn:aws:iam::123456789012:role/runner", AWSRegion: "eu-west-1",
			Secrets: []string{"PULUMI_CONFIG_PASSPHRASE", "LINODE_TOKEN"}, Variables: []string{"PULUMI_BACKEND_URL"},
		},
	}
}

func write(t *testing.T, system string, p pipeline) []byte {
	t.Helper()
	content, err := p.render(system)
	if err != nil {
		t.Fatal(err)
	}
	return content
}

func TestGolden(t *testing.T) {
	t.Parallel()
	for name, o := range cases() {
		for s := range pipelineFiles() {
			golden := filepath.Join("testdata", s+"-"+name+".yml")
			got := write(t, s, o)
			if *update {
				if err := errors.Join(os.MkdirAll("testdata", 0o755), os.WriteFile(golden, got, 0o644)); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(golden)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(string(want), string(got)); diff != "" {
				t.Errorf("%s (-want +got):\n%s", golden, diff)
			}
		}
	}
}

// lint returns actionlint's findings.
func lint(t *testing.T, content []byte) []*actionlint.Error {
	t.Helper()
	linter, err := actionlint.NewLinter(io.Discard, &actionlint.LinterOptions{})
	if err != nil {
		t.Fatal(err)
	}
	found, err := linter.Lint("runner.yml", content, nil)
	if err != nil {
		t.Fatal(err)
	}
	return found
}

func TestActionlint(t *testing.T) {
	t.Parallel()
	for name, o := range cases() {
		content := write(t, "github", o)
		for _, problem := range lint(t, content) {
			t.Errorf("%s: %v", name, problem)
		}
		for line := range bytes.Lines(content) {
			if bytes.Contains(line, []byte("uses: ")) && !regexp.MustCompile(`@[0-9a-f]{40} # v[\d.]+\n$`).Match(line) {
				t.Errorf("%s: an action that is not pinned by a commit: %s", name, line)
			}
		}
		broken := bytes.Replace(content, []byte("matrix.environment"), []byte("matrix.nothing"), 1)
		if len(lint(t, broken)) == 0 {
			t.Error("actionlint finds nothing in a broken workflow")
		}
	}
}

// job is a job of GitLab, with the keywords that the pipelines use and the shapes
// that GitLab's reference gives them (https://docs.gitlab.com/ci/yaml/). GitLab's own
// schema comes with no module; gitlabSchema names a copy of it.
type job struct {
	Extends string
	Stage   string
	Image   image
	Rules   []struct{ If, When string }
	Needs   []struct {
		Job       string
		Artifacts bool
	}
	Parallel      struct{ Matrix []map[string][]string }
	Interruptible bool
	Timeout       string
	Cache         struct {
		Key   string
		Paths []string
	}
	Variables     map[string]string
	IDTokens      map[string]struct{ Aud string } `yaml:"id_tokens"`
	BeforeScript  []string                        `yaml:"before_script"`
	Script        []string
	Environment   struct{ Name string }
	ResourceGroup string `yaml:"resource_group"`
	Artifacts     struct {
		When     string
		ExpireIn string `yaml:"expire_in"`
		Paths    []string
	}
}

// image is a name, or a name with an entrypoint.
type image struct {
	Name       string
	Entrypoint []string
}

// UnmarshalYAML implements yaml.Unmarshaler.
func (i *image) UnmarshalYAML(node *yaml.Node) error {
	if node.Kind == yaml.ScalarNode {
		return node.Decode(&i.Name)
	}
	type plain image
	return node.Decode((*plain)(i))
}

// gitlabPipeline reads a pipeline strictly.
func gitlabPipeline(content []byte) (stages []string, jobs map[string]job, err error) {
	var p struct {
		Stages []string
		Jobs   map[string]job `yaml:",inline"`
	}
	decoder := yaml.NewDecoder(bytes.NewReader(content))
	decoder.KnownFields(true)
	err = decoder.Decode(&p)
	return p.Stages, p.Jobs, err
}

// problemsOf lists what GitLab would refuse: unknown stages and jobs, jobs without a
// script, and scripts that are not valid shell.
func problemsOf(t *testing.T, content []byte) []string {
	stages, jobs, err := gitlabPipeline(content)
	if err != nil {
		return []string{err.Error()}
	}
	var problems []string
	for name, j := range jobs {
		for _, line := range slices.Concat(j.BeforeScript, j.Script) {
			if err := parses(t, line); err != nil {
				problems = append(problems, name+": "+err.Error())
			}
		}
		if strings.HasPrefix(name, ".") {
			continue
		}
		if j.Extends != "" && jobs[j.Extends].Image.Name == "" {
			problems = append(problems, name+" extends nothing")
		}
		if !slices.Contains(stages, j.Stage) || len(j.Script) == 0 || len(j.Rules) == 0 {
			problems = append(problems, name+" has no stage, no script or no rules")
		}
		for _, need := range j.Needs {
			other, there := jobs[need.Job]
			if !there || slices.Index(stages, other.Stage) >= slices.Index(stages, j.Stage) {
				problems = append(problems, name+" needs "+need.Job)
			}
		}
	}
	return problems
}

func parses(t *testing.T, script string) error {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "sh", "-n")
	cmd.Stdin = strings.NewReader(script)
	if output, err := cmd.CombinedOutput(); err != nil {
		return errors.New(string(output))
	}
	return nil
}

func TestGitLab(t *testing.T) {
	t.Parallel()
	for name, o := range cases() {
		content := write(t, "gitlab", o)
		for _, problem := range problemsOf(t, content) {
			t.Errorf("%s: %s", name, problem)
		}
		for _, breakage := range [][2]string{{"stage: drift", "stage: drfit"}, {"script:", "scrpt:"}, {"extends: .runner", "extends: .ruler"}, {"job: preview", "job: previw"}, {"if [ -n", "if [ -n ("}} {
			broken := bytes.ReplaceAll(content, []byte(breakage[0]), []byte(breakage[1]))
			if len(problemsOf(t, broken)) == 0 {
				t.Errorf("%s is not found", breakage[1])
			}
		}
	}
}

// gitlabSchema names a file with GitLab's JSON schema of pipelines, app/assets/
// javascripts/editor/schema/ci.json in its repository.
const gitlabSchema = "MARA_GITLAB_SCHEMA"

func TestGitLabSchema(t *testing.T) {
	t.Parallel()
	file := os.Getenv(gitlabSchema)
	if file == "" {
		t.Skip(gitlabSchema + " does not name a file with GitLab's schema")
	}
	schema, err := jsonschema.NewCompiler().Compile(file)
	if err != nil {
		t.Fatal(err)
	}
	for name, o := range cases() {
		var value any
		if err := yaml.Unmarshal(write(t, "gitlab", o), &value); err != nil {
			t.Fatal(err)
		}
		if err := schema.Validate(value); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// step finds the script of a step of a GitHub workflow.
func step(t *testing.T, content []byte, jobName, stepName string) string {
	t.Helper()
	var workflow struct {
		Jobs map[string]struct {
			Steps []struct{ Name, Run string }
		}
	}
	if err := yaml.Unmarshal(content, &workflow); err != nil {
		t.Fatal(err)
	}
	for _, s := range workflow.Jobs[jobName].Steps {
		if s.Name == stepName {
			return s.Run
		}
	}
	t.Fatalf("%s has no step %s", jobName, stepName)
	return ""
}

// reports writes the reports of previews into a new directory.
func reports(t *testing.T, environments ...string) string {
	t.Helper()
	dir := t.TempDir()
	if err := os.Mkdir(filepath.Join(dir, "report"), 0o755); err != nil {
		t.Fatal(err)
	}
	for _, environment := range environments {
		if err := os.WriteFile(filepath.Join(dir, "report", environment+".md"), []byte("changes of "+environment+"\n"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// sh runs a script as a CI system does.
func sh(t *testing.T, shell, dir, tools, script string, env ...string) (code int) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), shell, "-e", "-c", script)
	cmd.Dir, cmd.Env = dir, append([]string{"PATH=" + tools + ":" + os.Getenv("PATH")}, env...)
	output, err := cmd.CombinedOutput()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		t.Fatal(err)
	}
	if cmd.ProcessState.ExitCode() != 0 {
		t.Logf("%s", output)
	}
	return cmd.ProcessState.ExitCode()
}

// TestCommentOnGitHub runs the script twice: the second time the comment is replaced.
func TestCommentOnGitHub(t *testing.T) {
	t.Parallel()
	script := step(t, write(t, "github", cases()["waves"]), "comment", "Comment")
	dir := reports(t, "dev", "prod-eu")
	// gh stores its input; it fails on unexpected calls.
	tools := scripttest.Directory(t, map[string]string{"gh": `
case "$*" in
"api --paginate repos/acme/infra/issues/7/comments --jq"*) [ ! -e comments ] || echo 42;;
"api --method POST repos/acme/infra/issues/7/comments -F body=@comment.md --silent") cp comment.md comments; echo posted >> calls;;
"api --method PATCH repos/acme/infra/issues/comments/42 -F body=@comment.md --silent") cp comment.md comments; echo replaced >> calls;;
*) echo "unexpected: gh $*" >&2; exit 1;;
esac`})
	for range 2 {
		if code := sh(t, "bash", dir, tools, script, "GITHUB_REPOSITORY=acme/infra", "PULL=7", "RESULT=failure", "ENVIRONMENTS=dev prod-eu prod-us"); code != 0 {
			t.Fatalf("exit code %d", code)
		}
	}
	calls, _ := os.ReadFile(filepath.Join(dir, "calls"))
	comment, _ := os.ReadFile(filepath.Join(dir, "comments"))
	want := "<!-- runner preview -->\n**The preview: failure.** The jobs of this pull request say why.\n\n## dev\n\nchanges of dev\n\n## prod-eu\n\nchanges of prod-eu\n\n## prod-us\n\nThere is no preview.\n"
	if string(calls) != "posted\nreplaced\n" || string(comment) != want {
		t.Errorf("calls %q, comment %q", calls, comment)
	}
}

// TestDriftOnGitHub opens one issue, keeps it up to date and closes it.
func TestDriftOnGitHub(t *testing.T) {
	t.Parallel()
	script := step(t, write(t, "github", cases()["one"]), "drift", "Tell")
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "drift.md"), []byte("drift\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	tools := scripttest.Directory(t, map[string]string{"gh": `
echo "$1 $2 $3" >> calls
case "$1 $2" in
"issue list") [ ! -e open ] || echo 9;;
"issue create") [ "$3 $4" = "--title Drift in dev" ] && touch open;;
"issue edit") [ "$3" = 9 ];;
"issue close") [ "$3" = 9 ] && rm open;;
*) exit 1;;
esac`})
	for _, now := range []int{0, 5, 5, 0} {
		code := map[int]string{0: "0", 5: "5"}[now]
		if got := sh(t, "bash", dir, tools, script, "RUNNER_TEMP="+dir, "TITLE=Drift in dev", "CODE="+code); got != now {
			t.Errorf("exit code %d, want %d", got, now)
		}
	}
	calls, _ := os.ReadFile(filepath.Join(dir, "calls"))
	want := "issue list --state\nissue list --state\nissue create --title\nissue list --state\nissue edit 9\nissue list --state\nissue close 9\n"
	if diff := cmp.Diff(want, string(calls)); diff != "" {
		t.Errorf("calls (-want +got):\n%s", diff)
	}
}

// TestCommentOnGitLab runs the script twice against a stand-in for curl.
func TestCommentOnGitLab(t *testing.T) {
	t.Parallel()
	if _, err := exec.LookPath("jq"); err != nil {
		t.Skip("there is no jq")
	}
	_, jobs, err := gitlabPipeline(write(t, "gitlab", cases()["waves"]))
	if err != nil {
		t.Fatal(err)
	}
	dir := reports(t, "dev", "prod-us")
	tools := scripttest.Directory(t, map[string]string{
		"apk": "exit 0",
		"curl": `
for last; do :; done
case "$* " in
*"PRIVATE-TOKEN: hidden"*" --request POST --data @comment.json https://gitlab.example/api/v4/projects/3/merge_requests/5/notes ") cp comment.json note; echo posted >> calls;;
*" --request PUT --data @comment.json https://gitlab.example/api/v4/projects/3/merge_requests/5/notes/8 ") cp comment.json note; echo replaced >> calls;;
*"/notes?per_page=100"*) if [ -e note ]; then jq '[{id: 1, body: "other"}, {id: 8, body: .body}]' note; else echo '[{"id": 1, "body": "other"}]'; fi;;
*) echo "unexpected: curl $*" >&2; exit 1;;
esac`,
	})
	for range 2 {
		for _, script := range jobs["comment"].Script {
			if code := sh(t, "sh", dir, tools, script, "COMMENT_TOKEN=hidden", "CI_API_V4_URL=https://gitlab.example/api/v4", "CI_PROJECT_ID=3",
				"CI_MERGE_REQUEST_IID=5", "ENVIRONMENTS="+jobs["comment"].Variables["ENVIRONMENTS"]); code != 0 {
				t.Fatalf("exit code %d", code)
			}
		}
	}
	calls, _ := os.ReadFile(filepath.Join(dir, "calls"))
	content, _ := os.ReadFile(filepath.Join(dir, "note"))
	var note struct{ Body string }
	if err := json.Unmarshal(content, &note); err != nil || string(calls) != "posted\nreplaced\n" || !strings.Contains(note.Body, "## prod-eu\n\nThere is no preview") || !strings.Contains(note.Body, "changes of prod-us") {
		t.Errorf("calls %q, note %q, error %v", calls, content, err)
	}
}
