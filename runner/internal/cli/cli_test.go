package cli_test

import (
	"context"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"mara/runner/internal/cli/cmd"
	"mara/runner/internal/testing/cmdtest"
	"mara/runner/internal/wire"
)

var update = flag.Bool("update", false, "write the golden files anew")

func checkGolden(t *testing.T, name, got string) {
	t.Helper()
	path := filepath.Join("testdata", name)
	if *update {
		if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), got); diff != "" {
		t.Error(diff)
	}
}

// TestRun runs whole command lines in a directory without a configuration.
func TestRun(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name, args string
		environ    []string
		code       int
		stdout     string // the start
		stderr     string // complete
	}{
		{"nothing", "", nil, 0, "Run many small Pulumi projects", ""},
		{"help", "help", nil, 0, "Run many small Pulumi projects", ""},
		{"help about everything", "help --all", nil, 0, "Run many small Pulumi projects", ""},
		{"help about a topic", "help slack", nil, 0, "A message to Slack.\n", ""},
		{"help about a topic of two words", "help roll back", nil, 0, "Roll back.\n", ""},
		{"help about a command of Pulumi's", "help stack init", nil, 2, "", "error: unknown command \"stack\"; here that is `runner up -s NAME --new`\nhint: see `runner --help`\n"},
		{"help flag", "-h", nil, 0, "Run many small Pulumi projects", ""},
		{"help of a command", "help plan", nil, 0, "Show the projects of a provider", ""},
		{"help flag of a command", "plan -p nowhere x --help", nil, 0, "Show the projects of a provider", ""},
		{"help flag before a command", "--help show-execution", nil, 0, "Show the projects of a provider", ""},
		{"version flag", "--version", nil, 0, "runner 1.2.3\npulumi 3.250.0\n", ""},
		{"version", "version -o json", nil, 0, "{\n  \"runner\": \"1.2.3\",\n  \"pulumi\": \"3.250.0\"\n}\n", ""},
		{"providers", "providers", nil, 0, "NAME ", ""},
		{"providers by the old name", "list-providers -o=json", nil, 0, "[\n  {\n    \"name\": \"aws\"", ""},
		{"plan", "plan -p aws", nil, 0, "aws (Amazon Web Services): 15 projects, in the order of up\n┌── infrastructure/aws", ""},
		{"plan by the old name", "show-execution -p linode", nil, 0, "linode (Linode): 16 projects", ""},
		{"plan of destroy", "plan -p kind --destroy", nil, 0, "kind (Kubernetes in Docker): 14 projects, in the order of destroy\n┌── kubernetes/applications", ""},
		{"flags before the command", "-p kind -o table plan", nil, 0, "#   PROJECT", ""},
		{"provider from the environment", "plan -o json", []string{"RUNNER_PROVIDER=kind"}, 0, "{\n  \"version\": 1,\n  \"provider\": \"kind\"", ""},
		{"flag over environment", "plan -p aws -o tree", []string{"RUNNER_PROVIDER=kind", "RUNNER_OUTPUT=json"}, 0, "aws (", "note: --provider aws overrides RUNNER_PROVIDER in the process environment (kind)\n"},
		{"output from the environment", "plan -p aws", []string{"RUNNER_OUTPUT=dot"}, 0, "digraph", ""},
		{"switch from the environment", "plan -p kind", []string{"RUNNER_DESTROY=true"}, 0, "kind (Kubernetes in Docker): 14 projects, in the order of destroy", ""},

		{"unknown command", "plna", nil, 2, "", "error: unknown command \"plna\"; did you mean \"plan\"?\nhint: see `runner --help`\n"},
		{"unknown help topic", "help nothing", nil, 2, "", "error: unknown command \"nothing\"\nhint: see `runner --help`\n"},
		{"unknown flag", "plan --provder aws", nil, 2, "", "error: unknown flag --provder; did you mean --provider?\nhint: see `runner plan --help`\n"},
		{"unknown short flag", "plan -x", nil, 2, "", "error: unknown flag -x\nhint: see `runner plan --help`\n"},
		{"flag of another command", "providers --destroy", nil, 2, "", "error: --destroy is not a flag of `runner providers`\nhint: see `runner providers --help`\n"},
		{"flag without its value", "plan -p", nil, 2, "", "error: -p needs a value\nhint: see `runner plan --help`\n"},
		{"flag with a flag for its value", "plan -p --destroy", nil, 2, "", "error: -p needs a value\nhint: see `runner plan --help`\n"},
		{"flags only", "-p aws", nil, 2, "", "error: no command is given\nhint: see `runner --help`\n"},
		{"argument too many", "plan aws", nil, 2, "", "error: unexpected argument \"aws\"\nhint: see `runner plan --help`\n"},
		{"argument too many below a group", "config list x", nil, 2, "", "error: unexpected argument \"x\"\nhint: see `runner config list --help`\n"},
		{"wrong switch below a group", "config list --all=x", nil, 2, "", "error: --all: \"x\" is not a valid value\nhint: see `runner config list --help`\n"},
		{"unknown format", "plan -p aws -o png", nil, 2, "", "error: --output: \"png\" is not a valid value: allowed are tree, table, json, dot, mermaid, svg, html, yaml\nhint: see `runner plan --help`\n"},
		{"wrong switch", "plan --destroy=maybe", nil, 2, "", "error: --destroy: \"maybe\" is not a valid value\nhint: see `runner plan --help`\n"},
		{"unknown format in the environment", "plan -p aws", []string{"RUNNER_OUTPUT=png"}, 3, "", "error: RUNNER_OUTPUT in the process environment: \"png\" is not a valid value: allowed are tree, table, json, dot, mermaid, svg, html, yaml\n"},
		{"wrong switch in the environment", "plan -p aws", []string{"RUNNER_DESTROY=maybe"}, 3, "", "error: RUNNER_DESTROY in the process environment: \"maybe\" is not a valid value\n"},
		{"no provider", "plan", nil, 2, "", "error: --provider: no provider is named; known: " + knownProviders + "\nhint: name it with -p NAME, or with kubernetes:infra_type in the stack configuration\n"},
		{"unknown provider", "plan -p AWS", nil, 2, "", "error: --provider: unknown provider \"AWS\"; known: " + knownProviders + "; did you mean \"aws\"?\nhint: `runner providers` lists them\n"},
		{"unknown provider in the environment", "plan", []string{"RUNNER_PROVIDER=gke"}, 3, "", "error: RUNNER_PROVIDER in the process environment: unknown provider \"gke\"; known: " + knownProviders + "\nhint: `runner providers` lists them\n"},
		{"no shell", "completion", nil, 2, "", "error: name the shell: bash, zsh, fish or powershell\nhint: see `runner completion --help`\n"},
		{"unknown shell", "completion tcsh", nil, 2, "", "error: name the shell: bash, zsh, fish or powershell\nhint: see `runner completion --help`\n"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			d, stdout, stderr := cmdtest.Deps(t)
			d.Environ = tt.environ
			if code := wire.Run(context.Background(), d, strings.Fields(tt.args)); code != tt.code {
				t.Errorf("exit code %d, want %d", code, tt.code)
			}
			if !strings.HasPrefix(stdout.String(), tt.stdout) || tt.stdout == "" && stdout.Len() > 0 {
				t.Errorf("stdout: %s", stdout)
			}
			if diff := cmp.Diff(tt.stderr, stderr.String()); diff != "" {
				t.Errorf("stderr: %s", diff)
			}
		})
	}
}

