package cli_test

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"mara/config"
	"mara/runner/internal/core/encryption"
	"mara/runner/internal/testing/cmdtest"
	"mara/runner/internal/wire"
)

// adoptedRoot is a repository with a stack file next to each project, as plain Pulumi has them: nothing is in config/.
func adoptedRoot(t *testing.T) string {
	t.Helper()
	root := t.TempDir()
	for file, content := range map[string]string{
		"mara.yaml":            "projects:\n- {path: net, stackFile: own}\n- {path: db, stackFile: own, reads: net}\n- {path: api, stackFile: own}\n",
		"net/Pulumi.yaml":      "name: net\nruntime: yaml\nconfig:\n  cidr: {type: string, default: 10.0.0.0/16}\n  zones: {type: integer}\n",
		"net/Pulumi.dev.yaml":  "config:\n  # three of them\n  net:zones: 3\n",
		"net/Pulumi.prod.yaml": "config:\n  net:zones: 4\n",
		"db/Pulumi.yaml":       "name: db\nruntime: yaml\nconfig:\n  password: {type: string, secret: true}\n",
		"db/Pulumi.dev.yaml":   "",
		"api/Pulumi.yaml":      "name: api\nruntime: go\n",
		"api/Pulumi.dev.yaml":  "config:\n  api:domain: example.com\n  api:db:\n    port: 5432\n",
	} {
		cmdtest.WriteFile(t, filepath.Join(root, file), content)
	}
	return root
}

// runAdopted runs a command line in a root, with a passphrase and a value in the environment.
func runAdopted(t *testing.T, root string, args ...string) (output string, code int) {
	t.Helper()
	d, out, errs := cmdtest.Deps(t)
	d.Dir = root
	d.Environ = []string{"HOME=" + t.TempDir(), "PULUMI_CONFIG_PASSPHRASE=" + secretsPassphrase, "VALUE=swordfish"}
	code = wire.Run(context.Background(), d, args)
	return out.String() + errs.String(), code
}

// TestAdoptedEnvironments: each command knows the environments of stack files next to the projects.
func TestAdoptedEnvironments(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		args string
		code int
		want []string
	}{
		{"check", 0, []string{"2 environments checked, no problems"}},
		{"check dev", 0, []string{"1 environment checked, no problems"}},
		{"check nosuch", 2, []string{`no environment "nosuch"`}},
		{"fleet list", 0, []string{"dev ", "prod "}},
		{"stacks", 0, []string{"dev ", "prod "}},
		{"config diff dev prod", 0, []string{"net:zones", "net/Pulumi.dev.yaml:3", "net/Pulumi.prod.yaml:2"}},
		{"config list -s dev", 0, []string{"api:domain", "api/Pulumi.dev.yaml:2"}},
		{"config get api:domain -s dev", 0, []string{"example.com"}},
		{"fleet get net:zones", 0, []string{"3", "4"}},
		{"secrets list -s dev", 0, []string{"db:password  missing"}},
		{"preview", 2, []string{"no stack is named; there are dev, prod", "`runner fleet status` shows all of them"}},
		{"status", 2, []string{"no stack is named; there are dev, prod", "`runner fleet status` shows all of them"}},
		{"up -s devv --yes", 3, []string{`there is no environment "devv"; there are dev, prod; did you mean dev?`, "--new"}},
		{"config set net:zones 5 -s devv", 3, []string{"did you mean dev?"}},
		{"secrets set db:password env:VALUE -s prd", 3, []string{"did you mean prod?"}},
	} {
		output, code := runAdopted(t, adoptedRoot(t), strings.Fields(test.args)...)
		if code != test.code {
			t.Errorf("%s: exit code %d\n%s", test.args, code, output)
		}
		for _, want := range test.want {
			if !strings.Contains(output, want) {
				t.Errorf("%s: no %q in\n%s", test.args, want, output)
			}
		}
		if strings.Contains(output, "config/pulumi/Pulumi.") {
			t.Errorf("%s names a file that should not exist:\n%s", test.args, output)
		}
	}
}

