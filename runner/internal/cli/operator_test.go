package cli_test

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"sigs.k8s.io/yaml"

	"mara/runner/internal/cli/cmd"
	"mara/runner/internal/feature/operator"
	"mara/runner/internal/testing/cmdtest"
	"mara/runner/internal/testing/pkotest"
	"mara/runner/internal/wire"
)

// exportedStacks exports an environment and reads its Stacks.
func exportedStacks(t *testing.T, root string, more ...string) []operator.Stack {
	t.Helper()
	d, stdout, stderr := cmdtest.Deps(t)
	d.Dir = root
	args := append([]string{"export", "operator", "-s", "dev", "--image", "r.example/x:1", "--destroy", "-o", "json"}, more...)
	if code := wire.Run(context.Background(), d, args); code != cmd.ExitDone {
		t.Fatalf("exit code %d: %s", code, stderr)
	}
	var got struct {
		Directory string
		LeftOut   map[string]string `json:"left_out"`
		Secrets   []string
	}
	if err := json.Unmarshal(stdout.Bytes(), &got); err != nil || got.LeftOut["kic-image-build"] == "" || !strings.Contains(strings.Join(got.Secrets, " "), "prometheus:") {
		t.Fatalf("got %+v, error %v", got, err)
	}
	files, err := filepath.Glob(filepath.Join(got.Directory, "stacks", "*.yaml"))
	if err != nil || len(files) != 13 {
		t.Fatalf("%d files, error %v", len(files), err)
	}
	var stacks []operator.Stack
	for _, file := range files {
		var stack operator.Stack
		content, err := os.ReadFile(file)
		if err == nil {
			err = yaml.UnmarshalStrict(content, &stack)
		}
		if err != nil {
			t.Fatal(err)
		}
		stacks = append(stacks, stack)
	}
	return stacks
}

// TestOperator follows an environment on a model of the operator, by the commands alone.
func TestOperator(t *testing.T) {
	t.Parallel()
	root, _ := onS3(t)
	stacks := exportedStacks(t, root)
	o := pkotest.New(time.Minute)
	file := filepath.Join(t.TempDir(), "kubeconfig")
	if err := os.WriteFile(file, []byte(o.Serve(t, "pulumi", 5*time.Minute)), 0o600); err != nil {
		t.Fatal(err)
	}
	run := func(want int, args ...string) (string, string) {
		t.Helper()
		d, stdout, stderr := cmdtest.Deps(t)
		d.Dir = root
		if code := wire.Run(context.Background(), d, append([]string{"operator"}, append(args, "-s", "dev", "--kubeconfig", file)...)); code != want {
			t.Fatalf("%v: exit code %d: %s%s", args, code, stdout, stderr)
		}
		return stdout.String(), stderr.String()
	}
	if _, stderr := run(cmd.ExitConfig, "status"); !strings.Contains(stderr, "dev has no Stacks in the namespace pulumi\nhint: `runner export operator` writes them") {
		t.Error(stderr)
	}
	o.Fail("dev-certmgr", 4)
	o.Apply(stacks...)
	_, stderr := run(cmd.ExitFailed, "wait", "--timeout", "1m")
	if !strings.Contains(stderr, "error: dev-certmgr is stalled: UpdateFailed") || !strings.Contains(stderr, "hint: `kubectl -n pulumi describe stack dev-certmgr`") || !strings.Contains(stderr, "dev-observability waiting: PrerequisiteNotSatisfied") {
		t.Error(stderr)
	}
	stdout, _ := run(cmd.ExitDone, "status")
	if !strings.Contains(stdout, "dev-certmgr") || !strings.Contains(stdout, "stalled") {
		t.Error(stdout)
	}
	var got struct {
		Version int
		Stacks  []operator.State
	}
	stdout, _ = run(cmd.ExitDone, "status", "-o", "json")
	if err := json.Unmarshal([]byte(stdout), &got); err != nil || got.Version != 1 || len(got.Stacks) != len(stacks) || got.Stacks[0].Name != "dev-aws-vpc" || !got.Stacks[0].Destroys {
		t.Errorf("got %+v, error %v", got, err)
	}
	stacks[9].Spec.Config["certmgr:mended"] = "yes"
	o.Apply(stacks...)
	run(cmd.ExitDone, "wait")
	if _, stderr := run(cmd.ExitUsage, "delete"); !strings.Contains(stderr, "add --yes to skip the confirmation") {
		t.Error(stderr)
	}
	if _, stderr := run(cmd.ExitUsage, "delete", "--timeout", "-1s"); !strings.Contains(stderr, "is less than 0") {
		t.Error(stderr)
	}
	o.Log()
	if stdout, _ := run(cmd.ExitDone, "delete", "--yes"); stdout != "deleted 13 Stacks\n" {
		t.Error(stdout)
	}
	log := o.Log()
	if first, last := log[0], log[len(log)-1]; first != "dev-bank-of-anthos destroy starts" && first != "dev-logagent destroy starts" || last != "dev-aws-vpc gone" {
		t.Errorf("log %q", log)
	}
}

