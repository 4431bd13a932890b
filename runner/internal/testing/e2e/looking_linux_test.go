package e2e

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// TestLookingFromOutside follows the system calls of commands that only look at a repository of somebody else: they start
// git and the engine, connect to nobody, and read nothing of a user that is outside of the repository and the home.
func TestLookingFromOutside(t *testing.T) {
	t.Parallel()
	if out, err := exec.Command("strace", "-qq", "-o", os.DevNull, "true").CombinedOutput(); err != nil {
		t.Skipf("strace is not installed, or not allowed here: %v: %s", err, out)
	}
	git, err := exec.LookPath("git")
	if err != nil {
		t.Skip("git is not installed")
	}
	e := newEnvironment(t, embedded)
	e.write("config/environments/dev.yaml", "values: {runner: {provider: own}}\n")
	e.write("mara.yaml", "projects:\n  - path: app\n    hooks: [{name: evil, run: ./trap, on: before, operations: [up, preview]}]\n")
	e.write("app/Pulumi.yaml", "name: app\nruntime: {name: python, options: {virtualenv: venv}}\n")
	e.write("app/__main__.py", "import os\nos.system('touch ran')\n")
	for _, args := range [][]string{{"init", "-q"}, {"config", "core.fsmonitor", filepath.Join(e.root, "trap")},
		{"config", "filter.trap.clean", filepath.Join(e.root, "trap")}, {"add", "mara.yaml"}} {
		command := exec.Command(git, append([]string{"-c", "core.fsmonitor=false", "-C", e.root}, args...)...)
		if out, err := command.CombinedOutput(); err != nil {
			t.Fatalf("git %v: %v\n%s", args, err, out)
		}
	}
	e.write(".gitattributes", "* filter=trap\n")
	for _, name := range []string{"trap", "app/venv/bin/python", "app/trap"} {
		e.write(name, "#!/bin/sh\ntouch ran\n")
		if err := os.Chmod(filepath.Join(e.root, name), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	mayRun := []string{program(t, "runner"), program(t, "mara-engine"), git}
	mayRead := []string{e.root, e.home, e.temp, filepath.Dir(program(t, "runner")), "/proc", "/sys", "/dev", "/etc", "/lib", "/lib64", "/usr", "/run", "/var/run"}
	for _, line := range []string{"plan", "check", "providers", "config list -s dev", "config reference", "hook list -s dev", "policy list",
		"secrets list -s dev", "fleet list", "fleet check", "fleet plan", "fleet plan --affected=HEAD", "fleet status", "status -s dev",
		"outputs -s dev", "stacks", "history", "env -s dev", "adopt --print", "doctor -s dev"} {
		trace := filepath.Join(t.TempDir(), "trace")
		command := e.command(strings.Fields(line)...)
		command.Path, command.Args = "", append([]string{"strace", "-f", "-qq", "-s", "4096", "-e", "trace=execve,execveat,open,openat,connect", "-o", trace, program(t, "runner")}, command.Args[1:]...)
		if command.Path, err = exec.LookPath("strace"); err != nil {
			t.Fatal(err)
		}
		_ = e.finish(command, "")
		content, err := os.ReadFile(trace)
		if err != nil || !strings.Contains(string(content), "execve(") {
			t.Fatalf("%s: no trace: %v", line, err)
		}
		for _, call := range traced.FindAllStringSubmatch(joined(string(content)), -1) {
			switch name, path := call[1], call[2]; {
			case strings.HasPrefix(name, "exec") && !isBelow(path, mayRun):
				t.Errorf("%s starts %s", line, path)
			case strings.HasPrefix(name, "open") && filepath.IsAbs(path) && !isBelow(path, mayRead):
				t.Errorf("%s opens %s", line, path)
			}
		}
		if strings.Contains(string(content), "sa_family=AF_INET") {
			t.Errorf("%s connects to a network", line)
		}
	}
	for _, name := range []string{"ran", "app/ran"} {
		if _, err := os.Stat(filepath.Join(e.root, name)); err == nil {
			t.Errorf("a program of the repository has run: %s is there", name)
		}
	}
}

// traced is a call that has succeeded, with its path.
var traced = regexp.MustCompile(`(?m)^[0-9]+ +(execve|execveat|open|openat)\((?:AT_FDCWD, )?"([^"]*)".* = [0-9]+`)

// joined writes each call in one line that strace has written in two because another process came between.
func joined(trace string) string {
	const cut, resumed = " <unfinished ...>", " resumed>"
	begun := map[string]string{} // by process
	var all strings.Builder
	for line := range strings.Lines(trace) {
		process, call, _ := strings.Cut(line, " ")
		if before, ok := strings.CutSuffix(strings.TrimRight(call, "\n"), cut); ok {
			begun[process] = before
			continue
		}
		if rest, ok := strings.CutPrefix(strings.TrimLeft(call, " "), "<... "); ok {
			if _, after, ok := strings.Cut(rest, resumed); ok {
				line = process + " " + begun[process] + after
				delete(begun, process)
			}
		}
		all.WriteString(line)
	}
	for process, call := range begun { // it was killed in it: as if it had succeeded
		all.WriteString(process + " " + call + ") = 0\n")
	}
	return all.String()
}

func TestJoined(t *testing.T) {
	t.Parallel()
	const trace = `11 execve("/bin/runner", ["runner"], 0x7 /* 9 vars */) = 0
12 execve("/bin/evil", ["evil"], 0x7 /* 9 vars */ <unfinished ...>
11  openat(AT_FDCWD, "/etc/passwd", O_RDONLY <unfinished ...>
12 <... execve resumed>)    = 0
11 <... openat resumed>)            = 3
12 openat(AT_FDCWD, "/none", O_RDONLY <unfinished ...>
12 <... openat resumed>) = -1 ENOENT (No such file or directory)
13 execve("/bin/killed", ["killed"], 0x7 /* 9 vars */ <unfinished ...>
13 +++ killed by SIGKILL +++
`
	var got []string
	for _, call := range traced.FindAllStringSubmatch(joined(trace), -1) {
		got = append(got, call[1]+" "+call[2])
	}
	if want := []string{"execve /bin/runner", "execve /bin/evil", "openat /etc/passwd", "execve /bin/killed"}; !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

// isBelow reports whether a path is one of some, or below it.
func isBelow(path string, allowed []string) bool {
	for _, one := range allowed {
		if path == one || strings.HasPrefix(path, one+"/") {
			return true
		}
	}
	return false
}
