package cli_test

import (
	"context"
	"strings"
	"testing"

	"mara/runner/internal/cli/cmd"
	"mara/runner/internal/core/journal"
	"mara/runner/internal/core/stacks"
	"mara/runner/internal/testing/cmdtest"
	"mara/runner/internal/testing/eventtest"
	"mara/runner/internal/wire"
)

// TestReportShowsOutputs writes the report of a past run that has outputs.
func TestReportShowsOutputs(t *testing.T) {
	t.Parallel()
	root, j := recorded(t, journal.Meta{}, eventtest.Success())
	outputs := journal.Outputs{"kind-cluster": {"cluster_name": "main-4f2a", "kubeconfig": stacks.Secret, "ports": []int{80, 443}}}
	if err := j.KeepOutputs(outputs); err != nil {
		t.Fatal(err)
	}
	if err := j.Close(); err != nil {
		t.Fatal(err)
	}
	d, stdout, stderr := cmdtest.Deps(t)
	d.Dir = root
	if code := wire.Run(context.Background(), d, []string{"report"}); code != cmd.ExitDone {
		t.Fatalf("exit code %d, %s", code, stderr)
	}
	for _, want := range []string{"main-4f2a", "[80,443]", `<th scope="row">kubeconfig</th><td class="value"><span class="soft">[secret]</span>`} {
		if !strings.Contains(stdout.String(), want) {
			t.Errorf("there is no %s", want)
		}
	}
}
