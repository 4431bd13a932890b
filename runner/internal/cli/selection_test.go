package cli_test

import (
	"context"
	"path/filepath"
	"strings"
	"testing"

	"mara/providers"
	"mara/runner/internal/cli/cmd"
	"mara/runner/internal/core/event"
	"mara/runner/internal/core/journal"
	"mara/runner/internal/core/plan"
	"mara/runner/internal/testing/cmdtest"
	"mara/runner/internal/wire"
)

// TestResumeDemandsOnlyTheSecretsOfItsProjects checks the hint after a failed
// `up --only certmgr`.
func TestResumeDemandsOnlyTheSecretsOfItsProjects(t *testing.T) {
	t.Parallel()
	root, i := cmdtest.Root(t, map[string]string{"Pulumi.dev.yaml": "config:\n  kubernetes:infra_type: kind\n  kind:nodez: 1\n"}), cmdtest.NewInstalled(t)
	kind, err := providers.ByName("kind")
	if err != nil {
		t.Fatal(err)
	}
	all, err := plan.New(kind)
	if err != nil {
		t.Fatal(err)
	}
	meta := journal.Meta{Environment: journal.Environment{Provider: "kind", Stack: "dev"}}
	cmdtest.WriteUp(t, filepath.Join(root, ".runner/runs"), meta, all, map[string]event.Result{"certmgr": event.Failed})
	for args, demanded := range map[string]bool{"up": true, "up --resume-changed": false, "up --failed": false} {
		d, _, stderr := cmdtest.InstalledDeps(t, root, i)
		if code := wire.Run(context.Background(), d, append(strings.Fields(args), "-s", "dev")); code != cmd.ExitConfig {
			t.Errorf("%s: exit code %d", args, code)
		}
		if got := strings.Contains(stderr.String(), "runner secrets set"); got != demanded || !strings.Contains(stderr.String(), "kind:nodez") {
			t.Errorf("%s demands secrets: %v, want %v\n%s", args, got, demanded, stderr)
		}
	}
}
