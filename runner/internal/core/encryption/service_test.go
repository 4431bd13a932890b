package encryption_test

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"gopkg.in/yaml.v3"

	"mara/runner/internal/core/encryption"
)

// fakePulumi encrypts by turning values into base64.
type fakePulumi struct {
	t     *testing.T
	calls []string // arguments of each command
	env   []string // of the last
	fail  map[string]string
}

// stackFile is what Pulumi keeps about a stack.
type stackFile struct {
	Provider string                       `yaml:"secretsprovider,omitempty"`
	Key      string                       `yaml:"encryptedkey,omitempty"`
	Config   map[string]map[string]string `yaml:"config,omitempty"`
}

// Run implements encryption.Command.
func (f *fakePulumi) Run(_ context.Context, dir string, stdin io.Reader, _, _ []io.Writer, env []string,
	args ...string) (string, string, int, error) {
	line := strings.Join(args, " ")
	f.calls, f.env = append(f.calls, line), env
	for start, message := range f.fail {
		if strings.HasPrefix(line, start) {
			return "", "error: " + message + "\n", 255, errors.New("exit status 255")
		}
	}
	path := filepath.Join(dir, "Pulumi.dev.yaml")
	content, err := os.ReadFile(path)
	if err != nil {
		f.t.Fatal(err)
	}
	var file stackFile
	if err := yaml.Unmarshal(content, &file); err != nil {
		f.t.Fatal(err)
	}
	output := ""
	switch {
	case args[0] == "stack":
		if file.Key == "" && file.Provider != "" {
			file.Key = "a new data key"
		}
	case slices.Contains(args, "set"):
		value, err := io.ReadAll(stdin)
		if err != nil {
			f.t.Fatal(err)
		}
		if file.Config == nil {
			file.Config = map[string]map[string]string{}
		}
		file.Config[args[len(args)-1]] = map[string]string{"secure": base64.StdEncoding.EncodeToString(value)}
	default:
		shown := map[string]map[string]any{}
		for key, value := range file.Config {
			plain, err := base64.StdEncoding.DecodeString(value["secure"])
			if err != nil {
				return "", "error: cipher: message authentication failed\n", 255, errors.New("exit status 255")
			}
			shown[key] = map[string]any{"value": string(plain), "secret": true}
		}
		text, _ := json.Marshal(shown)
		output = string(text)
	}
	if content, err = yaml.Marshal(file); err != nil {
		f.t.Fatal(err)
	}
	return output, "", 0, os.WriteFile(path, content, 0o600)
}

func newService(t *testing.T, f *fakePulumi, scheme encryption.Scheme, organization string) (*encryption.Service,
	error) {
	t.Helper()
	return encryption.NewService(t.Context(), encryption.ServiceOptions{
		Command: f, Dir: t.TempDir(), Stack: "dev", Scheme: scheme, Organization: organization,
		Env: map[string]string{"PULUMI_BACKEND_URL": "s3://the-users-own", "AWS_PROFILE": "mine"},
	})
}

// TestService: values go by stdin, keep their line ends, and the user's backend
// is left alone.
func TestService(t *testing.T) {
	t.Parallel()
	values := map[string]string{"a:password": "hunter2-hunter2", "b:key": "-----BEGIN\nhunter3\n-----END\n"}
	for name, test := range map[string]struct {
		scheme                encryption.Scheme
		organization, backend string
		want                  encryption.Scheme
	}{
		"a new data key": {encryption.Scheme{Provider: "awskms://x"}, "", "file://",
			encryption.Scheme{Provider: "awskms://x", DataKey: "a new data key"}},
		"the old data key": {encryption.Scheme{Provider: "awskms://x", DataKey: "old"}, "", "file://",
			encryption.Scheme{Provider: "awskms://x", DataKey: "old"}},
		"the backend": {encryption.Scheme{}, "acme", "s3://the-users-own", encryption.Scheme{}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := &fakePulumi{t: t}
			s, err := newService(t, f, test.scheme, test.organization)
			if err != nil {
				t.Fatal(err)
			}
			sealed, err := s.Seal(t.Context(), values)
			if err != nil {
				t.Fatal(err)
			}
			got, err := s.Unseal(t.Context(), sealed)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(values, got); diff != "" {
				t.Error(diff)
			}
			if s.Scheme() != test.want {
				t.Errorf("the scheme is %+v", s.Scheme())
			}
			if all := strings.Join(f.calls, "\n"); strings.Contains(all, "hunter") || !strings.Contains(all, "/secrets/dev") {
				t.Errorf("the commands were\n%s", all)
			}
			if env := strings.Join(f.env, "\n"); !strings.Contains(env, "PULUMI_BACKEND_URL="+test.backend) ||
				!strings.Contains(env, "AWS_PROFILE=mine") {
				t.Errorf("the environment was\n%s", env)
			}
		})
	}
}

func TestServiceFails(t *testing.T) {
	t.Parallel()
	scheme := encryption.Scheme{Provider: "awskms://x", DataKey: "k"}
	if _, err := newService(t, &fakePulumi{t: t, fail: map[string]string{"stack init": "AccessDenied: not you"}}, scheme,
		""); err == nil ||
		err.Error() != "the key service awskms://x: AccessDenied: not you" {
		t.Errorf("a key service that refuses: %v", err)
	}
	f := &fakePulumi{t: t, fail: map[string]string{"stack init": "stack 'acme/secrets/dev' already exists"}}
	s, err := newService(t, f, encryption.Scheme{}, "acme")
	if err != nil {
		t.Fatalf("the stack on the backend exists, which is no reason to fail: %v", err)
	}
	if _, err := s.Unseal(t.Context(), map[string]string{"a:b": "not base64!"}); err == nil ||
		!strings.Contains(err.Error(), "message authentication failed") {
		t.Errorf("a ciphertext of another key: %v", err)
	}
	f.fail["config set"] = "no route to host"
	if _, err := s.Seal(t.Context(), map[string]string{"a:b": "hunter2"}); err == nil ||
		err.Error() != "encrypting a:b: no route to host" {
		t.Errorf("a backend that fails: %v", err)
	}
}
