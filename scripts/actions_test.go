package scripts

import (
	"bytes"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"syscall"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"gopkg.in/yaml.v3"
)

// action is what the tests read of an action.
type action struct {
	Inputs  map[string]struct{ Default string }
	Outputs map[string]struct{ Value string }
	Runs    struct {
		Using string
		Steps []struct {
			ID, If, Shell, Run, Uses string
			Env                      map[string]string
		}
	}
}

func readAction(t *testing.T, name string) action {
	t.Helper()
	content, err := os.ReadFile("../.github/actions/" + name + "/action.yml")
	if err != nil {
		t.Fatal(err)
	}
	decoder := yaml.NewDecoder(bytes.NewReader(content))
	var a action
	if err := decoder.Decode(&a); err != nil {
		t.Fatal(err)
	}
	return a
}

// TestActions checks that outputs come from steps that there are, that no expression is in a script, where its value would be
// code, and that actions which are used are pinned by a commit.
func TestActions(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"setup", "run"} {
		a := readAction(t, name)
		ids := map[string]bool{}
		for _, step := range a.Runs.Steps {
			ids[step.ID] = true
			if strings.Contains(step.Run, "${{") {
				t.Errorf("%s: an expression in a script: %s", name, step.Run)
			}
			if step.Run != "" && step.Shell == "" {
				t.Errorf("%s: a step without a shell: %s", name, step.Run)
			}
			if step.Uses != "" && !regexp.MustCompile(`^[\w/-]+@[0-9a-f]{40}$`).MatchString(step.Uses) {
				t.Errorf("%s uses %s, which is not pinned by a commit", name, step.Uses)
			}
			for _, value := range step.Env {
				for _, input := range regexp.MustCompile(`inputs\.([\w-]+)`).FindAllStringSubmatch(value, -1) {
					if _, ok := a.Inputs[input[1]]; !ok {
						t.Errorf("%s has no input %s", name, input[1])
					}
				}
			}
		}
		for output, definition := range a.Outputs {
			from := regexp.MustCompile(`^\$\{\{ steps\.(\w+)\.outputs\.[\w-]+ \}\}$`).FindStringSubmatch(definition.Value)
			if from == nil || !ids[from[1]] {
				t.Errorf("%s: the output %s is %s", name, output, definition.Value)
			}
		}
		if a.Runs.Using != "composite" || len(a.Outputs) < 3 {
			t.Errorf("%s: %+v", name, a)
		}
	}
}

// TestSetupVersion asks which release the setup action installs, by the ref that a workflow uses it by.
func TestSetupVersion(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "windows" {
		t.Skip("Windows has no sh")
	}
	repository := t.TempDir()
	git := func(arguments ...string) string {
		t.Helper()
		command := exec.Command("git", append([]string{"-c", "user.name=x", "-c", "user.email=x@example.com", "-C", repository}, arguments...)...)
		out, err := command.CombinedOutput()
		if err != nil {
			t.Fatalf("git %q: %v\n%s", arguments, err, out)
		}
		return strings.TrimSpace(string(out))
	}
	git("init", "-q", "-b", "main")
	commits := map[string]string{}
	for _, tag := range []string{"v1.2.3", "v1.10.0", "v1.9.0", "v2.0.0-rc.1", "v12.0.0"} {
		git("commit", "-q", "--allow-empty", "-m", tag)
		git("tag", "-a", "-m", tag, tag)
		commits[tag] = git("rev-parse", "HEAD")
	}
	git("commit", "-q", "--allow-empty", "-m", "later")
	later := git("rev-parse", "HEAD")
	script, err := filepath.Abs("../.github/actions/setup/version.sh")
	if err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct{ version, ref, repository, want string }{
		{"1.2.3", "v1.9.0", "/nowhere", "1.2.3"},
		{"v1.2.3", "", "/nowhere", "1.2.3"},
		{"", "v1.9.0", "/nowhere", "1.9.0"},
		{"", "v2.0.0-rc.1", "/nowhere", "2.0.0-rc.1"},
		{"", "v1", repository, "1.10.0"},
		{"", "v1.9", repository, "1.9.0"},
		{"", "v3", repository, "setup: there is no release of v3"},
		{"", commits["v1.9.0"], repository, "1.9.0"},
		{"", later, repository, "setup: no release was made of the commit " + later},
		{"", "main", repository, "12.0.0"},
		{"", "", repository, "12.0.0"},
		{"", "main", "/nowhere", "setup: the tags of /nowhere cannot be listed"},
		{"1.2.3;id", "", repository, "setup: that is no version"},
		{"newest", "", repository, `setup: "newest" is no version`},
	} {
		command := exec.Command("sh", script)
		command.Env = []string{"PATH=" + os.Getenv("PATH"), "VERSION=" + tt.version, "REF=" + tt.ref, "REPOSITORY=" + tt.repository, "TMPDIR=" + t.TempDir()}
		out, err := command.CombinedOutput()
		lines := strings.Split(strings.TrimSpace(string(out)), "\n")
		if got := lines[len(lines)-1]; !strings.HasPrefix(got, tt.want) || (err != nil) != strings.HasPrefix(tt.want, "setup:") {
			t.Errorf("version %q, ref %q: %s, %v; want %s", tt.version, tt.ref, out, err, tt.want)
		}
	}
}