// TestRunWithConfiguration runs command lines below a root.
func TestRunWithConfiguration(t *testing.T) {
	t.Parallel()
	const kind = "config:\n  kubernetes:infra_type: kind\n"
	tests := []struct {
		name, args     string
		files          map[string]string
		environ        []string
		code           int
		stdout, stderr string // the start
	}{
		{"configured provider", "plan", map[string]string{"environment": "PULUMI_STACK=dev", "Pulumi.dev.yaml": kind}, nil, 0, "kind (", ""},
		{"named stack", "plan -s Dev", map[string]string{"Pulumi.Dev.yaml": kind}, nil, 0, "kind (", ""},
		{"provider asked for", "plan -p aws", map[string]string{"environment": "PULUMI_STACK=dev", "Pulumi.dev.yaml": "not: [valid"}, nil, 0, "aws (", ""},
		{"flag in the environment file", "plan -p aws", map[string]string{"environment": "RUNNER_OUTPUT=dot"}, []string{"RUNNER_OUTPUT=json"}, 0, "digraph", ""},
		{"no provider", "plan -s dev", nil, nil, 2, "", "error: --provider: no provider is named"},
		{"unknown configured provider", "plan -s dev", map[string]string{"Pulumi.dev.yaml": "config: {kubernetes:infra_type: LKE}"}, nil, 3, "",
			"error: config/pulumi/Pulumi.dev.yaml:1: kubernetes:infra_type: unknown provider \"LKE\"; known: " + knownProviders + "\n"},
		{"broken environment file", "plan -p aws", map[string]string{"environment": "A=1\nB"}, nil, 3, "", "error: config/pulumi/environment:2: has no =; write NAME=value\n"},
		{"root in the environment file", "plan -p aws", map[string]string{"environment": "RUNNER_ROOT=/x"}, nil, 3, "", "error: config/pulumi/environment:1: RUNNER_ROOT: cannot be set here"},
		{"comment-only files", "plan -s dev", map[string]string{"environment": "#", "Pulumi.dev.yaml": "# nothing"}, nil, 2, "", "error: --provider: no provider is named"},
		{"two stacks", "plan -s prod -p kind", map[string]string{"environment": "PULUMI_STACK=dev"}, nil, 0, "kind (",
			"note: --stack prod overrides PULUMI_STACK in config/pulumi/environment:1 (dev)\n"},
		{"two stacks in variables", "status", map[string]string{"environment": "PULUMI_STACK=dev"}, []string{"PULUMI_STACK=prod"}, 3, "",
			"error: PULUMI_STACK in the process environment: is \"prod\", but PULUMI_STACK in config/pulumi/environment:1 says \"dev\"\nhint: unset PULUMI_STACK, or remove line 1"},
		{"stack with a slash", "plan -s a/b/c/d", nil, nil, 2, "", "error: --stack: the stack name \"c/d\" contains '/'"},
		{"stack with a slash in the file", "plan", map[string]string{"environment": "PULUMI_STACK=a/b/c/d"}, nil, 3, "", "error: config/pulumi/environment:1: PULUMI_STACK: the stack name \"c/d\" contains '/'"},
		{"empty stack", "plan --stack=", nil, nil, 2, "", "error: --stack: a stack name may not be empty\n"},
		{"broken stack file", "plan -s dev", map[string]string{"Pulumi.dev.yaml": "config:\n\ta: b"}, nil, 3, "", "error: config/pulumi/Pulumi.dev.yaml:2: is not valid YAML"},
		{"commands that read no configuration", "providers", map[string]string{"environment": "broken"}, nil, 0, "NAME", ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			root := cmdtest.Root(t, tt.files)
			d, _, _ := cmdtest.Deps(t)
			for _, way := range []struct {
				dir     string
				environ []string
				args    []string
			}{
				{root, nil, nil},
				{filepath.Join(root, "config"), nil, nil},
				{d.Dir, nil, []string{"--root", root}},
				{d.Dir, []string{"RUNNER_ROOT=" + root}, nil},
			} {
				if tt.name == "commands that read no configuration" {
					way.args = nil
				}
				d, stdout, stderr := cmdtest.Deps(t)
				d.Dir, d.Environ = way.dir, append(way.environ, tt.environ...)
				if code := wire.Run(context.Background(), d, append(way.args, strings.Fields(tt.args)...)); code != tt.code {
					t.Errorf("exit code %d, want %d", code, tt.code)
				}
				if !strings.HasPrefix(stdout.String(), tt.stdout) || !strings.HasPrefix(stderr.String(), tt.stderr) || tt.stderr == "" && stderr.Len() > 0 {
					t.Errorf("stdout: %s\nstderr: %s", stdout, stderr)
				}
			}
		})
	}
}

