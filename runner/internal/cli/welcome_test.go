package cli_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/urfave/cli/v2"

	commandline "mara/runner/internal/cli"
	"mara/runner/internal/cli/cmd"
	"mara/runner/internal/cli/extend"
	"mara/runner/internal/testing/cmdtest"
	"mara/runner/internal/wire"
)

// TestWelcome: without a command, the runner says what is here and what comes next.
func TestWelcome(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		files map[string]string
		want  []string
		not   string
	}{
		"nothing":         {nil, []string{"no Pulumi project here", "runner plan -p kind"}, "adopt"},
		"Pulumi projects": {map[string]string{"vpc/Pulumi.yaml": "name: vpc\nruntime: yaml\n"}, []string{"1 Pulumi project was found", "runner adopt"}, "runner init"},
		"a root":          {map[string]string{"config/pulumi/Pulumi.dev.yaml": ""}, []string{"1 environment: dev", "runner preview ", "runner web"}, "runner init"},
		"several environments": {map[string]string{"config/pulumi/Pulumi.dev.yaml": "", "config/pulumi/Pulumi.prod.yaml": ""},
			[]string{"2 environments: dev, prod", "runner status -s dev"}, "runner init"},
		"a root without one": {map[string]string{"mara.yaml": "projects: []\n"}, []string{"without an environment", "runner up --simulate"}, "runner init"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d, stdout, _ := cmdtest.Deps(t)
			d.Dir = t.TempDir()
			for file, content := range test.files {
				path := filepath.Join(d.Dir, file)
				if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
					t.Fatal(err)
				}
				if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			if code := wire.Run(t.Context(), d, nil); code != 0 {
				t.Errorf("exit code %d", code)
			}
			for _, want := range append(test.want, "runner --help") {
				if !strings.Contains(stdout.String(), want) {
					t.Errorf("no %q in:\n%s", want, stdout)
				}
			}
			if strings.Contains(stdout.String(), test.not) {
				t.Errorf("%q in:\n%s", test.not, stdout)
			}
		})
	}
}

// TestWelcomeOfFewerFeatures: the commands that it names are those that the program has.
func TestWelcomeOfFewerFeatures(t *testing.T) {
	t.Parallel()
	say := func(features []extend.Feature) string {
		d, stdout, _ := cmdtest.Deps(t)
		d.Dir = t.TempDir()
		if code := commandline.Run(t.Context(), d, features, nil); code != 0 {
			t.Errorf("exit code %d", code)
		}
		return stdout.String()
	}
	begins := extend.Feature{Name: "begins", Commands: func(cmd.Deps) []cmd.Placed {
		return []cmd.Placed{{Command: &cli.Command{Name: "init"}}}
	}}
	if text := say([]extend.Feature{begins}); !strings.Contains(text, "runner init") || strings.Contains(text, "runner demo") {
		t.Errorf("with init alone:\n%s", text)
	}
	if text := say(nil); strings.Contains(text, "runner init") || !strings.Contains(text, "runner plan") {
		t.Errorf("without features:\n%s", text)
	}
}

// TestPlaces: no two commands have the same place in the help.
func TestPlaces(t *testing.T) {
	t.Parallel()
	d, _, _ := cmdtest.Deps(t)
	type place struct {
		group cmd.Group
		rank  int
	}
	taken := map[place]string{}
	for _, command := range wire.Commands(d) {
		at := place{command.Group, command.Rank}
		if other, ok := taken[at]; ok {
			t.Errorf("%s and %s: both have rank %d below %q", other, command.Name, at.rank, at.group)
		}
		taken[at] = command.Name
	}
}
