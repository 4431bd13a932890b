package cli_test

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"mara/runner/internal/cli/cmd"
	"mara/runner/internal/machine/layout"
	"mara/runner/internal/testing/cmdtest"
	"mara/runner/internal/wire"
)

const configFile = `# mine
config:
  kubernetes:infra_type: aws # where

  # the version
  eks:k8s_version: "1.36"
  nginx:values: {controller: {replicaCount: 2}}
  aws:defaultTags: {tags: {team: x}}
  myapp:token:
    secure: v1:abc
encryptionsalt: v1:x=:y
`

// runConfig runs `runner config ...` in a root with the stack file of dev.
func runConfig(t *testing.T, content, args string, environ ...string) (root, stdout, stderr string, code int) {
	t.Helper()
	files := map[string]string{"environment": "PULUMI_STACK=dev\n"}
	if content != "" {
		files["Pulumi.dev.yaml"] = content
	}
	root = cmdtest.Root(t, files)
	d, out, errs := cmdtest.Deps(t)
	d.Dir, d.Environ = root, environ
	code = wire.Run(context.Background(), d, append([]string{"config"}, strings.Fields(args)...))
	return root, out.String(), errs.String(), code
}

func TestConfigList(t *testing.T) {
	t.Parallel()
	_, stdout, stderr, code := runConfig(t, configFile, "list", "AWS_PROFILE=me")
	want := `KEY                    VALUE                            ORIGIN
aws:region             -                                missing
aws:profile            me                               AWS_PROFILE in the process environment
eks:k8s_version        1.36                             config/pulumi/Pulumi.dev.yaml:6
kubernetes:infra_type  aws                              config/pulumi/Pulumi.dev.yaml:3
nginx:values           {controller: {replicaCount: 2}}  config/pulumi/Pulumi.dev.yaml:7
aws:defaultTags        {tags: {team: x}}                config/pulumi/Pulumi.dev.yaml:8
myapp:token            [secret]                         config/pulumi/Pulumi.dev.yaml:9
`
	if diff := cmp.Diff(want, stdout); diff != "" || code != cmd.ExitDone {
		t.Errorf("exit code %d: %s", code, diff)
	}
	if !strings.HasSuffix(stderr, " more keys at the default; --all shows them\n") {
		t.Error(stderr)
	}
	_, stdout, _, _ = runConfig(t, configFile, "list --all -o json")
	type configValue struct {
		Key, Origin string
		Value       any
	}
	var values []configValue
	if err := json.Unmarshal([]byte(stdout), &values); err != nil {
		t.Fatal(err)
	}
	seen := map[string]configValue{}
	for _, v := range values {
		seen[v.Key] = v
	}
	if v := seen["eks:min_size"]; v.Origin != "default" || v.Value != 3.0 {
		t.Errorf("a default is %+v", v)
	}
	if v := seen["myapp:token"]; v.Value != "[secret]" {
		t.Errorf("an encrypted value is %+v", v)
	}
	if _, ok := seen["lke:region"]; ok {
		t.Error("keys of another provider are shown")
	}
}

func TestConfigGet(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		args, stdout, stderr string
		code                 int
	}{
		{"get eks:k8s_version", "1.36\n", "", cmd.ExitDone},
		{"get eks:min_size", "3\n", "", cmd.ExitDone},
		{"get nginx:values", "{controller: {replicaCount: 2}}\n", "", cmd.ExitDone},
		{"get eks:k8s_version -o json", "{\n  \"key\": \"eks:k8s_version\",\n  \"value\": \"1.36\",\n  \"origin\": \"stack configuration\",\n  \"file\": \"config/pulumi/Pulumi.dev.yaml\",\n  \"line\": 6\n}\n", "", cmd.ExitDone},
		{"get myapp:token", "", "error: config/pulumi/Pulumi.dev.yaml:9: myapp:token is a secret, and is not shown\n", cmd.ExitConfig},
		{"get vpc:azs", "", "error: config/pulumi/Pulumi.dev.yaml: vpc:azs is not set and has no default\nhint: set it with `runner config set vpc:azs VALUE -s dev`\n", cmd.ExitConfig},
		{"get eks:min_szie", "", "error: eks:min_szie is read by no project; did you mean \"eks:min_size\"?\nhint: `runner config list --all` shows all keys\n", cmd.ExitUsage},
		{"get", "", "error: which key? `runner config list --all` shows all keys\nhint: see `runner config get --help`\n", cmd.ExitUsage},
	} {
		_, stdout, stderr, code := runConfig(t, configFile, tt.args)
		if stdout != tt.stdout || stderr != tt.stderr || code != tt.code {
			t.Errorf("%s: exit code %d\n%s%s", tt.args, code, stdout, stderr)
		}
	}
}

