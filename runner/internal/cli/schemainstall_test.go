package cli_test

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"mara/runner/internal/cli/cmd"
	"mara/runner/internal/cli/schema"
	"mara/runner/internal/testing/cmdtest"
	"mara/runner/internal/wire"
)

// TestSchemaInstall writes the schema next to mara.yaml, even to one that is broken, and the line for editors, once.
func TestSchemaInstall(t *testing.T) {
	t.Parallel()
	root := cmdtest.Root(t, nil)
	file := filepath.Join(root, "mara.yaml")
	d, stdout, stderr := cmdtest.Deps(t)
	d.Dir = root
	run := func(args string, want int) {
		t.Helper()
		stdout.Reset()
		stderr.Reset()
		if code := wire.Run(context.Background(), d, strings.Fields(args)); code != want {
			t.Fatalf("%s: exit code %d, %s", args, code, stderr)
		}
	}
	run("schema project --install", cmd.ExitConfig)
	if !strings.Contains(stderr.String(), "mara.yaml does not exist") {
		t.Error(stderr)
	}
	if err := os.WriteFile(file, []byte("# ours\nprojetcs: # wrong\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, said := range []string{"wrote mara.schema.json; mara.yaml names it in a comment for editors\n", "wrote mara.schema.json; mara.yaml names it already\n"} {
		run("schema project --install", cmd.ExitDone)
		if stdout.String() != said {
			t.Errorf("said %q", stdout)
		}
	}
	want, err := schema.Get("project")
	if err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]string{
		file: "# yaml-language-server: $schema=mara.schema.json\n# ours\nprojetcs: # wrong\n", filepath.Join(root, "mara.schema.json"): string(want),
	} {
		if got, err := os.ReadFile(path); err != nil || string(got) != want {
			t.Errorf("%s: %.300s, %v", path, got, err)
		}
	}
	run("schema events --install", cmd.ExitUsage)
	run("schema project", cmd.ExitDone)
	if stdout.String() != string(want) {
		t.Error("the schema was not printed")
	}
}
