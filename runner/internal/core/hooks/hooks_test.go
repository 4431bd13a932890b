package hooks

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/blang/semver"
	"github.com/pulumi/pulumi/sdk/v3"

	"mara/projects/model"
	"mara/projects/model/operation"
	"mara/providers"
	"mara/runner/internal/core/event"
	"mara/runner/internal/core/executor"
	"mara/runner/internal/core/plan"
	"mara/runner/internal/core/stacks"
	"mara/runner/internal/machine/layout"
)

const clusterToken = "eyJhbGciOiJSUzI1NiIsImtpZCI6IkFCQyJ9.token"

const clusterConfig = `apiVersion: v1
kind: Config
clusters:
- name: c
  cluster: {server: "https://10.0.0.1:6443"}
users:
- name: u
  user: {token: ` + clusterToken + `}
contexts:
- name: x
  context: {cluster: c, user: u}
current-context: x
`

// answers is a pulumi that answers every question for outputs alike. Outputs whose names
// begin with "secret" are secret; where one is "unreadable", secrets cannot be read.
type answers struct {
	outputs map[string]any
	state   string // the resources of each stack, in JSON; "" where none is asked for
}

func (answers) Version() semver.Version { return sdk.Version }

func (a answers) Run(_ context.Context, _ string, _ io.Reader, _, _ []io.Writer, _ []string, args ...string) (string, string, int, error) {
	switch line := strings.Join(args, " "); {
	case strings.HasPrefix(line, "stack ls"):
		return `[{"name":"organization/linode-lke/dev","resourceCount":1},{"name":"organization/bank-of-anthos/dev","resourceCount":1}]`, "", 0, nil
	case strings.HasPrefix(line, "stack export") && a.state != "":
		return `{"deployment": {"resources": ` + a.state + `}}`, "", 0, nil
	case strings.HasPrefix(line, "stack output"):
		shown := maps.Clone(a.outputs)
		for name, value := range shown {
			switch {
			case !strings.HasPrefix(name, "secret"):
			case !strings.Contains(line, "--show-secrets"):
				shown[name] = stacks.Secret
			case value == "unreadable":
				return "", "error: no key", 255, errors.New("exit status 255")
			}
		}
		content, err := json.Marshal(shown)
		return string(content), "", 0, err
	default:
		return "", "error: unexpected " + line, 255, errors.New("unexpected command")
	}
}

// hookSession returns a session with a cluster that has these outputs.
func hookSession(t *testing.T, outputs map[string]any) Hooks {
	t.Helper()
	return sessionWith(t, answers{outputs: outputs})
}

// sessionWith returns a session with these stacks.
func sessionWith(t *testing.T, command answers) Hooks {
	t.Helper()
	provider, err := providers.ByName("linode")
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	s := Hooks{
		probe:    func(context.Context, []byte, map[string]string) error { return nil },
		Provider: provider, Stack: "dev", Directory: layout.Runner(dir), Env: map[string]string{"KUBECONFIG": filepath.Join(dir, "kubeconfig")},
		Masker: event.NewMasker(), Log: slog.New(slog.DiscardHandler),
	}
	s.Stacks, err = stacks.Open(t.Context(), stacks.Options{
		Command: command, Stack: "dev", Organization: "organization", WorkDir: t.TempDir(), Masker: s.Masker,
	})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// callOf returns a call of a hook of a project.
func callOf(project, hook string) executor.HookCall {
	return executor.HookCall{Hook: model.Hook{Name: hook, On: model.OnSuccess}, Step: plan.Step{Project: model.Project{Name: project}}}
}

func runHook(t *testing.T, s Hooks, op operation.Operation, hook string) (messages []string, err error) {
	t.Helper()
	err = s.Hook(op)(t.Context(), callOf("linode-lke", hook), func(e event.Event) { messages = append(messages, e.Message) })
	return messages, err
}

// TestKubeconfigHook: the cluster's entries come with up and go with destroy,
// whichever form the output has.
func TestKubeconfigHook(t *testing.T) {
	t.Parallel()
	encoded := base64.StdEncoding.EncodeToString([]byte(clusterConfig))
	for name, output := range map[string]string{
		"plain":           clusterConfig,
		"base64":          encoded,
		"base64 in lines": encoded[:76] + "\n" + encoded[76:] + "\n",
		"JSON":            `{"apiVersion":"v1","clusters":[{"name":"c","cluster":{"server":"https://10.0.0.1:6443"}}],"users":[{"name":"u","user":{"token":"` + clusterToken + `"}}],"contexts":[{"name":"x","context":{"cluster":"c","user":"u"}}],"current-context":"x"}`,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := hookSession(t, map[string]any{"kubeconfig": output})
			file := s.Env["KUBECONFIG"]
			messages, err := runHook(t, s, operation.Up, "kubeconfig")
			if err != nil || len(messages) != 1 || messages[0] != "context mara-linode-dev is in "+file+"; it is the current one" {
				t.Fatalf("up: %v, %v", messages, err)
			}
			content, err := os.ReadFile(file)
			if err != nil || !strings.Contains(string(content), "mara-linode-dev") || !strings.Contains(string(content), clusterToken) {
				t.Errorf("%v: %s", err, content)
			}
			if masked := s.Masker.Mask("the token is " + clusterToken); strings.Contains(masked, clusterToken) {
				t.Errorf("the token is not known to the masker: %s", masked)
			}
			messages, err = runHook(t, s, operation.Destroy, "kubeconfig")
			if err != nil || len(messages) != 1 || messages[0] != "context mara-linode-dev is removed from "+file {
				t.Errorf("destroy: %v, %v", messages, err)
			}
			if content, err := os.ReadFile(file); err != nil || strings.Contains(string(content), "mara-linode-dev") {
				t.Errorf("%v: %s", err, content)
			}
			if messages, err := runHook(t, s, operation.Destroy, "kubeconfig"); err != nil || len(messages) > 0 {
				t.Errorf("destroy again: %v, %v", messages, err)
			}
		})
	}
}

