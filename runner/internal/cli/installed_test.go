package cli_test

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
	"mara/runner/internal/testing/cmdtest"
	"mara/runner/internal/testing/scripttest"
)

// installed is a fake pulumi that the user has installed: a script that writes
// down what it is asked and answers from files.
type installed struct {
	t         *testing.T
	directory string
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

func newInstalled(t *testing.T) *installed {
	t.Helper()
	i := &installed{t: t, directory: t.TempDir()}
	scripttest.Write(t, i.path(), script)
	return i
}

func (i *installed) path() string { return filepath.Join(i.directory, "pulumi") }

// write writes one of the files that the fake answers from.
func (i *installed) write(name, content string) {
	i.t.Helper()
	if err := os.WriteFile(filepath.Join(i.directory, name), []byte(content), 0o600); err != nil {
		i.t.Fatal(err)
	}
}

// stacks tells the fake which projects have a stack dev, with how many
// resources.
func (i *installed) stacks(resources map[string]int) {
	var entries []string
	for project, n := range resources {
		entries = append(entries, fmt.Sprintf(`{"name":"organization/%s/dev","resourceCount":%d}`, project, n))
	}
	i.write("stacks.json", "["+strings.Join(entries, ",")+"]")
}

// exportsKubeconfig has the project aws-eks of the environment dev export the kubeconfig of a cluster.
func (i *installed) exportsKubeconfig(root, kubeconfig string) {
	i.t.Helper()
	cmdtest.WriteFile(i.t, layout.Of(root, false).State().Stack("aws-eks", "dev"),
		`{"checkpoint":{"latest":{"resources":[{"urn":"a::b","type":"aws:eks/cluster:Cluster"}]}}}`)
	i.stacks(map[string]int{"aws-eks": 3})
	outputs, err := json.Marshal(map[string]string{"kubeconfig": kubeconfig})
	if err != nil {
		i.t.Fatal(err)
	}
	i.write("shown-aws-eks.json", string(outputs))
}

// calls returns what the fake was asked, without the directories and the questions for
// its version.
func (i *installed) calls() []string {
	i.t.Helper()
	var calls []string
	for _, line := range i.log() {
		if _, call, _ := strings.Cut(line, " "); call != "version" && call != "--non-interactive version" {
			calls = append(calls, strings.TrimPrefix(call, "--non-interactive "))
		}
	}
	return calls
}

func (i *installed) log() []string {
	i.t.Helper()
	content, err := os.ReadFile(filepath.Join(i.directory, "log"))
	if err != nil && !os.IsNotExist(err) {
		i.t.Fatal(err)
	}
	return strings.Split(strings.TrimSuffix(string(content), "\n"), "\n")
}

// aws returns a root with the stack dev on aws and a passphrase.
func aws(t *testing.T) string {
	t.Helper()
	return cmdtest.Root(t, map[string]string{
		"environment":     "PULUMI_STACK=dev\nPULUMI_CONFIG_PASSPHRASE=correct-horse\n",
		"Pulumi.dev.yaml": "config:\n  kubernetes:infra_type: aws\n  aws:region: us-west-2\n",
	})
}

// deployed makes the root's backend one that has something.
func deployed(t *testing.T, root string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Join(root, ".runner", "state", ".pulumi"), 0o700); err != nil {
		t.Fatal(err)
	}
}

// dockerScript is a docker with a daemon, and nothing in it.
const dockerScript = `case "$*" in
"version "*) echo 27.0.1 ;;
"info "*) echo '{"ServerVersion":"27.0.1","CgroupVersion":"2","MemTotal":17179869184,"DockerRootDir":"/no/such/directory"}' ;;
"ps "*) ;;
*) echo "the fake does not do that" >&2; exit 1 ;;
esac`

// tools puts other programs beside the fake, which answer as they should, and the
// plugins.
func (i *installed) tools() {
	i.t.Helper()
	tools := map[string]string{"docker": dockerScript, "kubectl": `echo '{"clientVersion":{"gitVersion":"v1.36.1"}}'`, "aws": ""}
	for plugin := range schemas.Packages() {
		tools["pulumi-resource-"+plugin] = ""
	}
	for name, body := range tools {
		scripttest.Write(i.t, filepath.Join(i.directory, name), body)
	}
}

// installedDeps returns an outside world at a root, with an installed pulumi, in which
// nothing is wrong.
func installedDeps(t *testing.T, root string, i *installed) (d cmd.Deps, stdout, stderr *bytes.Buffer) {
	t.Helper()
	d, stdout, stderr = cmdtest.Deps(t)
	i.tools()
	d.Dir = root
	d.Environ = []string{"HOME=" + t.TempDir(), "RUNNER_PULUMI=" + i.path(), "PATH=" + i.directory}
	return d, stdout, stderr
}

// atRoot returns installedDeps for those who take the output elsewhere.
func atRoot(t *testing.T, root string, i *installed) cmd.Deps {
	t.Helper()
	d, _, _ := installedDeps(t, root, i)
	return d
}
