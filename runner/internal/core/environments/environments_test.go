package environments_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"mara/providers"
	"mara/runner/internal/core/catalogue"
	"mara/runner/internal/core/environments"
)

// TestFind: every kind of file that names an environment counts, and what names none is a doubt.
func TestFind(t *testing.T) {
	t.Parallel()
	projects := "projects:\n- {path: net, stackFile: own, stack: \"net-{stack}\"}\n- {path: db, stackFile: own}\n- {path: shop}\n"
	files := map[string]string{
		"net/Pulumi.yaml": "name: net\nruntime: yaml\n", "db/Pulumi.yaml": "name: db\nruntime: yaml\n", "shop/Pulumi.yaml": "name: shop\nruntime: yaml\n",
		"net/Pulumi.net-dev.yaml": "config: {}\n", "net/Pulumi.old.yaml": "", "db/Pulumi.prod.yaml": "", "db/Pulumi.test.yml": "", "db/Pulumi.a b.yaml": "", "db/Pulumi.README.yaml": "",
		"shop/Pulumi.mine.yaml":                "config: {}\n", // it has the shared file
		"config/pulumi/Pulumi.shared.yaml":     "config: {}\n",
		"config/pulumi/secrets/Pulumi.s1.yaml": "config: {}\n",
		"config/environments/described.yaml":   "",
	}
	for name, test := range map[string]struct {
		mara   string
		names  []string
		doubts []string
	}{
		"files": {projects, []string{"described", "dev", "prod", "s1", "shared"}, []string{
			"net/Pulumi.old.yaml: is of no environment: the stacks of net are named net-{stack}",
			"db/Pulumi.README.yaml: is taken for a template; if it is of an environment, list that in mara.yaml",
			`db/Pulumi.a b.yaml: is not named after a stack: the stack name "a b" contains ' '; allowed are letters, digits, hyphen, underscore and period`,
			"db/Pulumi.test.yml: is not read, because its name ends in .yml; rename it to Pulumi.test.yaml",
		}},
		"a list": {"environments: [dev, stage]\n" + projects, []string{"described", "dev", "s1", "shared", "stage"}, []string{
			"net/Pulumi.old.yaml: is of no environment: the stacks of net are named net-{stack}",
			"db/Pulumi.README.yaml: is of no environment: mara.yaml lists dev, stage",
			`db/Pulumi.a b.yaml: is not named after a stack: the stack name "a b" contains ' '; allowed are letters, digits, hyphen, underscore and period`,
			"db/Pulumi.prod.yaml: is of no environment: mara.yaml lists dev, stage",
			"db/Pulumi.test.yml: is not read, because its name ends in .yml; rename it to Pulumi.test.yaml",
		}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			root := t.TempDir()
			write := func(file, content string) {
				path := filepath.Join(root, file)
				if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
					t.Fatal(err)
				}
				if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			write("mara.yaml", test.mara)
			for file, content := range files {
				write(file, content)
			}
			catalogue, err := catalogue.Load(providers.Catalogue(), root, "")
			if err != nil {
				t.Fatal(err)
			}
			known, err := environments.Find(root, catalogue)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(test.names, known.Names()); diff != "" {
				t.Error(diff)
			}
			var doubts []string
			for _, p := range known.Doubts {
				doubts = append(doubts, p.String())
			}
			if diff := cmp.Diff(test.doubts, doubts); diff != "" {
				t.Error(diff)
			}
		})
	}
}
