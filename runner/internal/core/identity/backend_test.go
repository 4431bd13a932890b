package identity

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"mara/config"
	"mara/providers"
	"mara/runner/internal/core/request"
	"mara/runner/internal/core/session"
	"mara/runner/internal/core/vault"
)

func write(t *testing.T, file, content string) {
	t.Helper()
	if err := errors.Join(os.MkdirAll(filepath.Dir(file), 0o755), os.WriteFile(file, []byte(content), 0o600)); err != nil {
		t.Fatal(err)
	}
}

// opened opens a session of the environment dev, with the backend that the process
// environment names.
func opened(t *testing.T, root, backend string) *session.Resolved {
	t.Helper()
	sources := config.Sources{Process: []string{"PULUMI_HOME=" + t.TempDir(), "PULUMI_STACK=dev", "PULUMI_BACKEND_URL=" + backend}}
	s, err := session.ResolveStack(session.Deps{Console: vault.Console{Stderr: io.Discard}}, session.Options{Request: request.Request{Root: root, BuiltIn: providers.Catalogue(), Sources: sources}})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

const (
	deployed = `{"checkpoint": {"latest": {"resources": [{"urn": "urn:pulumi:dev::aws-vpc::a:b:C::d", "type": "a:b:C"}]}}}`
	empty    = `{"checkpoint": {"latest": {}}}`
	here     = ".runner/state/.pulumi/stacks/aws-vpc/dev.json"
	record   = ".runner/environments/dev.backend.yaml"
)

func TestCheckBackend(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		files   map[string]string
		backend string
		asked   bool
		want    []string // of the error
	}{
		"nothing is deployed":                {backend: "s3://new"},
		"the same backend":                   {files: map[string]string{record: "backend: s3://old\n"}, backend: "s3://old"},
		"another backend":                    {files: map[string]string{record: "backend: s3://old\n"}, backend: "s3://new", want: []string{`"dev" was deployed to s3://old`, "PULUMI_BACKEND_URL", "s3://new", "--new-backend", "`runner state move -s dev --to s3://new`"}},
		"another backend, asked for":         {files: map[string]string{record: "backend: s3://old\n"}, backend: "s3://new", asked: true},
		"deployed here before there was one": {files: map[string]string{here: deployed}, backend: "s3://new", want: []string{"deployed to file://.runner/state"}},
		"the default, named":                 {files: map[string]string{here: deployed}, backend: "file://.runner/state"},
		"destroyed since":                    {files: map[string]string{here: empty, record: "backend: file://.runner/state\n"}, backend: "s3://new"},
		"deployed elsewhere since":           {files: map[string]string{here: deployed, record: "backend: s3://new\n"}, backend: "s3://new"},
		"unreadable states":                  {files: map[string]string{here: "{"}, backend: "s3://new", want: []string{"is unknown", "--new-backend"}},
		"a broken record":                    {files: map[string]string{record: "x\n"}, backend: "s3://new", want: []string{record, "delete it"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			root := t.TempDir()
			for file, content := range test.files {
				write(t, filepath.Join(root, file), content)
			}
			err := CheckBackend(t.Context(), opened(t, root, test.backend), test.asked)
			if (err == nil) != (test.want == nil) {
				t.Fatalf("got %v", err)
			}
			if err == nil {
				return
			}
			next, _ := errors.AsType[interface {
				error
				NextStep() string
			}](err)
			for _, want := range test.want {
				if text := err.Error() + "; " + next.NextStep(); !strings.Contains(text, want) {
					t.Errorf("%q is not in: %s", want, text)
				}
			}
		})
	}
}

// A root that has been moved still has its own backend, and a record has no password.
func TestRecordBackend(t *testing.T) {
	t.Parallel()
	for backend, want := range map[string]string{
		"file://.runner/state":                   "backend: file://.runner/state\n",
		"file:///elsewhere/state/?metadata=skip": "backend: file:///elsewhere/state\n",
		"s3://acme/state?region=eu":              "backend: s3://acme/state?region=eu\n",
		"postgres://me:hunter22@db:5432/pulumi":  "backend: postgres://me:***@db:5432/pulumi\n",
	} {
		root := t.TempDir()
		s := opened(t, root, backend)
		if err := RecordBackend(s); err != nil {
			t.Fatal(err)
		}
		content, err := os.ReadFile(filepath.Join(root, record))
		if err != nil || string(content) != want {
			t.Errorf("%s: %q, %v", backend, content, err)
		}
		if err := CheckBackend(t.Context(), opened(t, root, backend), false); err != nil {
			t.Errorf("%s: %v", backend, err)
		}
	}
}

// TestNewMove: by default the states come from where they are, and go to the configured
// backend.
func TestNewMove(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		record, backend, from, to string
		wantFrom, wantTo, setting string
		err                       string
	}{
		"to another one":             {backend: "file://.runner/state", to: "s3://new", wantFrom: "file://.runner/state", wantTo: "s3://new", setting: "PULUMI_BACKEND_URL=s3://new in the process environment"},
		"another one is configured":  {record: "s3://old", backend: "s3://new", wantFrom: "s3://old", wantTo: "s3://new"},
		"to a third":                 {record: "s3://old", backend: "s3://new", to: "s3://third", wantFrom: "s3://old", wantTo: "s3://third", setting: "=s3://third"},
		"from one that is not known": {backend: "s3://new", from: "file://old", wantFrom: "file://old", wantTo: "s3://new"},
		"done":                       {record: "s3://new", backend: "s3://old", to: "s3://new", wantFrom: "s3://new", wantTo: "s3://new", setting: "=s3://new"},
		"nowhere":                    {backend: "s3://old", err: "no new backend is named"},
		"no address":                 {backend: "s3://old", to: "there", err: "is not the address of a backend"},
		"to Pulumi Cloud":            {backend: "s3://old", to: "https://api.pulumi.com", wantFrom: "s3://old", wantTo: "https://api.pulumi.com", setting: "=https://api.pulumi.com"},
		"a password":                 {record: "postgres://me:***@db/state", backend: "s3://new", err: "is not recorded"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			root := t.TempDir()
			if test.record != "" {
				write(t, filepath.Join(root, record), "backend: "+test.record+"\n")
			}
			write(t, filepath.Join(root, config.Directory, "Pulumi.dev.yaml"), "config: {kubernetes:infra_type: kind}\n")
			s := opened(t, root, test.backend)
			defer func() { _ = s.Close() }()
			m, err := NewMove(t.Context(), s, test.from, test.to)
			if test.err != "" {
				if err == nil || !strings.Contains(err.Error(), test.err) {
					t.Errorf("got %v", err)
				}
				return
			}
			if err != nil || m.From != test.wantFrom || m.To != test.wantTo || !strings.Contains(m.Setting(), test.setting) || (m.Setting() == "") != (test.setting == "") {
				t.Errorf("%+v, %v, setting %q", m, err, m.Setting())
			}
		})
	}
}
