package scripts

import (
	"bytes"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"testing"

	"github.com/rhysd/actionlint"
	"gopkg.in/yaml.v3"
)

// lint are actionlint's findings in a workflow of this repository.
func lint(t *testing.T, path string, content []byte) []*actionlint.Error {
	t.Helper()
	linter, err := actionlint.NewLinter(io.Discard, &actionlint.LinterOptions{})
	if err != nil {
		t.Fatal(err)
	}
	project, err := actionlint.NewProjects().At(path)
	if err != nil {
		t.Fatal(err)
	}
	found, err := linter.Lint(path, content, project)
	if err != nil {
		t.Fatal(err)
	}
	return found
}

// TestWorkflows holds the workflows against actionlint, which looks into the
// actions of this repository that they use, too.
func TestWorkflows(t *testing.T) {
	t.Parallel()
	paths, err := filepath.Glob("../.github/workflows/*.yml")
	if err != nil || len(paths) != 4 {
		t.Fatalf("workflows: %q, %v", paths, err)
	}
	for _, path := range paths {
		path, err := filepath.Abs(path)
		if err != nil {
			t.Fatal(err)
		}
		content, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		for _, problem := range lint(t, path, content) {
			t.Error(problem)
		}
		for right, wrong := range map[string]string{"matrix.system": "matrix.nothing", "timeout-minutes": "timeout-hours", "version: ${{ github.ref_name": "versoin: ${{ github.ref_name"} {
			broken := bytes.Replace(content, []byte(right), []byte(wrong), 1)
			if bytes.Contains(content, []byte(right)) && len(lint(t, path, broken)) == 0 {
				t.Errorf("%s: nothing is found with %s", filepath.Base(path), wrong)
			}
		}
	}
}

// TestWorkflowsRunWhatIsThere: the scripts and folders that workflows name exist.
func TestWorkflowsRunWhatIsThere(t *testing.T) {
	t.Parallel()
	var test struct {
		Jobs struct {
			Check struct {
				Strategy struct{ Matrix struct{ What []string } }
			}
		}
	}
	var updates struct {
		Updates []struct{ Directories []string }
	}
	for path, into := range map[string]any{"../.github/workflows/test.yml": &test, "../.github/dependabot.yml": &updates} {
		content, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if err := yaml.Unmarshal(content, into); err != nil {
			t.Fatal(err)
		}
	}
	files := []string{"../scripts/install.sh"}
	for _, what := range test.Jobs.Check.Strategy.Matrix.What {
		files = append(files, what+".sh")
	}
	modules := 0
	for _, update := range updates.Updates {
		for _, folder := range update.Directories {
			files = append(files, filepath.Join("..", folder, "go.mod"))
			modules++
		}
	}
	named := regexp.MustCompile(`\bscripts/[a-z/-]+\.sh\b`)
	workflows, err := filepath.Glob("../.github/workflows/*.yml")
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range workflows {
		content, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		for _, script := range named.FindAllString(string(content), -1) {
			files = append(files, "../"+script)
		}
	}
	if !slices.Contains(files, "../scripts/release/image.sh") {
		t.Errorf("the image is not among %q", files)
	}
	if len(files) < 4 || modules < 4 {
		t.Errorf("only %q are named", files)
	}
	for _, file := range files {
		if _, err := os.Stat(file); err != nil {
			t.Error(err)
		}
	}
}
