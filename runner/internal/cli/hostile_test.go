package cli_test

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"unicode"

	internal "mara/runner/internal/cli"
	"mara/runner/internal/testing/cmdtest"
	"mara/runner/internal/testing/scripttest"
	"mara/runner/internal/wire"
)

// control is what a stranger writes to change a terminal, and text that looks like it and is none.
const (
	control = "\x1b]0;owned\a\x1b[2J\x1b[31m\u202egnp\u2066"
	escaped = `\e]0;owned\a\e[2J\e[31m\u202Egnp\u2066` // in YAML
	joined  = "👩‍👩‍👧 می‌خواهم"
)

// hostileRoot returns a root whose every text has control characters, and whose programs, hooks, variables and
// repository leave a file when one of them runs.
func hostileRoot(t *testing.T) (root, trap string) {
	t.Helper()
	root = cmdtest.Root(t, map[string]string{
		"environment": "GIT_CONFIG_COUNT=1\nGIT_CONFIG_KEY_0=core.fsmonitor\nGIT_CONFIG_VALUE_0=./trap\nPATH=" + filepath.Join("traps") +
			"\nLD_PRELOAD=./trap.so\nEDITOR=./trap\nBROWSER=./trap\nPAGER=./trap\nPULUMI_CONFIG_PASSPHRASE=swordfish\n",
		"Pulumi.dev.yaml":             "config:\n  runner:provider: own\n  a:text: \"" + escaped + "\"\n  \"b:" + escaped + "\": x\n",
		"Pulumi.x\x1b[2J\u202ey.yaml": "config: {}\n",
	})
	trap = filepath.Join(t.TempDir(), "ran")
	body := "echo \"$0 $*\" >>'" + trap + "'"
	for _, name := range []string{"trap", "traps/git", "traps/docker", "traps/kubectl", "traps/pulumi", "traps/pulumi-language-python", "a/venv/bin/python", "hook.sh"} {
		path := filepath.Join(root, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		scripttest.Write(t, path, body)
	}
	for name, content := range map[string]string{
		"mara.yaml": "projects:\n  - path: a\n    title: \"" + escaped + " " + joined + "\"\n    hooks:\n" +
			"      - {name: evil, run: ../hook.sh, on: before, operations: [up, preview]}\n",
		"a/Pulumi.yaml":                        "name: a\nruntime: {name: python, options: {virtualenv: venv}}\ndescription: \"" + escaped + "\"\n",
		"a/__main__.py":                        "import os\nos.system('touch " + trap + "')\n",
		"policies/policies.yaml":               "use: [mine]\n",
		"policies/mine.jq":                     "# " + control + "\ndef deny: empty;\n",
		"queries/mine.jq":                      "# " + control + "\n.items\n",
		"config/environments/x\x1b[2Jy.yaml":   "values: {runner: {provider: own, labels: {\"a" + escaped + "\": b}}}\n",
		"config/environments/dev2.yaml":        "values: {runner: {provider: own, labels: {stage: \"" + escaped + "\"}}}\n",
		"bare/HEAD":                            "ref: refs/heads/main\n",
		"bare/config":                          "[core]\n\trepositoryformatversion = 0\n\tworktree = ..\n\tfsmonitor = " + filepath.Join(root, "trap") + "\n",
		"config/layers/" + "l\u202e" + ".yaml": "values: {}\n",
	} {
		cmdtest.WriteFile(t, filepath.Join(root, filepath.FromSlash(name)), content)
	}
	for _, args := range [][]string{{"init", "-q"}, {"config", "core.fsmonitor", filepath.Join(root, "trap")}, {"config", "core.pager", filepath.Join(root, "trap")}, {"config", "diff.external", filepath.Join(root, "trap")}} {
		command := exec.Command("git", args...)
		command.Dir = root
		if out, err := command.CombinedOutput(); err != nil {
			t.Fatalf("git %v: %v\n%s", args, err, out)
		}
	}
	return root, trap
}

// TestLookingAtAStrangersRoot: what only looks runs nothing of the repository, and nothing in it controls the terminal.
func TestLookingAtAStrangersRoot(t *testing.T) {
	t.Parallel()
	if _, err := exec.LookPath("git"); err != nil || runtime.GOOS != "linux" {
		t.Skip("needs git and names that other systems do not have")
	}
	root, trap := hostileRoot(t)
	home := t.TempDir()
	path, foreign := onlyGit(t)
	looking, exactly := internal.Looks(wire.Features())
	arguments := map[string][]string{
		"adopt": {"--print"}, "config explain": {"a:text"}, "fleet get": {"a:text"}, "query": {"charts"},
		"schema": {"events"}, "completion": {"bash"}, "config diff": {"dev", "dev2"}, "config get": {"a:text"},
	}
	extra := []string{
		"plan -o mermaid", "plan -o svg", "plan -o dot", "plan -o json", "plan -o html", "fleet plan --affected=HEAD", "fleet list -o json", "check -o sarif",
		"query mine", "query --list", "policy list", "status -s nowhere", "status -p " + control, "plan -p " + strings.ReplaceAll(control, " ", ""),
	}
	var lines [][]string
	for _, path := range looking {
		line := append(strings.Fields(path), arguments[path]...)
		if slices.Contains([]string{"status", "outputs", "plan", "doctor", "config list", "config get", "config explain", "secrets list", "fleet get", "hook list"}, path) {
			if path != "fleet get" {
				line = append(line, "-s", "dev")
			}
		}
		if path != "logs" {
			lines = append(lines, line)
		}
	}
	for _, line := range extra {
		lines = append(lines, strings.Fields(line))
	}
	for _, terminal := range []bool{false, true} {
		for _, line := range lines {
			d, stdout, stderr := cmdtest.Deps(t)
			d.Dir, d.StdoutIsTerminal = root, terminal
			d.Environ = []string{"PATH=" + path, "HOME=" + home, "TERM=xterm"}
			code := wire.Run(context.Background(), d, line)
			text := stdout.String() + stderr.String()
			if !terminal && isOneOf(exactly, line) {
				text = stderr.String() // programs read it as it is
			}
			if at := strings.IndexFunc(uncoloured(text), func(r rune) bool {
				return unicode.IsControl(r) && r != '\n' && r != '\t' || unicode.Is(unicode.Bidi_Control, r)
			}); at >= 0 {
				t.Errorf("%q (exit code %d, terminal %v) prints a control character: %q", line, code, terminal, text[max(0, at-60):min(len(text), at+60)])
			}
			if content, err := os.ReadFile(trap); err == nil {
				t.Fatalf("%q has run:\n%s", line, content)
			}
			if content, err := os.ReadFile(foreign); err == nil && !isOneOf(askingTools, line) {
				t.Fatalf("%q starts a program that is not git:\n%s", line, content)
			}
			_ = os.Remove(foreign)
		}
	}
	d, stdout, _ := cmdtest.Deps(t)
	d.Dir = root
	if wire.Run(context.Background(), d, []string{"plan", "-s", "dev"}); !strings.Contains(stdout.String(), joined) {
		t.Errorf("joined characters are torn: %s", stdout)
	}
}

// askingTools are the commands of which docs/strangers.md says that they start tools of the user's PATH.
var askingTools = []string{"doctor", "support", "upgrade plan", "access list", "backup list", "operator status"}

// onlyGit returns a PATH on which git alone is what it seems: whatever else a command might start leaves its name in a file.
func onlyGit(t *testing.T) (path, started string) {
	t.Helper()
	path, started = t.TempDir(), filepath.Join(t.TempDir(), "started")
	git, err := exec.LookPath("git")
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(git, filepath.Join(path, "git")); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{
		"sh", "bash", "env", "less", "more", "vi", "nano", "xdg-open", "open", "sensible-browser", "ssh", "curl", "wget", "tar", "docker", "podman", "kubectl",
		"helm", "kind", "aws", "doctl", "linode-cli", "gcloud", "az", "pulumi", "pulumi-language-go", "pulumi-language-nodejs", "pulumi-language-python",
		"pulumi-language-python-exec", "pulumi-language-yaml", "pulumi-resource-kubernetes", "pulumi-resource-random", "go", "node", "npm", "yarn", "pnpm",
		"bun", "tsc", "python", "python3", "pip", "poetry", "uv", "java", "mvn", "gradle", "dotnet", "jq", "make",
	} {
		scripttest.Write(t, filepath.Join(path, name), "echo \""+name+" $*\" >>'"+started+"'")
	}
	return path, started
}

// uncoloured removes the runner's own colours and links.
func uncoloured(text string) string {
	for _, code := range []string{"\x1b[0m", "\x1b[1m", "\x1b[2m", "\x1b[31m", "\x1b[32m", "\x1b[33m", "\x1b[36m", "\x1b[35m", "\x1b[34m"} {
		text = strings.ReplaceAll(text, code, "")
	}
	return text
}

// isOneOf reports whether a line begins with one of some commands.
func isOneOf(paths, line []string) bool {
	return slices.ContainsFunc(paths, func(path string) bool {
		return strings.HasPrefix(strings.Join(line, " ")+" ", path+" ")
	})
}