// scriptsIn writes scripts, by name and body, into a directory. No process starts meanwhile: it would have them open, and
// Linux starts no program that is open for writing.
func scriptsIn(t *testing.T, scripts map[string]string) (dir string) {
	t.Helper()
	dir = t.TempDir()
	syscall.ForkLock.RLock()
	defer syscall.ForkLock.RUnlock()
	for name, body := range scripts {
		if err := os.WriteFile(filepath.Join(dir, name), []byte("#!/bin/sh\n"+body+"\n"), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// runAction runs the script of the action with stand-ins for the runner and for gh, and returns its outputs, what gh was
// asked for, and the exit code. The runner writes report, if there is one, and ends with code.
func runAction(t *testing.T, report, code string, environment ...string) (outputs map[string]string, asked, comment string, exit int) {
	t.Helper()
	dir := t.TempDir()
	tools := scriptsIn(t, map[string]string{
		"runner": `echo "$#: $*" >>"` + dir + `/runner"
if [ "$1" = report ]; then echo "$5 of $2$3 $4" && exit; fi
for file; do :; done
[ ! -s "` + dir + `/given" ] || cp "` + dir + `/given" "$file"
exit ` + code,
		"gh": `echo "$*" >>"` + dir + `/asked"
for word; do case $word in body=@*) cp "${word#body=@}" "` + dir + `/comment" ;; esac; done
case $* in *--paginate*) echo "$EXISTING" ;; esac
[ -z "${REFUSE:-}" ] || exit 1`,
	})
	if err := os.WriteFile(filepath.Join(dir, "given"), []byte(report), 0o600); err != nil {
		t.Fatal(err)
	}
	command := exec.Command("bash", "../.github/actions/run/run.sh")
	command.Env = append([]string{
		"PATH=" + tools + ":" + os.Getenv("PATH"), "RUNNER_TEMP=" + dir, "GITHUB_OUTPUT=" + filepath.Join(dir, "outputs"),
		"GITHUB_REPOSITORY=o/r", `COMMAND=preview -s "de v" --config 'a=b c'`, "DIRECTORY=infra", "COMMENT=true", "PULL=7",
	}, environment...)
	said, err := command.CombinedOutput()
	t.Logf("%s%v", said, err)
	read := func(name string) string {
		content, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil {
			return ""
		}
		return string(content)
	}
	if first, _, _ := strings.Cut(read("runner"), "\n"); !strings.HasPrefix(first, "8: preview -s de v --config a=b c --non-interactive --report "+dir) {
		t.Errorf("the runner was called with %s", first)
	}
	outputs = map[string]string{}
	for line := range strings.Lines(read("outputs")) {
		name, value, _ := strings.Cut(strings.TrimSuffix(line, "\n"), "=")
		outputs[name] = value
	}
	for _, file := range []string{"report", "summary"} {
		if outputs[file] != "" {
			if _, err := os.Stat(outputs[file]); err != nil {
				t.Error(err)
			}
			outputs[file] = filepath.Base(outputs[file])
		}
	}
	return outputs, read("asked"), read("comment"), command.ProcessState.ExitCode()
}

// changed is the summary of a preview with changes, costs and findings.
const changed = `{"format": 1, "run": "r1", "operation": "preview", "provider": "own", "stack": "dev", "simulated": true, "parallel": 1,
"started": "2026-01-02T03:04:05Z", "duration_ms": 1, "result": "succeeded", "results": {"succeeded": 1, "failed": 0, "skipped": 0, "cancelled": 0},
"changes": {"create": 1, "update": 2, "replace": 3, "delete": 4, "same": 100, "outputs": 5},
"costs": {"currency": "USD", "monthly": 30, "change": 12.5, "items": []},
"warnings": [{"message": "m", "finding": {"rule": "max-monthly", "level": "deny", "message": "m"}}, {"message": "no finding"}],
"steps": [{"name": "a", "title": "A", "duration_ms": 1, "changes": {"create": 0, "update": 0, "replace": 0, "delete": 0, "same": 0}, "result": "succeeded", "diagnostics": [{"severity": "warning", "message": "m", "finding": {"rule": "r", "level": "warn", "message": "m"}}]}]}`

func TestRunAction(t *testing.T) {
	t.Parallel()
	for _, program := range []string{"bash", "jq"} {
		if _, err := exec.LookPath(program); err != nil {
			t.Skip(program + " is not here")
		}
	}
	conforms(t, changed)
	outputs, asked, comment, exit := runAction(t, changed, "5")
	want := map[string]string{
		"exit-code": "5", "result": "succeeded", "changes": "15", "costs": "12.5", "currency": "USD", "findings": "2", "report": "report.html", "summary": "summary.json",
	}
	for name, value := range want {
		if outputs[name] != value {
			t.Errorf("%s is %q, not %q", name, outputs[name], value)
		}
	}
	for name := range readAction(t, "run").Outputs {
		if _, ok := want[name]; !ok {
			t.Errorf("no test has the output %s", name)
		}
	}
	const mark = "<!-- runner: preview -s _de v_ --config _a=b c_ in infra -->\n"
	if exit != 0 || comment != mark+"md of r1--simulate -o\n" || !strings.Contains(asked, "--method POST repos/o/r/issues/7/comments ") {
		t.Errorf("exit code %d, comment %q, asked for %s", exit, comment, asked)
	}
	// The next one replaces it.
	if _, asked, _, _ = runAction(t, changed, "0", "EXISTING=42"); !strings.Contains(asked, "--method PATCH repos/o/r/issues/comments/42 ") {
		t.Errorf("asked for %s", asked)
	}
	// A comment that may not be written fails nothing; what the runner says does, and nothing that ran has no outputs.
	if _, _, _, exit = runAction(t, changed, "0", "REFUSE=yes"); exit != 0 {
		t.Errorf("a refused comment ends with %d", exit)
	}
	outputs, _, comment, exit = runAction(t, "", "3")
	if exit != 3 || len(outputs) != 1 || outputs["exit-code"] != "3" || !strings.Contains(comment, "ended with 3 before anything ran") {
		t.Errorf("exit code %d, outputs %v, comment %q", exit, outputs, comment)
	}
	// Outside of a pull request nothing is asked for.
	if _, asked, _, exit = runAction(t, changed, "0", "PULL="); exit != 0 || asked != "" {
		t.Errorf("exit code %d, asked for %s", exit, asked)
	}
}

// conforms checks that a summary is one that the runner could have written.
func conforms(t *testing.T, summary string) {
	t.Helper()
	compiled, err := jsonschema.NewCompiler().Compile("../runner/internal/cli/schema/summary.json")
	if err != nil {
		t.Fatal(err)
	}
	var value any
	if err := json.Unmarshal([]byte(summary), &value); err != nil {
		t.Fatal(err)
	}
	if err := compiled.Validate(value); err != nil {
		t.Error(err)
	}
}

// TestSetupOutputs runs the first step of the setup action, which says where the programs will be.
func TestSetupOutputs(t *testing.T) {
	t.Parallel()
	if _, err := exec.LookPath("bash"); err != nil {
		t.Skip("bash is not here")
	}
	script, err := filepath.Abs("../.github/actions/setup/version.sh")
	if err != nil {
		t.Fatal(err)
	}
	step := readAction(t, "setup").Runs.Steps[0]
	for system, want := range map[string]string{
		"Linux":   "version=1.2.3\nprefix=/tools/mara/1.2.3\npath=/tools/mara/1.2.3/bin\n",
		"Windows": "version=1.2.3\nprefix=/tools/mara/1.2.3\npath=/tools/mara/1.2.3\\1.2.3\\bin\n",
	} {
		outputs := filepath.Join(t.TempDir(), "outputs")
		command := exec.Command("bash", "-e", "-o", "pipefail", "-c", step.Run)
		command.Env = []string{
			"PATH=" + os.Getenv("PATH"), "SCRIPT=" + script, "VERSION=", "REF=v1.2.3", "REPOSITORY=/nowhere", "RUNNER_OS=" + system,
			"RUNNER_TOOL_CACHE=/tools", "GITHUB_OUTPUT=" + outputs,
		}
		out, err := command.CombinedOutput()
		got, readErr := os.ReadFile(outputs)
		if err != nil || readErr != nil || string(got) != want {
			t.Errorf("%s: %q, %v, %s", system, got, err, out)
		}
	}
}
