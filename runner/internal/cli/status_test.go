package cli_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"mara/runner/internal/cli/cmd"
	"mara/runner/internal/testing/cmdtest"
	"mara/runner/internal/wire"
)

// statusAt returns the time of the lock in the status; it is shown in local time.
func statusAt() time.Time { return time.Date(2026, 11, 20, 11, 30, 0, 0, time.UTC) }

// lookedAt returns an environment in every state a project can be in.
func lookedAt(t *testing.T) (root string, i *cmdtest.Installed) {
	t.Helper()
	root, i = aws(t), cmdtest.NewInstalled(t)
	deployed(t, root)
	i.Stacks(map[string]int{"aws-vpc": 24, "aws-eks": 31, "aws-ecr": 0, "kubeconfig": 0, "secrets": 7, "logstore": 2, "certmgr": 3, "prometheus": 5}) // the last one was imported
	for project, update := range map[string]string{
		"aws-vpc":  `"kind":"update","result":"succeeded","startTime":"2026-11-20T11:00:00.000Z","endTime":"2026-11-20T11:59:30.000Z"`,
		"aws-eks":  `"kind":"update","result":"failed","startTime":"2026-11-20T10:00:00.000Z","endTime":"2026-11-20T11:00:00.000Z"`,
		"aws-ecr":  `"kind":"destroy","result":"succeeded","startTime":"2026-11-18T10:00:00.000Z","endTime":"2026-11-18T11:00:00.000Z"`,
		"secrets":  `"kind":"refresh","result":"succeeded","startTime":"2026-11-20T01:00:00.000Z","endTime":"2026-11-20T02:00:00.000Z"`,
		"logstore": `"kind":"update","result":"succeeded","startTime":"2026-11-20T11:00:00.000Z","endTime":"2026-11-20T11:10:00.000Z"`,
		"certmgr":  `"kind":"update","result":"in-progress","startTime":"2026-11-20T11:00:00.000Z"`,
	} {
		i.Write("history-"+project+".json", "[{"+update+"}]")
	}
	locks := filepath.Join(root, ".runner/state/.pulumi/locks/organization/logstore/dev")
	if err := os.MkdirAll(locks, 0o700); err != nil {
		t.Fatal(err)
	}
	states := map[string]string{
		"aws-vpc": `{"type":"pulumi:pulumi:Stack","outputs":{"vpc_id":"vpc-2","cidr":"10.0.0.0/16"}}`,
		"aws-eks": `{"urn":"urn:pulumi:dev::p::pulumi:providers:aws::default_7_0_0","type":"pulumi:providers:aws"},{"type":"pulumi:pulumi:StackReference","external":true,"id":"organization/aws-vpc/dev","outputs":{"outputs":{"vpc_id":"vpc-1","cidr":"10.0.0.0/16","gone":1}}}`,
	}
	for project, resource := range states {
		file := filepath.Join(root, ".runner/state/.pulumi/stacks", project, "dev.json")
		if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
			t.Fatal(err)
		}
		state := fmt.Sprintf(`{"checkpoint":{"latest":{"resources":[%s],"pending_operations":[{"resource":{"urn":"urn:pulumi:dev::p::aws:ec2/vpc:Vpc::main"},"type":"updating"}]}}}`, resource)
		if err := os.WriteFile(file, []byte(state), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	lock := fmt.Sprintf(`{"pid":4711,"username":"jane","hostname":"laptop","timestamp":%q}`, statusAt().Format(time.RFC3339))
	if err := os.WriteFile(filepath.Join(locks, "one.json"), []byte(lock), 0o600); err != nil {
		t.Fatal(err)
	}
	return root, i
}

func TestStatusGolden(t *testing.T) {
	t.Parallel()
	root, i := lookedAt(t)
	for golden, args := range map[string]string{"status.txt": "status", "status.json": "status -o json"} {
		d, stdout, stderr := cmdtest.InstalledDeps(t, root, i)
		if code := wire.Run(context.Background(), d, strings.Fields(args)); code != cmd.ExitDone || stderr.Len() > 0 {
			t.Fatalf("%s: exit code %d: %s", args, code, stderr)
		}
		// The root is a new directory each time, and locks are shown in local time.
		text := strings.ReplaceAll(stdout.String(), root, "ROOT")
		checkGolden(t, golden, strings.ReplaceAll(text, statusAt().Local().Format(time.DateTime), "LOCAL TIME"))
	}
}

// TestStatusAsksForNoPassphrase, and writes nothing.
func TestStatusAsksForNoPassphrase(t *testing.T) {
	t.Parallel()
	root := cmdtest.Root(t, map[string]string{"environment": "PULUMI_STACK=dev\n", "Pulumi.dev.yaml": "config:\n  kubernetes:infra_type: kind\n"})
	d, stdout, stderr := cmdtest.InstalledDeps(t, root, cmdtest.NewInstalled(t))
	if code := wire.Run(context.Background(), d, []string{"status"}); code != cmd.ExitDone {
		t.Fatalf("exit code %d: %s", code, stderr)
	}
	if !strings.Contains(stdout.String(), "0 of 14 projects deployed") {
		t.Errorf("got %s", stdout)
	}
	if _, err := os.Stat(filepath.Join(root, ".runner")); err == nil {
		t.Error("something was written below the root")
	}
}

func TestStatusOfASimulationSaysSo(t *testing.T) {
	t.Parallel()
	root := aws(t)
	d, stdout, stderr := cmdtest.InstalledDeps(t, root, cmdtest.NewInstalled(t))
	if code := wire.Run(context.Background(), d, []string{"status", "--simulate"}); code != cmd.ExitDone {
		t.Fatalf("exit code %d: %s", code, stderr)
	}
	if !strings.Contains(stdout.String(), "SIMULATED") || !strings.Contains(stdout.String(), "/.runner/simulated/state") {
		t.Errorf("got %s", stdout)
	}
}

// TestStatusWatch watches until the reader closes.
func TestStatusWatch(t *testing.T) {
	t.Parallel()
	root, i := lookedAt(t)
	for _, test := range []struct{ args, want string }{
		{"status --watch", "4 of 15 projects deployed"}, {"status --watch -o json", `"projects":[`},
	} {
		d, _, stderr := cmdtest.InstalledDeps(t, root, i)
		out := &observed{written: make(chan struct{}, 1)}
		d.Stdout = out
		ctx, cancel := context.WithCancel(context.Background())
		code := make(chan int)
		go func() { code <- wire.Run(ctx, d, strings.Fields(test.args)) }()
		<-out.written
		cancel()
		if got := <-code; got != cmd.ExitInterrupted || stderr.Len() > 0 || !strings.Contains(out.text.String(), test.want) {
			t.Errorf("%s: exit code %d, %s\n%s", test.args, got, stderr, &out.text)
		}
	}
}
