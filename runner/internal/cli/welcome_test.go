package cli

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/urfave/cli/v2"

	"mara/runner/internal/cli/help"
	"mara/runner/internal/testing/cmdtest"
)

// TestWelcome: without a command, the runner says what is here and what comes next.
func TestWelcome(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		files map[string]string
		want  []string
		not   string
	}{
		"nothing":         {nil, []string{"no Pulumi project here", "runner demo", "runner init"}, "adopt"},
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
			if code := Run(t.Context(), d, nil); code != 0 {
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

// TestForeignWords: a command of another tool has a hint, which names one of ours.
func TestForeignWords(t *testing.T) {
	t.Parallel()
	d, _, _ := cmdtest.Deps(t)
	all := commands(d)
	for word, ours := range foreignWords() {
		if i := slices.IndexFunc(all, func(c *cli.Command) bool { return c.Name == strings.Fields(ours)[0] }); i < 0 {
			t.Errorf("%s: there is no command %q", word, ours)
		}
		_, err := arrange(all, strings.Fields(word))
		if err == nil || !strings.Contains(err.Error(), "here that is `runner "+ours+"`") {
			t.Errorf("%s: %v", word, err)
		}
	}
}

// TestGroups: each command is in one group of the help.
func TestGroups(t *testing.T) {
	t.Parallel()
	d, _, _ := cmdtest.Deps(t)
	grouped := map[string]int{}
	for _, g := range help.Groups() {
		for _, name := range g.Commands {
			grouped[name]++
		}
	}
	for _, command := range commands(d) {
		if !command.Hidden && grouped[command.Name] != 1 {
			t.Errorf("%s is in %d groups", command.Name, grouped[command.Name])
		}
		delete(grouped, command.Name)
	}
	for name := range grouped {
		t.Errorf("there is no command %s", name)
	}
}
