package e2e

import (
	"bytes"
	"encoding/json"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// files returns the files of an environment and their contents.
func (e *environment) files() map[string]string {
	e.t.Helper()
	files := map[string]string{}
	err := fs.WalkDir(os.DirFS(e.root), ".", func(name string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		content, err := os.ReadFile(filepath.Join(e.root, name))
		files[name] = string(content)
		return err
	})
	if err != nil {
		e.t.Fatal(err)
	}
	return files
}

// TestAdopt adopts a repository with projects and states of its own: what it
// writes is all that changes, and what is deployed goes on as it was.
func TestAdopt(t *testing.T) {
	t.Parallel()
	long(t)
	e := example(t, "existing")
	if err := os.RemoveAll(filepath.Join(e.root, "config")); err != nil { // such a repository has none
		t.Fatal(err)
	}
	e.env = append(e.env, "PULUMI_BACKEND_URL=file://state")
	before := e.files()
	r := e.run("adopt", "--print")
	if r.code != 0 || !strings.Contains(r.stdout, "# bookshop: monitoring/Pulumi.yaml:") {
		t.Fatalf("adopt --print: exit code %d\n%s%s", r.code, r.stdout, r.stderr)
	}
	if diff := cmp.Diff(before, e.files()); diff != "" {
		t.Fatalf("adopt --print has changed files: %s", diff)
	}
	printed := r.stdout
	if r = e.run("adopt"); r.code != 0 || !strings.Contains(r.stdout, "Environments: dev, prod") {
		t.Fatalf("adopt: exit code %d\n%s%s", r.code, r.stdout, r.stderr)
	}
	after := e.files()
	if after["mara.yaml"] != printed {
		t.Errorf("mara.yaml is not what was printed:\n%s", after["mara.yaml"])
	}
	delete(after, "mara.yaml")
	if diff := cmp.Diff(before, after); diff != "" {
		t.Fatalf("adopt has changed more than mara.yaml: %s", diff)
	}
	if r = e.run("adopt"); r.code != 3 || !strings.Contains(r.stderr, "exists already") {
		t.Errorf("a second time: exit code %d, %s", r.code, r.stderr)
	}
	if r = e.run("adopt", "--update"); r.code != 0 || !strings.Contains(r.stdout, "nothing was changed") {
		t.Errorf("adopt --update: exit code %d, %s%s", r.code, r.stdout, r.stderr)
	}
	e.workOnAdopted()
	for name, content := range before { // the states of prod, and what the user has written
		if now, err := os.ReadFile(filepath.Join(e.root, name)); err != nil || !strings.Contains(name, "dev.json") && !strings.Contains(name, "dev.yaml") && !bytes.Equal(now, []byte(content)) {
			t.Errorf("%s has changed, %v:\n%s", name, err, now)
		}
	}
}

// workOnAdopted runs on the environment dev of what was adopted.
func (e *environment) workOnAdopted() {
	e.t.Helper()
	for _, test := range []struct {
		args []string
		want []string
	}{
		{[]string{"stacks"}, []string{"dev", "prod", "3 of 4 projects"}},
		{[]string{"status", "-s", "prod"}, []string{"bookshop-database    deployed        1", "bookshop-monitoring  never deployed"}},
		{[]string{"preview", "-s", "dev"}, []string{"4 succeeded; 1 to create"}},
		{[]string{"drift", "-s", "dev", "--exit-code"}, []string{"3 succeeded, 1 skipped; no changes"}},
		{[]string{"up", "-s", "dev", "--yes"}, []string{"4 succeeded; 1 created"}},
		{[]string{"outputs", "-s", "dev", "bookshop-database"}, []string{"address: database.dev.bookshop.example.com", "login: [secret]"}},
		{[]string{"outputs", "-s", "dev", "bookshop-database", "--show-secrets"}, []string{"login: owner:hunter2-dev"}},
		{[]string{"pulumi", "-s", "dev", "bookshop-database", "--", "stack", "--show-name"}, []string{"database-dev"}},
		{[]string{"doctor", "-s", "dev"}, []string{"database/Pulumi.database-dev.yaml"}},
		{[]string{"query", "-s", "dev", `.items[] | select(.project == "bookshop-database") | .environment`}, []string{"dev"}},
	} {
		r := e.run(test.args...)
		for _, want := range test.want {
			if r.code != 0 || !strings.Contains(r.stdout, want) {
				e.t.Errorf("runner %s: exit code %d, no %q in\n%s%s", strings.Join(test.args, " "), r.code, want, r.stdout, r.stderr)
			}
		}
	}
	for _, test := range []struct {
		args []string
		code int
		want string
	}{
		{[]string{"config", "list", "-s", "dev"}, 0, "bookshop-network:domain        dev.bookshop.example.com  network/Pulumi.dev.yaml:3"},
		{[]string{"config", "set", "-s", "dev", "bookshop-network:domain", "x"}, 0, "network/Pulumi.dev.yaml: set bookshop-network:domain to x (was dev.bookshop.example.com)"},
		{[]string{"config", "set", "-s", "dev", "bookshop-network:domain", "dev.bookshop.example.com"}, 0, "network/Pulumi.dev.yaml: set"},
		{[]string{"config", "set", "-s", "test", "bookshop-network:domain", "test.example.com", "--new"}, 0, "network/Pulumi.test.yaml: set bookshop-network:domain to test.example.com"},
		{[]string{"config", "get", "-s", "test", "bookshop-network:domain"}, 0, "test.example.com"},
		{[]string{"secrets", "list", "-s", "dev"}, 0, "set (database/Pulumi.database-dev.yaml:"},
	} {
		if r := e.run(test.args...); r.code != test.code || !strings.Contains(r.stdout+r.stderr, test.want) {
			e.t.Errorf("runner %s: exit code %d, no %q in\n%s%s", strings.Join(test.args, " "), r.code, test.want, r.stdout, r.stderr)
		}
	}
	if r := e.run("preview", "-s", "prod", "--non-interactive", "-o", "json"); r.code != 0 || strings.Contains(r.stdout, "hunter2") {
		e.t.Errorf("preview of prod: exit code %d\n%s%s", r.code, lastLines(r.stdout), r.stderr)
	}
	e.env = append(e.env, "NEW=correct horse")
	r := e.run("secrets", "change-provider", "passphrase", "--new-passphrase", "env:NEW", "--yes", "-s", "dev")
	if r.code != 0 || !strings.Contains(r.stdout, "encrypted the state of bookshop-monitoring") || !strings.Contains(r.stdout, "encrypted database/Pulumi.database-dev.yaml") {
		e.t.Errorf("secrets change-provider: exit code %d, %s%s", r.code, r.stdout, r.stderr)
	}
	if r := e.run("preview", "-s", "dev"); r.code != 0 {
		e.t.Errorf("preview with a new encryption: exit code %d\n%s%s", r.code, r.stdout, r.stderr)
	}
	e.env = append(e.env, "PULUMI_CONFIG_PASSPHRASE=wrong")
	if r := e.run("preview", "-s", "prod"); r.code != 3 || !strings.Contains(r.stderr, "the passphrase is wrong: ") {
		e.t.Errorf("a wrong passphrase: exit code %d, %s", r.code, r.stderr)
	}
	if r := e.run("preview", "-s", "prod", "--simulate", "-o", "json"); r.code != 0 { // it needs none
		e.t.Errorf("a simulation: exit code %d\n%s%s", r.code, lastLines(r.stdout), r.stderr)
	}
	var document struct{ Environments []string }
	if r := e.run("adopt", "--print", "-o", "json"); json.Unmarshal([]byte(r.stdout), &document) != nil || len(document.Environments) != 3 { // test has a stack file by now
		e.t.Errorf("adopt -o json: %s%s", r.stdout, r.stderr)
	}
}
