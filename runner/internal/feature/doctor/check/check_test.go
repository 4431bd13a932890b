package check_test

import (
	"strings"
	"testing"

	"mara/runner/internal/cli/cmd"
	"mara/runner/internal/testing/cmdtest"
	"mara/runner/internal/wire"
)

// TestBrokenProjects: what is wrong with a project is said once, with and without an environment that has it.
func TestBrokenProjects(t *testing.T) {
	t.Parallel()
	const broken = `net/Pulumi.yaml:1: error: name is "my net", which Pulumi refuses`
	for name, test := range map[string]struct {
		files map[string]string
		also  string
	}{
		"without an environment": {nil, "no environment was checked"},
		"with one":               {map[string]string{"Pulumi.dev.yaml": "config: {}\n"}, ""},
		"with two":               {map[string]string{"Pulumi.dev.yaml": "config: {}\n", "Pulumi.prod.yaml": "config: {}\n"}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d, stdout, stderr := cmdtest.Deps(t)
			d.Dir = cmdtest.Root(t, test.files)
			cmdtest.WriteFile(t, d.Dir+"/mara.yaml", "projects:\n- path: net\n")
			cmdtest.WriteFile(t, d.Dir+"/net/Pulumi.yaml", "name: my net\nruntime: yaml\n")
			code := wire.Run(t.Context(), d, []string{"check"})
			text := stdout.String() + stderr.String()
			if code != cmd.ExitConfig || strings.Count(text, broken) != 1 || !strings.Contains(text, test.also) {
				t.Errorf("exit code %d:\n%s", code, text)
			}
		})
	}
}

// TestSameClusters: two environments of one context, whose namespaces have the same names, cannot both be there.
func TestSameClusters(t *testing.T) {
	t.Parallel()
	of := func(context string) string {
		return "config:\n  kubernetes:infra_type: cluster\n  cluster:context: " + context + "\n"
	}
	for name, test := range map[string]struct {
		prod, want string
	}{
		"one cluster":  {of("mine"), "dev are in the same cluster, as cluster:context says, and both make the namespaces "},
		"two clusters": {of("other"), ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d, stdout, stderr := cmdtest.Deps(t)
			d.Dir = cmdtest.Root(t, map[string]string{"Pulumi.dev.yaml": of("mine"), "Pulumi.prod.yaml": test.prod})
			code := wire.Run(t.Context(), d, []string{"check"})
			text := stdout.String() + stderr.String()
			if code != cmd.ExitDone || test.want == "" && strings.Contains(text, "same cluster") || !strings.Contains(text, test.want) {
				t.Errorf("exit code %d:\n%s", code, text)
			}
		})
	}
}