func TestConfigSet(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ args, old, new string }{
		{"set eks:k8s_version 1.37", `eks:k8s_version: "1.36"`, `eks:k8s_version: "1.37"`},
		{"set kubernetes:infra_type aws", "", ""},
		{"set eks:min_size 2", "  eks:k8s_version: \"1.36\"\n", "  eks:k8s_version: \"1.36\"\n  eks:min_size: 2\n"},
		{"set vpc:azs us-east-1a,us-east-1b", "    secure: v1:abc\n", "    secure: v1:abc\n  vpc:azs:\n    - us-east-1a\n    - us-east-1b\n"},
		{`set nginx:values {"a":{"b":2}}`, "nginx:values: {controller: {replicaCount: 2}}", "nginx:values:\n    a:\n      b: 2"},
		{"set random:thing 1.30", "    secure: v1:abc\n", "    secure: v1:abc\n  random:thing: \"1.30\"\n"},
		{"unset nginx:values", "  nginx:values: {controller: {replicaCount: 2}}\n", ""},
		{"unset eks:min_size", "", ""},
		{"unset myapp:token", "  myapp:token:\n    secure: v1:abc\n", ""},
	} {
		root, _, stderr, code := runConfig(t, configFile, tt.args)
		got, err := os.ReadFile(filepath.Join(root, "config/pulumi/Pulumi.dev.yaml"))
		if err != nil || code != cmd.ExitDone {
			t.Errorf("%s: exit code %d: %s", tt.args, code, stderr)
		}
		if diff := cmp.Diff(strings.Replace(configFile, tt.old, tt.new, 1), string(got)); diff != "" {
			t.Errorf("%s: %s", tt.args, diff)
		}
	}
}

// TestConfigSetBesideOwnProjects: mara.yaml alone makes a root; the directory of the
// configuration comes with its first value.
func TestConfigSetBesideOwnProjects(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	for name, text := range map[string]string{"mara.yaml": "projects: [{path: shop}]\n", "shop/Pulumi.yaml": "name: shop\nruntime: yaml\nconfig: {size: {type: string, default: small}}\n"} {
		path := filepath.Join(root, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	d, _, stderr := cmdtest.Deps(t)
	d.Dir = root
	if code := wire.Run(context.Background(), d, strings.Fields("config set shop:size large -s dev")); code != cmd.ExitDone {
		t.Fatalf("exit code %d: %s", code, stderr)
	}
	if got, err := os.ReadFile(filepath.Join(root, "config/pulumi/Pulumi.dev.yaml")); err != nil || !strings.Contains(string(got), "shop:size: large") {
		t.Errorf("%v: %q", err, got)
	}
}

// TestConfigSetProvider: the provider may be changed while nothing is deployed.
func TestConfigSetProvider(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name, state, want, recorded string
		code                        int
	}{
		{"nothing deployed", "", "set kubernetes:infra_type to kind (was aws)", "", cmd.ExitDone},
		{"destroyed", `{"checkpoint":{"latest":{"resources":[]}}}`, "set kubernetes:infra_type to kind (was aws)", "provider: kind\n", cmd.ExitDone},
		{"deployed", `{"checkpoint":{"latest":{"resources":[{"urn":"x::y","type":"a:b:C"}]}}}`,
			"error: the stack \"dev\" is deployed with the provider aws (aws-eks), and kind was asked for; a stack never changes its provider while something is deployed\n" +
				"hint: use -p aws; or name another stack for kind with -s NAME; or destroy this one first, with -p aws\n", "provider: aws\n", cmd.ExitConfig},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			root := cmdtest.Root(t, map[string]string{"Pulumi.dev.yaml": "config:\n  kubernetes:infra_type: aws\n"})
			directory := layout.Of(root, false)
			if test.state != "" {
				cmdtest.WriteFile(t, directory.State().Stack("aws-eks", "dev"), test.state)
				cmdtest.WriteFile(t, directory.Provider("dev"), "provider: aws\n")
			}
			d, _, stderr := cmdtest.Deps(t)
			d.Dir = root
			if code := wire.Run(context.Background(), d, []string{"config", "set", "kubernetes:infra_type", "kind", "-s", "dev"}); code != test.code || !strings.Contains(stderr.String(), test.want) {
				t.Errorf("exit code %d: %s", code, stderr)
			}
			if recorded, _ := os.ReadFile(directory.Provider("dev")); string(recorded) != test.recorded {
				t.Errorf("recorded: %s", recorded)
			}
		})
	}
}