// TestAdoptedCheck: what is wrong in a stack file next to a project is a finding, and so is a check of nothing.
func TestAdoptedCheck(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		file, content string
		code          int
		want          string
	}{
		"a wrong value":          {"net/Pulumi.dev.yaml", "config:\n  net:zones: many\n", 3, "net/Pulumi.dev.yaml:2: error: net:zones must be a whole number"},
		"a missing value":        {"net/Pulumi.dev.yaml", "config: {}\n", 3, "net/Pulumi.dev.yaml: error: net:zones is missing"},
		"not YAML":               {"net/Pulumi.dev.yaml", "config:\n  net:zones: [\n", 3, "net/Pulumi.dev.yaml:"},
		"a key of another":       {"net/Pulumi.dev.yaml", "config:\n  net:zones: 3\n  db:nonsense: 1\n", 0, "net/Pulumi.dev.yaml:3: warning: db:nonsense has the namespace of db, and is in the file of net"},
		"left over of a rename":  {"net/Pulumi.dev.yaml", "config:\n  net:zones: 3\n  network:cidr: x\n", 0, "network:cidr is read by no project; left over of a rename? net reads net:cidr"},
		"undeclared, of YAML":    {"net/Pulumi.dev.yaml", "config:\n  net:zones: 3\n  net:size: x\n", 0, "net:size is read by no project"},
		"a file of no one":       {"mara.yaml", "environments: [dev]\nprojects:\n- {path: net, stackFile: own}\n", 0, "net/Pulumi.prod.yaml: warning: is of no environment: mara.yaml lists dev"},
		"no environment":         {"mara.yaml", "projects:\n- {path: db}\n", 3, "no environment was checked"},
		"a broken project":       {"db/Pulumi.yaml", "name: db\noutputs: {v: [\n", 3, "db/Pulumi.yaml:2: error: is not valid YAML"},
		"an environment twice":   {"mara.yaml", "environments: [dev, dev]\nprojects: []\n", 3, "mara.yaml:1: error: environments has dev twice"},
		"a backend of no scheme": {"mara.yaml", "backend: states\nprojects: []\n", 3, `mara.yaml:1: error: backend "states" is not the address of a backend`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			root := adoptedRoot(t)
			cmdtest.WriteFile(t, filepath.Join(root, test.file), test.content)
			output, code := runAdopted(t, root, "check")
			if code != test.code || !strings.Contains(output, test.want) {
				t.Errorf("exit code %d, no %q in\n%s", code, test.want, output)
			}
		})
	}
}

// TestOneProblemIsSaidOnce: a key of a misspelled namespace is an error, and not a doubt as well.
func TestOneProblemIsSaidOnce(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	cmdtest.WriteFile(t, filepath.Join(root, "mara.yaml"), "projects:\n- {path: net}\n")
	cmdtest.WriteFile(t, filepath.Join(root, "net/Pulumi.yaml"), "name: net\nruntime: yaml\nconfig: {zones: {type: integer, default: 1}}\n")
	cmdtest.WriteFile(t, filepath.Join(root, "config/pulumi/Pulumi.dev.yaml"), "config:\n  nett:zones: 3\n")
	output, code := runAdopted(t, root, "check")
	if code != 3 || strings.Count(output, "nett:zones is read by no project") != 1 || !strings.Contains(output, `did you mean "net:zones"?`) {
		t.Error(code, output)
	}
}

// TestEnvironmentIsAnArgument: where environments are arguments, their flag is refused with what to type.
func TestEnvironmentIsAnArgument(t *testing.T) {
	t.Parallel()
	output, code := runAdopted(t, adoptedRoot(t), "check", "-s", "dev")
	if code != 2 || !strings.Contains(output, "-s is not a flag of `runner check`: it takes environments as arguments") {
		t.Error(code, output)
	}
}