// TestOperatorAdopt takes an environment over and gives it back.
func TestOperatorAdopt(t *testing.T) {
	t.Parallel()
	root, _ := onS3(t)
	o := pkotest.New(time.Minute)
	o.Apply(exportedStacks(t, root, "--preview")...)
	kubeconfig := filepath.Join(t.TempDir(), "kubeconfig")
	if err := os.WriteFile(kubeconfig, []byte(o.Serve(t, "pulumi", 5*time.Minute)), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, args := range [][]string{{"adopt"}, {"adopt", "--back", "--yes", "-o", "json"}} {
		d, stdout, stderr := cmdtest.Deps(t)
		d.Dir = root
		d.Environ = []string{"RUNNER_KUBECONFIG=" + kubeconfig}
		if code := wire.Run(context.Background(), d, append([]string{"operator"}, append(args, "-s", "dev")...)); code != cmd.ExitDone {
			t.Fatalf("%v: exit code %d: %s%s", args, code, stdout, stderr)
		}
	}
	for _, line := range o.Log() {
		if strings.Contains(line, "destroy") {
			t.Error(line)
		}
	}
}

// TestOperatorInTheOwnCluster: without --kubeconfig the Stacks are looked for in the environment's own cluster, whatever
// kubectl's context is, and not at all where there is none.
func TestOperatorInTheOwnCluster(t *testing.T) {
	t.Parallel()
	root := twoEnvironments(t)
	o := pkotest.New(time.Minute)
	i := cmdtest.NewInstalled(t)
	i.Stacks(map[string]int{"aws-eks": 3})
	outputs, err := json.Marshal(map[string]string{"kubeconfig": o.Serve(t, "pulumi", 5*time.Minute)})
	if err != nil {
		t.Fatal(err)
	}
	run := func(stack string) string {
		d, stdout, stderr := cmdtest.InstalledDeps(t, root, i)
		d.Environ = append(d.Environ, "KUBECONFIG=/of/another/cluster")
		if code := wire.Run(context.Background(), d, []string{"operator", "status", "-s", stack}); code != cmd.ExitConfig {
			t.Errorf("%s: exit code %d: %s%s", stack, code, stdout, stderr)
		}
		return stderr.String()
	}
	if stderr := run("dev"); !strings.Contains(stderr, "error: the environment has no cluster: aws-eks is not deployed\nhint: name the cluster where the operator runs with --kubeconfig FILE") {
		t.Error(stderr)
	}
	i.Write("shown-aws-eks.json", string(outputs))
	if stderr := run("dev"); !strings.Contains(stderr, "dev has no Stacks in the namespace pulumi") {
		t.Error(stderr)
	}
}

func TestExportOperatorRefuses(t *testing.T) {
	t.Parallel()
	root, _ := onS3(t)
	for args, want := range map[string]string{
		"":                            "--image is missing",
		"--image x --namespace UPPER": "is no name for a namespace",
		"--image x --repo https://a/b/c --flux b/c":        "give one",
		"--image x --branch a":                             "need --repo",
		"--image x --repo http://a/b/c":                    "by https:// and ssh:// only, not by http",
		"--image x --repo git@r:a/b --branch a --commit b": "give one",
		"--image x --claim c":                              "--claim needs --backend file:///DIR",
		"--image x --flux infra":                           "is not KIND/NAME",
		"--image x --resync 1s":                            "at least 1m0s",
		"--image x --account-annotation a":                 "is not KEY=VALUE",
		"--image x --account-annotation =a":                "is not KEY=VALUE",
	} {
		d, _, stderr := cmdtest.Deps(t)
		d.Dir = root
		if code := wire.Run(context.Background(), d, append([]string{"export", "operator", "-s", "dev"}, strings.Fields(args)...)); code != cmd.ExitUsage || !strings.Contains(stderr.String(), want) {
			t.Errorf("%s: exit code %d: %s", args, code, stderr)
		}
	}
	d, _, stderr := cmdtest.Deps(t)
	d.Dir = root
	if code := wire.Run(context.Background(), d, []string{"export", "operator", "-s", "dev", "--image", "x", "--within", "1m"}); code != cmd.ExitConfig || !strings.Contains(stderr.String(), "would wait for one another without end") {
		t.Errorf("exit code %d: %s", code, stderr)
	}
	if _, err := os.Stat(filepath.Join(root, "operator")); err == nil {
		t.Error("something was written")
	}
}