// TestClusterThatDoesNotAnswer: an up that changes nothing would not notice.
func TestClusterThatDoesNotAnswer(t *testing.T) {
	t.Parallel()
	s := hookSession(t, map[string]any{"kubeconfig": clusterConfig})
	s.probe = func(_ context.Context, content []byte, _ map[string]string) error {
		if string(content) != clusterConfig {
			t.Errorf("it is asked with %s", content)
		}
		return errors.New("connection refused")
	}
	messages, err := runHook(t, s, operation.Up, "kubeconfig")
	if err != nil || len(messages) != 2 || !strings.HasPrefix(messages[1], "the cluster does not answer: connection refused;") {
		t.Errorf("%q, %v", messages, err)
	}
	s.Simulated = true
	if messages, err = runHook(t, s, operation.Up, "kubeconfig"); err != nil || len(messages) != 1 {
		t.Errorf("simulated: %q, %v", messages, err)
	}
}

func TestHooksThatFail(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name, hook string
		outputs    map[string]any
		want       string
	}{
		{"no output", "kubeconfig", map[string]any{"other": "x"}, "linode-lke has no output kubeconfig"},
		{"no text", "kubeconfig", map[string]any{"kubeconfig": 3}, "linode-lke has no output kubeconfig"},
		{"neither form", "kubeconfig", map[string]any{"kubeconfig": "not a kubeconfig!"}, "the output kubeconfig is neither a kubeconfig nor base64 of one"},
		{"base64 of something else", "kubeconfig", map[string]any{"kubeconfig": base64.StdEncoding.EncodeToString([]byte("nothing"))}, "kubeconfig"},
		{"unknown hook", "mail", nil, `this runner has no hook "mail"`},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			s := hookSession(t, test.outputs)
			_, err := runHook(t, s, operation.Up, test.hook)
			if err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("got %v", err)
			}
			if _, err := os.Stat(s.Env["KUBECONFIG"]); err == nil {
				t.Error("a kubeconfig was written")
			}
		})
	}
}

// TestKubeconfigOfASimulation: a simulation does not write the user's kubeconfig.
func TestKubeconfigOfASimulation(t *testing.T) {
	t.Parallel()
	s := hookSession(t, map[string]any{"kubeconfig": clusterConfig})
	users := s.Env["KUBECONFIG"]
	s.Simulated = true
	s.Directory = layout.Of(filepath.Dir(users), true)
	if err := os.MkdirAll(string(s.Directory), 0o700); err != nil {
		t.Fatal(err)
	}
	if _, err := runHook(t, s, operation.Up, "kubeconfig"); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(users); err == nil {
		t.Error("the user's kubeconfig was written")
	}
	if _, err := os.Stat(s.Directory.Kubeconfig()); err != nil {
		t.Error(err)
	}
}

// TestAnswersHook: an application on this machine has to answer; elsewhere a missing
// answer is only reported, and a simulated application is not requested.
func TestAnswersHook(t *testing.T) {
	t.Parallel()
	const address = "https://localhost:8443"
	refused := errors.New("connection refused")
	for _, test := range []struct {
		name, provider string
		simulated      bool
		outputs        map[string]any
		answer         error
		want           []string
		problem        string
	}{
		{name: "it answers", provider: "kind", want: []string{"waiting until " + address + " answers", address + " answers"}},
		{name: "it never answers", provider: "kind", answer: refused, want: []string{"waiting until " + address + " answers"},
			problem: address + " has not answered within 5m0s: connection refused"},
		{name: "in a cloud", provider: "aws", answer: refused, want: []string{"waiting until " + address + " answers",
			address + " has not answered within 5m0s: connection refused; perhaps it cannot be reached from this machine"}},
		{name: "simulated", provider: "kind", simulated: true, answer: refused, want: []string{"SIMULATED: nothing answers at " + address + ", and it is not requested"}},
		{name: "no address", provider: "kind", outputs: map[string]any{"host": "localhost"}, problem: "bank-of-anthos has no output application_url"},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			if test.outputs == nil {
				test.outputs = map[string]any{"application_url": address}
			}
			s := hookSession(t, test.outputs)
			var err error
			if s.Provider, err = providers.ByName(test.provider); err != nil {
				t.Fatal(err)
			}
			s.ask = func(context.Context, string) error { return test.answer }
			if test.simulated {
				s.Simulated = true
				s.Directory = layout.Of(t.TempDir(), true)
			}
			synctest.Test(t, func(t *testing.T) {
				var messages []string
				err := s.Hook(operation.Up)(t.Context(), callOf("bank-of-anthos", model.HookReachable),
					func(e event.Event) { messages = append(messages, e.Message) })
				if (err == nil) != (test.problem == "") || err != nil && err.Error() != test.problem {
					t.Errorf("error %v, want %q", err, test.problem)
				}
				if !slices.Equal(messages, test.want) {
					t.Errorf("messages %q, want %q", messages, test.want)
				}
			})
		})
	}
}