// TestAdoptedKeys: the keys of a project go where plain Pulumi reads them, declared or not; the rest of the file stays.
func TestAdoptedKeys(t *testing.T) {
	t.Parallel()
	root := adoptedRoot(t)
	for _, test := range []struct {
		args       []string
		code       int
		file, want string
	}{
		{[]string{"config", "set", "api:feature", "blue", "-s", "dev"}, 0, "api/Pulumi.dev.yaml", "config:\n  api:domain: example.com\n  api:db:\n    port: 5432\n  api:feature: blue\n"},
		{[]string{"config", "set", "--path", "api:db.host", "db.example.com", "-s", "dev"}, 0, "api/Pulumi.dev.yaml", "host: db.example.com"},
		{[]string{"config", "set", "--path", "api:db.port", "5433", "-s", "dev"}, 0, "api/Pulumi.dev.yaml", "  api:db:\n    port: 5433\n    host: db.example.com\n"},
		{[]string{"config", "set", "net:zones", "5", "-s", "dev"}, 0, "net/Pulumi.dev.yaml", "config:\n  # three of them\n  net:zones: 5\n"},
		{[]string{"config", "set", "net:cidr", "10.1.0.0/16", "-s", "prod"}, 0, "net/Pulumi.prod.yaml", "config:\n  net:zones: 4\n  net:cidr: 10.1.0.0/16\n"},
		{[]string{"config", "set", "aws:region", "eu-west-1", "-s", "dev"}, 2, "", "aws:region belongs to no project of mara.yaml"},
		{[]string{"config", "set", "net:zones", "1", "-s", "test", "--new"}, 0, "net/Pulumi.test.yaml", "config:\n  net:zones: 1\n"},
	} {
		output, code := runAdopted(t, root, test.args...)
		got := output
		if test.file != "" {
			content, err := os.ReadFile(filepath.Join(root, test.file))
			if err != nil {
				t.Error(err)
			}
			got = string(content)
		}
		if code != test.code || !strings.Contains(got, test.want) {
			t.Errorf("%v: exit code %d, %s\nno %q in\n%s", test.args, code, output, test.want, got)
		}
	}
	if _, err := os.Stat(filepath.Join(root, "config")); err == nil {
		t.Error("a directory config was made, which plain Pulumi does not read")
	}
}

// TestAdoptedSecrets: secrets are set, replaced and taken away in the stack file next to their project.
func TestAdoptedSecrets(t *testing.T) {
	t.Parallel()
	root := adoptedRoot(t)
	read := func() config.StackFile {
		content, err := os.ReadFile(filepath.Join(root, "db/Pulumi.dev.yaml"))
		if err != nil {
			t.Fatal(err)
		}
		file, err := config.ParseStack("db/Pulumi.dev.yaml", content)
		if err != nil {
			t.Fatal(err)
		}
		return file
	}
	open := func(file config.StackFile) string {
		header, err := file.Header()
		if err != nil {
			t.Fatal(err)
		}
		key, err := encryption.OpenKey(secretsPassphrase, header.EncryptionSalt)
		if err != nil {
			t.Fatal(err)
		}
		entry, _ := file.Lookup("db:password")
		value, err := key.Decrypt(string(entry.Value.(config.Ciphertext)))
		if err != nil {
			t.Fatal(err)
		}
		return value
	}
	if output, code := runAdopted(t, root, "secrets", "set", "db:password", "env:VALUE", "-s", "dev"); code != 0 || !strings.Contains(output, "set db:password in db/Pulumi.dev.yaml") {
		t.Fatalf("exit code %d\n%s", code, output)
	}
	first := read()
	if got := open(first); got != "swordfish" {
		t.Errorf("the value is %q", got)
	}
	if output, code := runAdopted(t, root, "config", "set", "--secret", "db:password", "env:HOME", "-s", "dev"); code != 0 {
		t.Fatalf("exit code %d\n%s", code, output)
	}
	before, _ := first.Header()
	if after, _ := read().Header(); after != before || open(read()) == "swordfish" {
		t.Errorf("the key is %+v, was %+v", after, before)
	}
	if output, code := runAdopted(t, root, "secrets", "list", "-s", "dev"); code != 0 || !strings.Contains(output, "set (db/Pulumi.dev.yaml:") {
		t.Errorf("exit code %d\n%s", code, output)
	}
	if output, code := runAdopted(t, root, "config", "set", "--secret", "db:password", "hunter2", "-s", "dev"); code != 2 || strings.Contains(output, "hunter2") {
		t.Errorf("a value on the command line: exit code %d\n%s", code, output)
	}
	if output, code := runAdopted(t, root, "secrets", "change-provider", "passphrase", "--new-passphrase", "env:VALUE", "--yes", "-s", "dev"); code != 0 || !strings.Contains(output, "encrypted db/Pulumi.dev.yaml") {
		t.Fatalf("exit code %d\n%s", code, output)
	}
	header, _ := read().Header()
	if _, err := encryption.OpenKey("swordfish", header.EncryptionSalt); err != nil {
		t.Errorf("the new passphrase does not open the file: %v", err)
	}
	if output, code := runAdopted(t, root, "secrets", "remove", "db:password", "--yes", "-s", "dev"); code != 0 {
		t.Fatalf("exit code %d\n%s", code, output)
	}
	if _, there := read().Lookup("db:password"); there {
		t.Error("the secret is still there")
	}
	if _, err := os.Stat(filepath.Join(root, "config")); err == nil {
		t.Error("a directory config was made, which plain Pulumi does not read")
	}
}

