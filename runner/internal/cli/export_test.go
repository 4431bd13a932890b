package cli_test

import (
	"context"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"mara/config"
	"mara/runner/internal/cli/cmd"
	"mara/runner/internal/testing/cmdtest"
	"mara/runner/internal/wire"
)

// onS3 returns a root with three environments whose state is where others reach it, in a
// directory of a repository.
func onS3(t *testing.T) (root, top string) {
	root = cmdtest.Root(t, map[string]string{
		"environment":        "PULUMI_BACKEND_URL=s3://acme?region=eu-west-1\n",
		"Pulumi.dev.yaml":    "config:\n  kubernetes:infra_type: aws\n  aws:region: eu-west-1\n  vpc:azs: [eu-west-1a, eu-west-1b]\n",
		"Pulumi.prod.yaml":   "secretsprovider: awskms://alias/acme?region=eu-west-1\nencryptedkey: x\nconfig:\n  kubernetes:infra_type: linode\n  linode:region: de-fra-2\n",
		"Pulumi.laptop.yaml": "config:\n  kubernetes:infra_type: kind\n",
	})
	top = filepath.Dir(root)
	if err := os.Mkdir(filepath.Join(top, ".git"), 0o755); err != nil {
		t.Fatal(err)
	}
	return root, top
}

func TestExportCI(t *testing.T) {
	t.Parallel()
	root, top := onS3(t)
	d, stdout, stderr := cmdtest.Deps(t)
	d.Dir = root
	args := []string{"export", "ci", "github", "--wave", "dev", "--wave", "prod", "--image", "r.example/x:1", "--aws-role", "arn:aws:iam::1:role/ci"}
	if code := wire.Run(context.Background(), d, append(args, "-o", "json")); code != cmd.ExitDone {
		t.Fatalf("exit code %d: %s", code, stderr)
	}
	var got struct {
		File    string
		Waves   [][]string
		Secrets []string
	}
	file := filepath.Join(top, ".github/workflows/runner.yml")
	if err := json.Unmarshal(stdout.Bytes(), &got); err != nil || got.File != file || len(got.Waves) != 2 || strings.Join(got.Secrets, " ") != "LINODE_TOKEN PULUMI_CONFIG_PASSPHRASE" {
		t.Errorf("got %+v, error %v", got, err)
	}
	content, err := os.ReadFile(file)
	if err != nil || !strings.Contains(string(content), `working-directory: "`+filepath.Base(root)+`"`) || !strings.Contains(string(content), "up-2:") || !strings.Contains(string(content), `aws-region: "eu-west-1"`) {
		t.Errorf("error %v, %s", err, content)
	}
	if code := wire.Run(context.Background(), d, args); code != cmd.ExitDone { // its own file is replaced
		t.Errorf("again: exit code %d: %s", code, stderr)
	}
	if err := os.WriteFile(file, append(content, "# mine\n"...), 0o600); err != nil {
		t.Fatal(err)
	}
	stderr.Reset()
	if code := wire.Run(context.Background(), d, args); code != cmd.ExitConfig || !strings.Contains(stderr.String(), "or was changed since") {
		t.Errorf("a file that was changed: exit code %d: %s", code, stderr)
	}
}

