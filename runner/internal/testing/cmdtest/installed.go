package cmdtest

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"mara/projects/schemas"
	"mara/runner/internal/cli/cmd"
	"mara/runner/internal/machine/layout"
	"mara/runner/internal/testing/scripttest"
)

// Installed is a fake pulumi that the user has installed: a script that writes
// down what it is asked and answers from files.
type Installed struct {
	t         *testing.T
	Directory string // the one that it is in, with its answers
}

// script answers each question from the directory it is in. A stack's files are
// named after its project.
const script = `
PATH="$PATH:/usr/bin:/bin"
cd_to="$PWD"
cd "$(dirname "$0")" || exit 1
project=
for argument in "$@"; do
	case "$argument" in
	organization/*) project="${argument#organization/}" project="${project%/*}" ;;
	esac
done
echo "$cd_to $*" >>log
answer() {
	if [ -e "$1.fail" ]; then cat "$1.fail" >&2; exit 255; fi
	if [ -e "$1" ]; then cat "$1"; else echo "$2"; fi
}
case "$*" in
version | *" version") echo v3.250.0 ;;
*"stack ls"*) [ -e hang ] && { echo hanging >>log; exec sleep 60; }; answer stacks.json '[]' ;;
*"stack history"*) answer "history-$project.json" '[]' ;;
*"stack output"*--show-secrets*) answer "shown-$project.json" '{}' ;;
*"stack output"*) answer "outputs-$project.json" '{}' ;;
*) echo "error: the fake does not do that" >&2; exit 255 ;;
esac
`

// NewInstalled writes the fake into a directory of its own.
func NewInstalled(t *testing.T) *Installed {
	t.Helper()
	i := &Installed{t: t, Directory: t.TempDir()}
	scripttest.Write(t, i.Path(), script)
	return i
}

// Path returns the path of the fake.
func (i *Installed) Path() string { return filepath.Join(i.Directory, "pulumi") }

// Write writes one of the files that the fake answers from.
func (i *Installed) Write(name, content string) {
	i.t.Helper()
	if err := os.WriteFile(filepath.Join(i.Directory, name), []byte(content), 0o600); err != nil {
		i.t.Fatal(err)
	}
}

// Program puts another program beside the fake.
func (i *Installed) Program(name, body string) {
	i.t.Helper()
	scripttest.Write(i.t, filepath.Join(i.Directory, name), body)
}

// Stacks tells the fake which projects have a stack dev, with how many
// resources.
func (i *Installed) Stacks(resources map[string]int) {
	var entries []string
	for project, n := range resources {
		entries = append(entries, fmt.Sprintf(`{"name":"organization/%s/dev","resourceCount":%d}`, project, n))
	}
	i.Write("stacks.json", "["+strings.Join(entries, ",")+"]")
}

// ExportsKubeconfig has the project aws-eks of the environment dev export the kubeconfig of a cluster.
func (i *Installed) ExportsKubeconfig(root, kubeconfig string) {
	i.t.Helper()
	WriteFile(i.t, layout.Of(root, false).State().Stack("aws-eks", "dev"),
		`{"checkpoint":{"latest":{"resources":[{"urn":"a::b","type":"aws:eks/cluster:Cluster"}]}}}`)
	i.Stacks(map[string]int{"aws-eks": 3})
	outputs, err := json.Marshal(map[string]string{"kubeconfig": kubeconfig})
	if err != nil {
		i.t.Fatal(err)
	}
	i.Write("shown-aws-eks.json", string(outputs))
}

// Calls returns what the fake was asked, without the directories and the questions for
// its version.
func (i *Installed) Calls() []string {
	i.t.Helper()
	var calls []string
	for _, line := range i.Log() {
		if _, call, _ := strings.Cut(line, " "); call != "version" && call != "--non-interactive version" {
			calls = append(calls, strings.TrimPrefix(call, "--non-interactive "))
		}
	}
	return calls
}

// Log returns the lines that the fake has written: a directory, and what it was asked there.
func (i *Installed) Log() []string {
	i.t.Helper()
	content, err := os.ReadFile(filepath.Join(i.Directory, "log"))
	if err != nil && !os.IsNotExist(err) {
		i.t.Fatal(err)
	}
	return strings.Split(strings.TrimSuffix(string(content), "\n"), "\n")
}

// DockerScript is a docker with a daemon, and nothing in it.
const DockerScript = `case "$*" in
"version "*) echo 27.0.1 ;;
"info "*) echo '{"ServerVersion":"27.0.1","CgroupVersion":"2","MemTotal":17179869184,"DockerRootDir":"/no/such/directory"}' ;;
"ps "*) ;;
*) echo "the fake does not do that" >&2; exit 1 ;;
esac`

// tools puts other programs beside the fake, which answer as they should, and the
// plugins.
func (i *Installed) tools() {
	i.t.Helper()
	tools := map[string]string{"docker": DockerScript, "kubectl": `echo '{"clientVersion":{"gitVersion":"v1.36.1"}}'`, "aws": ""}
	for plugin := range schemas.Packages() {
		tools["pulumi-resource-"+plugin] = ""
	}
	for name, body := range tools {
		i.Program(name, body)
	}
}

// InstalledDeps returns an outside world at a root, with an installed pulumi, in which
// nothing is wrong.
func InstalledDeps(t *testing.T, root string, i *Installed) (d cmd.Deps, stdout, stderr *bytes.Buffer) {
	t.Helper()
	d, stdout, stderr = Deps(t)
	i.tools()
	d.Dir = root
	d.Environ = []string{"HOME=" + t.TempDir(), "RUNNER_PULUMI=" + i.Path(), "PATH=" + i.Directory}
	return d, stdout, stderr
}