// TestConfigSetRefuses: nothing is written.
func TestConfigSetRefuses(t *testing.T) {
	t.Parallel()
	for args, want := range map[string]string{
		"set eks:min_size many":           "error: eks:min_size must be a whole number, not the string \"many\"\nhint: `runner config explain eks:min_size` shows the allowed values\n",
		"set eks:min_size 0":              "error: eks:min_size is 0; the smallest allowed value is 1\n",
		"set vpc:nat two":                 "error: vpc:nat is \"two\"; allowed: single, per-az, none\n",
		"set eks:min_szie 3":              "error: eks:min_szie is read by no project; did you mean \"eks:min_size\"?\n",
		"set kubernetes:infra_type gke":   "error: kubernetes:infra_type is \"gke\"; allowed: ",
		"set prometheus:admin_password x": "error: prometheus:admin_password is a secret (",
		"set mara:simulated true":         "error: mara:simulated is reserved: the runner sets it in simulations\nhint: use --simulate\n",
		"set myapp:token x":               "error: config/pulumi/Pulumi.dev.yaml:9: myapp:token is encrypted; a plain value would reveal it\n",
		"set region x":                    "error: config/pulumi/Pulumi.dev.yaml: region is not a configuration key; write namespace:name\n",
		"set eks:min_size":                "error: name a key and its value\n",
		"set eks:min_size 3 4":            "error: unexpected argument \"4\"\n",
	} {
		root, stdout, stderr, code := runConfig(t, configFile, args)
		if !strings.HasPrefix(stderr, want) || stdout != "" || code != cmd.ExitUsage && code != cmd.ExitConfig {
			t.Errorf("%s: exit code %d: %s%s", args, code, stdout, stderr)
		}
		if got, err := os.ReadFile(filepath.Join(root, "config/pulumi/Pulumi.dev.yaml")); err != nil || string(got) != configFile {
			t.Errorf("%s: %v, now it is %s", args, err, got)
		}
	}
}

// TestConfigBegins: the first value makes the file.
func TestConfigBegins(t *testing.T) {
	t.Parallel()
	root, _, stderr, code := runConfig(t, "", "set kubernetes:infra_type kind")
	got, err := os.ReadFile(filepath.Join(root, "config/pulumi/Pulumi.dev.yaml"))
	if err != nil || string(got) != "config:\n  kubernetes:infra_type: kind\n" || code != cmd.ExitDone {
		t.Errorf("exit code %d: %s%s", code, stderr, got)
	}
	if stderr != "config/pulumi/Pulumi.dev.yaml: set kubernetes:infra_type to kind\n" {
		t.Error(stderr)
	}
}