// TestExportCIIgnored: what the pipeline reads and git ignores is named, until it is committed.
func TestExportCIIgnored(t *testing.T) {
	t.Parallel()
	git, err := exec.LookPath("git")
	if err != nil {
		t.Skip("no git here")
	}
	root, top := onS3(t)
	run := func(args ...string) {
		t.Helper()
		gitIn(t, git, top, args...)
	}
	run("init", "-q")
	if err := os.WriteFile(filepath.Join(root, "config/pulumi/.gitignore"), []byte("/environment\n/Pulumi.*.yaml\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	notes := func() string {
		t.Helper()
		d, stdout, stderr := cmdtest.Deps(t)
		d.Dir, d.Environ = root, append(d.Environ, "PATH="+os.Getenv("PATH"))
		if code := wire.Run(t.Context(), d, strings.Fields("export ci gitlab -s prod --image r.example/x:1 --aws-role arn:aws:iam::1:role/ci")); code != cmd.ExitDone {
			t.Fatalf("exit code %d: %s", code, stderr)
		}
		return stdout.String()
	}
	if got := notes(); !strings.Contains(got, "- commit config/pulumi/environment, which the pipeline reads and git ignores") || !strings.Contains(got, "- commit config/pulumi/Pulumi.prod.yaml, which") || strings.Contains(got, "Pulumi.dev") {
		t.Errorf("notes %s", got)
	}
	if err := os.Remove(filepath.Join(root, "config/pulumi/.gitignore")); err != nil {
		t.Fatal(err)
	}
	if got := notes(); !strings.Contains(got, "- commit config/pulumi/environment, which the pipeline reads and git does not have: `git add config/pulumi/environment`") {
		t.Errorf("notes of untracked files: %s", got)
	}
	run("add", "-f", root)
	if got := notes(); strings.Contains(got, "- commit ") {
		t.Errorf("notes of committed files: %s", got)
	}
}

func gitIn(t *testing.T, git, dir string, args ...string) {
	t.Helper()
	command := exec.Command(git, args...)
	command.Dir = dir
	if out, err := command.CombinedOutput(); err != nil {
		t.Fatalf("git %v: %v, %s", args, err, out)
	}
}

// TestExportOperatorUncommitted: what the operator takes from the repository and git does not have is named.
func TestExportOperatorUncommitted(t *testing.T) {
	t.Parallel()
	git, err := exec.LookPath("git")
	if err != nil {
		t.Skip("no git here")
	}
	root := t.TempDir()
	if err := os.CopyFS(root, os.DirFS("../../../examples/own")); err != nil {
		t.Fatal(err)
	}
	gitIn(t, git, root, "init", "-q")
	cmdtest.WriteFile(t, filepath.Join(root, ".gitignore"), "/database/Pulumi.yaml\n")
	warnings := func() string {
		t.Helper()
		d, _, stderr := cmdtest.Deps(t)
		d.Dir, d.Environ = root, []string{"PULUMI_BACKEND_URL=s3://acme", "PATH=" + os.Getenv("PATH")}
		args := strings.Fields("export operator -s dev --image x --repo https://example.com/shop")
		if code := wire.Run(t.Context(), d, args); code != cmd.ExitDone {
			t.Fatalf("exit code %d: %s", code, stderr)
		}
		return stderr.String()
	}
	got := warnings()
	for _, want := range []string{
		"warning: commit database/Pulumi.yaml, which the operator reads and git ignores: `git add -f database/Pulumi.yaml`, and take it out",
		"warning: commit network/, which the operator reads and git does not have: `git add network/`\n",
	} {
		if !strings.Contains(got, want) {
			t.Errorf("got %s, want %s", got, want)
		}
	}
	gitIn(t, git, root, "add", "-f", ".")
	if got := warnings(); strings.Contains(got, "commit ") {
		t.Errorf("warnings of committed files: %s", got)
	}
}

func TestExportCIRefuses(t *testing.T) {
	t.Parallel()
	root, top := onS3(t)
	local := cmdtest.Root(t, map[string]string{"Pulumi.dev.yaml": "config:\n  " + config.InfraType + ": linode\n  linode:region: de-fra-2\n"})
	for _, test := range []struct {
		name, root, args string
		code             int
		want             string
	}{
		{"no system", root, "-s dev --image x", cmd.ExitUsage, "name the CI system"},
		{"another system", root, "jenkins -s dev --image x", cmd.ExitUsage, "name the CI system"},
		{"no image", root, "github -s dev", cmd.ExitUsage, "--image is missing"},
		{"no role", root, "github -s dev --image x", cmd.ExitUsage, "dev needs AWS"},
		{"kind", root, "github -s laptop --image x --aws-role y", cmd.ExitConfig, "laptop is on kind"},
		{"twice", root, "gitlab --wave dev,prod --wave dev --image x", cmd.ExitUsage, "dev is named twice"},
		{"an empty wave", root, "gitlab --wave , --image x", cmd.ExitUsage, "names no environment"},
		{"both", root, "gitlab --wave dev -s prod --image x", cmd.ExitUsage, "remove -s"},
		{"time", root, "gitlab -s dev --image x --nightly soon", cmd.ExitUsage, "not a cron schedule"},
		{"state in a directory", local, "gitlab -s dev --image x", cmd.ExitConfig, "which other machines cannot reach"},
		{"an environment that there is not", root, "gitlab --wave nothing --image x", cmd.ExitUsage, "no provider is named"},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			d, _, stderr := cmdtest.Deps(t)
			d.Dir = test.root
			if code := wire.Run(context.Background(), d, append([]string{"export", "ci"}, strings.Fields(test.args)...)); code != test.code || !strings.Contains(stderr.String(), test.want) {
				t.Errorf("exit code %d: %s", code, stderr)
			}
		})
	}
	t.Cleanup(func() {
		for _, file := range []string{".github", ".gitlab-ci.yml"} {
			if _, err := os.Stat(filepath.Join(top, file)); err == nil {
				t.Errorf("%s was written", file)
			}
		}
	})
}

