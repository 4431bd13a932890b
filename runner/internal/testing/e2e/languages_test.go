package e2e

import (
	"encoding/json"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestLanguages runs projects of a user with the engine inside and the language
// hosts beside it: one in YAML, and one in Go that reads it.
func TestLanguages(t *testing.T) {
	t.Parallel()
	long(t)
	l := newLanguages(t)
	l.e.write("greeting/Pulumi.yaml", `name: greeting
runtime: yaml
config:
  name: {type: string, default: world}
outputs:
  greeting: hello ${name}
  password: {fn::secret: "${name}-1"}
`)
	program, err := filepath.Abs("../../../../projects/pulumi-language-go/testdata/program")
	if err != nil {
		t.Fatal(err)
	}
	l.e.write("hearing/Pulumi.yaml", "name: hearing\nruntime: go\nmain: "+program+"\n")
	for _, project := range []string{"greeting", "hearing"} {
		l.pulumi(0, project, "", "stack", "init", "dev")
	}
	l.pulumi(0, "greeting", "", "config", "set", "name", "there")
	l.pulumi(0, "hearing", "hunter2", "config", "set", "--secret", "token")
	for range 2 { // the second time with the program that was built
		l.pulumi(0, "greeting", "", "up", "--yes", "--skip-preview")
		l.pulumi(0, "hearing", "", "up", "--yes", "--skip-preview")
	}
	for project, want := range map[string]map[string]string{
		"greeting": {"greeting": "hello there", "password": "[secret]"},
		"hearing":  {"heard": "hello there", "token": "[secret]"},
	} {
		var outputs map[string]string
		text := l.pulumi(0, project, "", "stack", "output", "--json").stdout
		if err := json.Unmarshal([]byte(text), &outputs); err != nil {
			t.Fatalf("%v: %s", err, text)
		}
		if diff := cmp.Diff(want, outputs); diff != "" {
			t.Errorf("%s: %s", project, diff)
		}
	}
	l.pulumi(0, "hearing", "", "config", "rm", "token")
	if r := l.pulumi(1, "hearing", "", "preview"); !strings.Contains(r.stdout, "the program panicked: Missing required configuration variable 'token'") {
		t.Errorf("a program that fails: %s%s", r.stdout, r.stderr)
	}
	l.pulumi(0, "hearing", "", "destroy", "--yes", "--skip-preview")
}

// languages are projects of a user, in directories of an environment.
type languages struct {
	t *testing.T
	e *environment
}

func newLanguages(t *testing.T) *languages {
	t.Helper()
	e := newEnvironment(t, embedded)
	e.write("state/.keep", "")
	e.env = append(e.env, "PULUMI_BACKEND_URL=file://"+filepath.Join(e.root, "state"), "PULUMI_CONFIG_PASSPHRASE=secret", "PULUMI_HOME="+filepath.Join(e.home, "pulumi"))
	e.useGo()
	return &languages{t, e}
}

// useGo lets programs in Go be built with the caches of this machine, not with
// those of the test's own home.
func (e *environment) useGo() {
	e.t.Helper()
	for _, name := range []string{"GOCACHE", "GOMODCACHE", "GOFLAGS", "GOPATH"} {
		value, err := exec.Command("go", "env", name).Output()
		if err != nil {
			e.t.Fatal(err)
		}
		e.env = append(e.env, name+"="+strings.TrimSpace(string(value)))
	}
}

// pulumi runs a command of the engine in a project's directory.
func (l *languages) pulumi(want int, project, input string, args ...string) result {
	l.t.Helper()
	command := l.e.command(append([]string{"--non-interactive"}, args...)...)
	command.Path, command.Args[0] = program(l.t, "mara-engine"), "mara-engine"
	command.Dir = filepath.Join(l.e.root, project)
	command.Env = append(command.Env, "PULUMI_STACK=dev")
	r := l.e.finish(command, input)
	if r.code != want {
		l.t.Fatalf("pulumi %s in %s: exit code %d, want %d\n%s%s", strings.Join(args, " "), project, r.code, want, r.stdout, r.stderr)
	}
	return r
}