func TestWrongRoot(t *testing.T) {
	t.Parallel()
	d, _, stderr := cmdtest.Deps(t)
	if code := wire.Run(context.Background(), d, []string{"plan", "-p", "aws", "--root", "nowhere"}); code != cmd.ExitUsage {
		t.Errorf("exit code %d", code)
	}
	want := "error: --root: the directory " + filepath.Join(d.Dir, "nowhere") + " does not exist\n"
	if diff := cmp.Diff(want, stderr.String()); diff != "" {
		t.Error(diff)
	}
}

// TestHelp shows the first page, and the help of every command, which ends with the exit codes.
func TestHelp(t *testing.T) {
	t.Parallel()
	d, stdout, _ := cmdtest.Deps(t)
	if code := wire.Run(context.Background(), d, []string{"--help"}); code != cmd.ExitDone {
		t.Errorf("exit code %d", code)
	}
	checkGolden(t, "help.txt", stdout.String())
	for _, all := range []string{"help --all", "--help-all"} {
		stdout.Reset()
		if code := wire.Run(context.Background(), d, strings.Fields(all)); code != cmd.ExitDone {
			t.Errorf("%s: exit code %d", all, code)
		}
		checkGolden(t, "help-all.txt", stdout.String())
	}
	for _, leaf := range leaves("", commands(d)) {
		d, stdout, _ := cmdtest.Deps(t)
		code := wire.Run(context.Background(), d, append(strings.Fields(leaf.path), "--help"))
		if code != cmd.ExitDone || !strings.Contains(stdout.String(), "Usage: runner "+leaf.path) || !strings.Contains(stdout.String(), "Exit codes:\n") {
			t.Errorf("%s: exit code %d, help without usage or exit codes:\n%s", leaf.path, code, stdout)
		}
	}
}