// TestExportFleet writes all environments of a fleet, in its waves.
func TestExportFleet(t *testing.T) {
	t.Parallel()
	root, top := onS3(t)
	for name, content := range map[string]string{
		"environments/dev.yaml":  "values: {runner: {labels: {stage: test}}}\n",
		"environments/prod.yaml": "values: {runner: {labels: {stage: prod}}}\n",
		"rollout.yaml":           "waves:\n  - {name: test, match: {stage: test}, soak: 1h}\n  - {name: prod, match: {stage: prod}}\n",
	} {
		path := filepath.Join(root, "config", name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Remove(filepath.Join(root, "config/pulumi/Pulumi.laptop.yaml")); err != nil {
		t.Fatal(err)
	}
	d, stdout, stderr := cmdtest.Deps(t)
	d.Dir = root
	if code := wire.Run(context.Background(), d, []string{"export", "ci", "gitlab", "--all", "--image", "x", "--aws-role", "y"}); code != cmd.ExitDone || !strings.Contains(stdout.String(), "ignores the soaks and gates") {
		t.Fatalf("exit code %d: %s%s", code, stdout, stderr)
	}
	content, err := os.ReadFile(filepath.Join(top, ".gitlab-ci.yml"))
	if err != nil || !strings.Contains(string(content), `- ENVIRONMENT: ["prod"]`) || !strings.Contains(string(content), "stage: up-2") {
		t.Errorf("error %v, %s", err, content)
	}
	stdout.Reset()
	if code := wire.Run(context.Background(), d, []string{"export", "operator", "--all", "--image", "x", "-o", "json"}); code != cmd.ExitDone {
		t.Fatalf("exit code %d: %s", code, stderr)
	}
	var got []struct {
		Stack, Directory string
		Stacks           map[string]string
	}
	if err := json.Unmarshal(stdout.Bytes(), &got); err != nil || len(got) != 2 || got[1].Directory != filepath.Join(root, "operator", "prod") || len(got[0].Stacks) != 13 || len(got[1].Stacks) != 14 {
		t.Errorf("got %+v, error %v", got, err)
	}
	readme, err := os.ReadFile(filepath.Join(root, "operator/README.md"))
	want := "    kubectl apply --server-side -k dev\n    runner operator wait -s dev -n pulumi\n    kubectl apply --server-side -k prod\n"
	if err != nil || !strings.Contains(string(readme), want) {
		t.Errorf("error %v, %s", err, readme)
	}
	for _, args := range []string{"ci github --all -s dev --image x", "ci github --all --wave dev --image x", "operator dev -s dev --image x", "operator nope --image x"} {
		if code := wire.Run(context.Background(), d, append([]string{"export"}, strings.Fields(args)...)); code != cmd.ExitUsage {
			t.Errorf("%s: exit code %d: %s", args, code, stderr)
		}
	}
}

// TestExportOwnProjects exports the example with projects of its own.
func TestExportOwnProjects(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	if err := os.CopyFS(root, os.DirFS("../../../examples/own")); err != nil {
		t.Fatal(err)
	}
	d, _, stderr := cmdtest.Deps(t)
	d.Dir, d.Environ = root, []string{"PULUMI_BACKEND_URL=s3://acme"}
	args := []string{"export", "operator", "-s", "dev", "--image", "x"}
	if code := wire.Run(context.Background(), d, args); code != cmd.ExitConfig || strings.Count(stderr.String(), "shop-database") != 1 ||
		!strings.Contains(stderr.String(), "shop-database cannot be a Program: Pulumi.yaml: the configuration password is secret") {
		t.Errorf("exit code %d: %s", code, stderr)
	}
	if code := wire.Run(context.Background(), d, append(args, "--repo", "https://example.com/shop", "--commit", "0123")); code != cmd.ExitDone {
		t.Fatalf("exit code %d: %s", code, stderr)
	}
	stack, err := os.ReadFile(filepath.Join(root, "operator/dev/stacks/02-shop-database.yaml"))
	if err != nil || !strings.Contains(string(stack), "  commit: \"0123\"\n") || !strings.Contains(string(stack), "key: shop-database.password") || strings.Contains(string(stack), "runProgram") {
		t.Errorf("error %v, %s", err, stack)
	}
	readme, err := os.ReadFile(filepath.Join(root, "operator/dev/README.md"))
	if err != nil || !strings.Contains(string(readme), "- shop: the hook smoke does not run\n- whole runs: the hook notify does not run\n") {
		t.Errorf("error %v, %s", err, readme)
	}
}
