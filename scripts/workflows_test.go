package scripts

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/rhysd/actionlint"
	"gopkg.in/yaml.v3"
)

// lint returns actionlint's findings in a workflow of this repository.
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
		for right, wrong := range map[string]string{"matrix.system": "matrix.nothing", "timeout-minutes": "timeout-hours", "          version: ${{ needs.tag": "          versoin: ${{ needs.tag", "needs: [tag, publish]": "needs: [tag, publihs]"} {
			broken := bytes.Replace(content, []byte(right), []byte(wrong), 1)
			if bytes.Contains(content, []byte(right)) && len(lint(t, path, broken)) == 0 {
				t.Errorf("%s: nothing is found with %s", filepath.Base(path), wrong)
			}
		}
	}
}

// TestWorkflowsRunWhatIsThere: the scripts and directories that workflows name exist.
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
		for _, directory := range update.Directories {
			files = append(files, filepath.Join("..", directory, "go.mod"))
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

// workflow is what the tests read of a workflow.
type workflow struct {
	Permissions map[string]string
	Jobs        map[string]struct {
		Needs       yaml.Node
		Permissions map[string]string
		Steps       []struct {
			Name, Uses, Run string
			With            map[string]any
		}
	}
}

func readWorkflow(t *testing.T, path string) workflow {
	t.Helper()
	content, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var w workflow
	if err := yaml.Unmarshal(content, &w); err != nil {
		t.Fatal(err)
	}
	return w
}

// needs returns the jobs that a job waits for, directly or not.
func (w workflow) needs(t *testing.T, job string) []string {
	t.Helper()
	var direct []string
	node := w.Jobs[job].Needs
	if node.Kind == yaml.ScalarNode {
		direct = []string{node.Value}
	} else if err := node.Decode(&direct); !node.IsZero() && err != nil {
		t.Fatal(err)
	}
	all := direct
	for _, before := range direct {
		all = append(all, w.needs(t, before)...)
	}
	return all
}

// TestWorkflowsPinActions checks that workflows use actions by commit, and write nothing
// unless a job says so.
func TestWorkflowsPinActions(t *testing.T) {
	t.Parallel()
	paths, err := filepath.Glob("../.github/workflows/*.yml")
	if err != nil {
		t.Fatal(err)
	}
	pinned, actions := regexp.MustCompile(`^[\w.-]+/[\w./-]+@[0-9a-f]{40}$`), 0
	for _, path := range paths {
		w := readWorkflow(t, path)
		if len(w.Permissions) != 1 || w.Permissions["contents"] != "read" {
			t.Errorf("%s: the workflow has the permissions %v", path, w.Permissions)
		}
		for name, job := range w.Jobs {
			for _, step := range job.Steps {
				if step.Uses == "" || strings.HasPrefix(step.Uses, "./") {
					continue
				}
				if actions++; !pinned.MatchString(step.Uses) {
					t.Errorf("%s: job %s uses %s, which is not pinned by a commit", path, name, step.Uses)
				}
			}
		}
	}
	if actions < 10 {
		t.Errorf("only %d actions were found", actions)
	}
}

// TestReleaseWorkflow checks that a release is tested, built and installed before
// it is published, without caches, and with no right that its job does not use.
func TestReleaseWorkflow(t *testing.T) {
	t.Parallel()
	w := readWorkflow(t, "../.github/workflows/release.yml")
	rights := map[string][]string{"publish": {"attestations", "contents", "id-token"}, "image": {"id-token", "packages"}}
	uses := map[string]string{"attestations": "actions/attest-build-provenance@", "id-token": "sigstore/cosign-installer@"}
	if tag := w.Jobs["tag"]; len(tag.Steps) != 2 || !strings.Contains(tag.Steps[1].Run, `$(scripts/release/tag.sh "$GITHUB_REF_NAME")`) {
		t.Errorf("the name of the tag and its commit are not checked: %+v", tag)
	}
	for name, job := range w.Jobs {
		if name != "tag" && !slices.Contains(w.needs(t, name), "tag") {
			t.Errorf("job %s does not wait for the check of the tag", name)
		}
		for _, step := range job.Steps {
			if strings.HasPrefix(step.Uses, "actions/cache") || strings.HasSuffix(step.Uses, "/setup") && step.With["cache"] != nil {
				t.Errorf("job %s uses a cache", name)
			}
		}
		var writes []string
		for right, level := range job.Permissions {
			if level == "write" {
				writes = append(writes, right)
			}
		}
		slices.Sort(writes)
		if !slices.Equal(writes, rights[name]) {
			t.Errorf("job %s may write %q, not %q", name, writes, rights[name])
		}
		used := ""
		for _, step := range job.Steps {
			used += step.Uses + "\n"
			if strings.HasPrefix(step.Uses, "actions/setup-go@") && step.With["cache"] != false {
				t.Errorf("job %s restores a cache of Go", name)
			}
			if strings.Contains(step.Run, "github.ref") || strings.Contains(step.Run, "needs.tag") {
				t.Errorf("job %s has the name of the tag in a script: %s", name, step.Run)
			}
		}
		for _, right := range writes {
			if action := uses[right]; !strings.Contains(used, action) {
				t.Errorf("job %s may write %s and does not use %s", name, right, action)
			}
		}
	}
	published := ""
	for _, step := range w.Jobs["publish"].Steps {
		published += fmt.Sprintln(step.Uses, step.Run, step.With["subject-checksums"])
	}
	at := -1
	for _, what := range []string{"cosign sign-blob", "attest-build-provenance", "  dist/checksums.txt", "gh release create", "dist/*"} {
		next := strings.Index(published, what)
		if next < at {
			t.Errorf("%q is missing, or comes too early:\n%s", what, published)
		}
		at = next
	}
	for job, before := range map[string][]string{"publish": {"tag", "test", "build", "installed", "windows"}, "image": {"publish", "test"}} {
		needs := w.needs(t, job)
		for _, needed := range before {
			if !slices.Contains(needs, needed) {
				t.Errorf("job %s does not wait for %s", job, needed)
			}
		}
	}
}

// TestReleaseTag has the names of tags checked, and where their commits are.
func TestReleaseTag(t *testing.T) {
	t.Parallel()
	script, err := filepath.Abs("release/tag.sh")
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	git := func(arguments ...string) {
		t.Helper()
		command := exec.Command("git", append([]string{"-c", "user.name=x", "-c", "user.email=x@example.com"}, arguments...)...)
		command.Dir = dir
		if out, err := command.CombinedOutput(); err != nil {
			t.Fatalf("git %q: %v\n%s", arguments, err, out)
		}
	}
	git("init", "-q", "-b", "main")
	git("commit", "-q", "--allow-empty", "-m", "one")
	git("tag", "v1.2.3")
	git("tag", "v1.2.3-rc.1")
	git("tag", "v1.2.3-x;id")
	git("checkout", "-q", "-b", "aside")
	git("commit", "-q", "--allow-empty", "-m", "two")
	git("tag", "v1.2.4")
	for tag, want := range map[string]string{
		"v1.2.3":      "1.2.3\n",
		"v1.2.3-rc.1": "1.2.3-rc.1\n",
		"v1.2.3-x;id": "tag.sh: the tag is not of the form v1.2.3 or v1.2.3-rc.1\n",
		"v1.2":        "tag.sh: the tag is not of the form v1.2.3 or v1.2.3-rc.1\n",
		"v01.2.3":     "tag.sh: the tag is not of the form v1.2.3 or v1.2.3-rc.1\n",
		"1.2.3":       "tag.sh: the tag is not of the form v1.2.3 or v1.2.3-rc.1\n",
		"v1.2.3\nv4":  "tag.sh: the tag is not of the form v1.2.3 or v1.2.3-rc.1\n",
		"v1.2.4":      "tag.sh: the commit of v1.2.4 is not on main\n",
	} {
		command := exec.Command("sh", script, tag, "main")
		command.Dir = dir
		out, err := command.CombinedOutput()
		if string(out) != want || (err == nil) == strings.HasPrefix(want, "tag.sh") {
			t.Errorf("%q: %q, %v; want %q", tag, out, err, want)
		}
	}
}

// TestDemosRunInCI: a demonstration that nothing runs is broken some day, and nobody notices before a user does.
func TestDemosRunInCI(t *testing.T) {
	t.Parallel()
	read := func(path string) string {
		content, err := os.ReadFile(filepath.Join("..", path))
		if err != nil {
			t.Fatal(err)
		}
		return string(content)
	}
	demos := regexp.MustCompile(`(?m)^(demo[a-z-]*):`).FindAllStringSubmatch(read("Makefile"), -1)
	if len(demos) < 2 {
		t.Fatalf("demos %v", demos)
	}
	for _, path := range []string{".ci/run", ".github/workflows/test.yml"} {
		for _, demo := range demos {
			if !regexp.MustCompile(`(?m)\bmake ` + demo[1] + `$`).MatchString(read(path)) {
				t.Errorf("%s does not run `make %s`", path, demo[1])
			}
		}
	}
}