func TestConfigExplain(t *testing.T) {
	t.Parallel()
	_, stdout, stderr, code := runConfig(t, configFile+"", "explain eks:k8s_version")
	want := `eks:k8s_version
  value      1.36 (config/pulumi/Pulumi.dev.yaml:6)
  overrides  1.36 (default)
  meaning    Kubernetes version
  type       string
  default    1.36
  accepts    a version of Kubernetes, major.minor in quotes
  example    1.35
  read by    aws-eks
`
	if diff := cmp.Diff(want, stdout); diff != "" || code != cmd.ExitDone {
		t.Errorf("exit code %d: %s%s", code, stderr, diff)
	}
	_, stdout, _, _ = runConfig(t, configFile, "explain aws:region -o json", "AWS_DEFAULT_REGION=eu-north-1")
	var got struct {
		Origin   string
		Value    any
		Required bool
		Projects []string
	}
	if err := json.Unmarshal([]byte(stdout), &got); err != nil {
		t.Fatal(err)
	}
	if got.Value != "eu-north-1" || got.Origin != "process environment" || !got.Required || len(got.Projects) != 3 {
		t.Errorf("got %+v", got)
	}
	_, stdout, _, _ = runConfig(t, configFile, "explain aws:defaultTags")
	if !strings.Contains(stdout, "not declared by any project") {
		t.Error(stdout)
	}
}

func TestConfigSchema(t *testing.T) {
	t.Parallel()
	_, stdout, _, code := runConfig(t, "", "schema")
	d, other, _ := cmdtest.Deps(t)
	if wire.Run(context.Background(), d, []string{"schema", "config"}); code != cmd.ExitDone || stdout != other.String() || !strings.Contains(stdout, `"eks:min_size"`) {
		t.Errorf("exit code %d: %s", code, stdout)
	}
}

// TestConfigSetInAReadOnlyDir leaves the file as it was.
func TestConfigSetInAReadOnlyDir(t *testing.T) {
	t.Parallel()
	if os.Getuid() == 0 {
		t.Skip("nothing is read-only for root")
	}
	root := cmdtest.Root(t, map[string]string{"Pulumi.dev.yaml": configFile})
	directory := filepath.Join(root, "config/pulumi")
	if err := os.Chmod(directory, 0o500); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.Chmod(directory, 0o700) })
	d, _, stderr := cmdtest.Deps(t)
	d.Dir = root
	if code := wire.Run(context.Background(), d, strings.Fields("config set eks:min_size 2 -s dev")); code != cmd.ExitConfig || !strings.Contains(stderr.String(), "permission denied") {
		t.Errorf("exit code %d: %s", code, stderr)
	}
}

// TestSecretsInTheWrongFile: plain-text secrets there are reported and refused, and
// never shown.
func TestSecretsInTheWrongFile(t *testing.T) {
	t.Parallel()
	const file = "config:\n  kubernetes:infra_type: linode\n  linode:token: hunter2hunter2\n  prometheus:admin_password: hunter2hunter2\n"
	for args, want := range map[string]string{
		"list":                              "[secret]",
		"list -o json":                      `"[secret]"`,
		"get linode:token":                  "linode:token is a secret, and is not shown",
		"get linode:token -o json":          `"[secret]"`,
		"explain prometheus:admin_password": "is a secret",
		"explain linode:token":              "[secret]",
		"set linode:token other":            "error: linode:token is a credential, and would be stored in plain text\nhint: set LINODE_TOKEN in config/pulumi/environment\n",
		"unset linode:token":                "removed linode:token (was [secret])",
	} {
		_, stdout, stderr, _ := runConfig(t, file, args)
		if output := stdout + stderr; !strings.Contains(output, want) || strings.Contains(output, "hunter2") {
			t.Errorf("%s: %s", args, output)
		}
	}
	for operation, args := range map[string]string{"up": "up -s dev --yes", "a simulated up": "up -s dev --simulate"} {
		d, _, stderr := cmdtest.Deps(t)
		d.Dir = cmdtest.Root(t, map[string]string{"Pulumi.dev.yaml": file})
		code := wire.Run(t.Context(), d, strings.Fields(args))
		if output := stderr.String(); code != cmd.ExitConfig || strings.Contains(output, "hunter2") || !strings.Contains(output, "config/pulumi/Pulumi.dev.yaml:3: linode:token is a credential in plain text") ||
			!strings.Contains(output, "config/pulumi/Pulumi.dev.yaml:4: prometheus:admin_password is a secret, and is not read from here") {
			t.Errorf("%s: exit code %d: %s", operation, code, output)
		}
	}
}