// TestBrokenProject: a project that cannot be read is an error of that project; looking goes on with a warning.
func TestBrokenProject(t *testing.T) {
	t.Parallel()
	root := adoptedRoot(t)
	cmdtest.WriteFile(t, filepath.Join(root, "api/Pulumi.yaml"), "name: api\nruntime: go\noutputs: {v: [\n")
	for _, test := range []struct {
		args string
		code int
		want string
	}{
		{"history", 0, "warning: api/Pulumi.yaml:"}, {"stacks", 0, "dev"}, {"plan", 0, "api"}, {"config list -s dev", 0, "net:zones"},
		{"up -s dev --yes", 3, "configuration: api/Pulumi.yaml:3: is not valid YAML"},
	} {
		output, code := runAdopted(t, root, strings.Fields(test.args)...)
		if code != test.code || !strings.Contains(output, test.want) {
			t.Errorf("%s: exit code %d, no %q in\n%s", test.args, code, test.want, output)
		}
	}
}

// TestKeysWithoutNamespace: Pulumi takes a key without a namespace in a stack file for the project's, and so does each command.
func TestKeysWithoutNamespace(t *testing.T) {
	t.Parallel()
	root := adoptedRoot(t)
	cmdtest.WriteFile(t, filepath.Join(root, "net/Pulumi.dev.yaml"), "config:\n  # three of them\n  zones: 3\n  aws:region: us-east-1\n")
	for _, test := range []struct{ args, want string }{
		{"check dev", "1 environment checked, no problems"},
		{"config get net:zones -s dev", "3"},
		{"config set net:zones 5 -s dev", "net/Pulumi.dev.yaml: set net:zones to 5 (was 3)"},
		{"config list -s dev", "net/Pulumi.dev.yaml:3"},
	} {
		if output, code := runAdopted(t, root, strings.Fields(test.args)...); code != 0 || !strings.Contains(output, test.want) {
			t.Errorf("%s: exit code %d\n%s", test.args, code, output)
		}
	}
	content, err := os.ReadFile(filepath.Join(root, "net/Pulumi.dev.yaml"))
	if want := "config:\n  # three of them\n  net:zones: 5\n  aws:region: us-east-1\n"; err != nil || string(content) != want {
		t.Errorf("%q, %v", content, err)
	}
}

// TestAdoptMoved mends a mara.yaml whose projects are in other directories now: every other command refuses it.
func TestAdoptMoved(t *testing.T) {
	t.Parallel()
	root := adoptedRoot(t)
	file := filepath.Join(root, "mara.yaml")
	cmdtest.WriteFile(t, file, "projects:\n- path: net\n  stackFile: own\n- path: db\n  reads: net\n- path: api\n")
	cmdtest.WriteFile(t, filepath.Join(root, "infra/README"), "")
	if err := os.Rename(filepath.Join(root, "net"), filepath.Join(root, "infra/net")); err != nil {
		t.Fatal(err)
	}
	output, code := runAdopted(t, root, "adopt", "--update")
	if code != 0 || !strings.Contains(output, "net was moved: it is in infra/net now, not in net") {
		t.Errorf("exit code %d: %s", code, output)
	}
	content, err := os.ReadFile(file)
	if err != nil || !strings.Contains(string(content), "\n- path: infra/net\n  stackFile: own\n- path: db\n") {
		t.Errorf("%v: %s", err, content)
	}
}
