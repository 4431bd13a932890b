package cli_test

import (
	"context"
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"mara/runner/internal/cli/cmd"
	"mara/runner/internal/machine/layout"
	"mara/runner/internal/testing/cmdtest"
	"mara/runner/internal/wire"
)

// TestStacks: what is configured, what was deployed from here, and what only the
// backend knows; others share the backend.
func TestStacks(t *testing.T) {
	t.Parallel()
	root := cmdtest.Root(t, map[string]string{
		"environment": "PULUMI_STACK=dev\n", "Pulumi.dev.yaml": "config:\n  kubernetes:infra_type: aws\n", "Pulumi.New.yaml": "# nothing\n", "Pulumi.broken.yaml": "[",
	})
	deployed(t, root)
	cmdtest.WriteFile(t, layout.Of(root, false).Provider("test"), "provider: linode\n")
	i := cmdtest.NewInstalled(t)
	var entries []string
	for name, n := range map[string]string{"aws-vpc/dev": "24", "aws-eks/dev": "30", "aws-ecr/dev": "0", "kind-cluster/old": "2", "another/one": "9"} {
		entries = append(entries, `{"name":"organization/`+name+`","resourceCount":`+n+`}`)
	}
	i.Write("stacks.json", "["+strings.Join(entries, ",")+"]")
	d, stdout, stderr := cmdtest.InstalledDeps(t, root, i)
	if code := wire.Run(context.Background(), d, []string{"stacks"}); code != cmd.ExitDone {
		t.Fatalf("exit code %d: %s", code, stderr)
	}
	want := `STACK   PROVIDER  STATE             LAST RUN
New     -         not deployed      -
broken  -         not deployed      -
dev *   aws       2 of 15 projects  -
old     kind      1 of 14 projects  -
test    linode    not deployed      -
`
	if diff := cmp.Diff(want, stdout.String()); diff != "" {
		t.Error(diff)
	}
	if calls := i.Calls(); len(calls) != 1 || calls[0] != "stack ls --all --json" {
		t.Errorf("pulumi was asked %q", calls)
	}
	stdout.Reset()
	if code := wire.Run(context.Background(), d, []string{"stacks", "-o", "json"}); code != cmd.ExitDone {
		t.Fatalf("exit code %d: %s", code, stderr)
	}
	type line struct {
		Stack, Provider               string
		Default, Configured           bool
		Deployed, Projects, Resources int
	}
	var got []line
	if err := json.Unmarshal(stdout.Bytes(), &got); err != nil || len(got) != 5 {
		t.Fatalf("%v: %s", err, stdout)
	}
	if diff := cmp.Diff(line{Stack: "dev", Default: true, Provider: "aws", Configured: true, Deployed: 2, Projects: 15, Resources: 54}, got[2]); diff != "" {
		t.Error(diff)
	}
}

// TestNoStacks: nothing has to be asked where nothing can be.
func TestNoStacks(t *testing.T) {
	t.Parallel()
	root, i := cmdtest.Root(t, nil), cmdtest.NewInstalled(t)
	d, stdout, stderr := cmdtest.InstalledDeps(t, root, i)
	if code := wire.Run(context.Background(), d, []string{"stacks"}); code != cmd.ExitDone || stdout.String() != "no environments yet; `runner up` creates the first one\n" {
		t.Errorf("exit code %d: %s%s", code, stdout, stderr)
	}
	if calls := i.Calls(); strings.Join(calls, "") != "" {
		t.Errorf("pulumi was asked %q", calls)
	}
}
