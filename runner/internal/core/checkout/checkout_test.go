package checkout

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
	"gopkg.in/yaml.v3"

	"mara/config"
	"mara/projects"
	"mara/projects/model"
	"mara/runner/internal/core/encryption"
	"mara/runner/internal/core/statefiles"
)

// maker makes directories for the environment dev of a new root. A test that wants no
// temporary directory gives none.
func maker(t *testing.T, work string) Maker {
	t.Helper()
	root := t.TempDir()
	return Maker{
		Settings: config.Settings{Root: root, Stack: config.Value{Text: "dev"}},
		Files:    Files{Root: root, Stack: "dev"},
		States:   statefiles.Directory{Path: filepath.Join(root, "state")},
		Plugins:  map[string]string{"kind": "/plugins/kind", "aws": "/plugins/aws"},
		TempDir: func() (string, error) {
			if work == "" {
				return "", errors.New("unexpected temporary directory")
			}
			return work, nil
		},
	}
}

func write(t *testing.T, file, content string) {
	t.Helper()
	if err := errors.Join(os.MkdirAll(filepath.Dir(file), 0o755), os.WriteFile(file, []byte(content), 0o600)); err != nil {
		t.Fatal(err)
	}
}

// own returns a project of the user below the root.
func own(t *testing.T, m Maker, stackFiles bool) model.Project {
	t.Helper()
	dir := filepath.Join(m.Settings.Root, "shop")
	write(t, filepath.Join(dir, config.ManifestFile), "name: shop\nruntime: yaml\nmain: program\nstackConfigDir: elsewhere\n")
	project := model.Project{Name: "shop", Own: &model.Own{Dir: dir}}
	if stackFiles {
		project.Own.StackFiles = dir
	}
	return project
}

// manifestIn returns the Pulumi.yaml of a directory.
func manifestIn(t *testing.T, directory string) map[string]any {
	t.Helper()
	content, err := os.ReadFile(filepath.Join(directory, config.ManifestFile))
	if err != nil {
		t.Fatal(err)
	}
	var document map[string]any
	if err := yaml.Unmarshal(content, &document); err != nil {
		t.Fatal(err)
	}
	return document
}

func TestDirOfACheckout(t *testing.T) {
	t.Parallel()
	m := maker(t, "")
	vpc := projects.AWSVPC()
	checkout := filepath.Join(m.Settings.Root, filepath.FromSlash(vpc.Directory()))
	write(t, filepath.Join(checkout, config.ManifestFile), "name: "+vpc.Name+"\n")
	shop := own(t, m, true)
	for project, want := range map[*model.Project]string{&vpc: checkout, &shop: shop.Own.Dir} {
		if got, err := m.Directory(*project, encryption.Copies{}); err != nil || got != want {
			t.Errorf("%s: %q, %v", project.Name, got, err)
		}
	}
	if _, err := os.Stat(m.States.Path); err != nil {
		t.Errorf("the directory of the states: %v", err)
	}
}

// Without copies, Pulumi works on the user's own stack files, where they are.
func TestDirThatStandsForOne(t *testing.T) {
	t.Parallel()
	work := t.TempDir()
	m := maker(t, work)
	to := func(directory string) string {
		relative, err := relativeDir(work, filepath.Join(m.Settings.Root, filepath.FromSlash(directory)))
		if err != nil {
			t.Fatal(err)
		}
		return relative
	}
	write(t, filepath.Join(m.Settings.Root, config.Directory, "Pulumi.dev.yaml"), "config: {}\n")
	plugins := map[string]any{"providers": []any{
		map[string]any{"name": "aws", "path": "/plugins/aws"}, map[string]any{"name": "kind", "path": "/plugins/kind"},
	}}
	for _, test := range []struct {
		project model.Project
		want    map[string]any
	}{
		{projects.AWSVPC(), map[string]any{"name": projects.AWSVPC().Name, "runtime": model.Runtime, "plugins": plugins, "stackConfigDir": to(config.Directory)}},
		{projects.Secrets(), map[string]any{"name": "secrets", "runtime": model.Runtime, "plugins": plugins, "stackConfigDir": to(config.Directory + "/secrets")}},
		{own(t, m, false), map[string]any{"name": "shop", "runtime": "yaml", "main": to("shop/program"), "stackConfigDir": to(config.Directory)}},
	} {
		directory, err := m.Directory(test.project, encryption.Copies{})
		if err != nil || directory != work {
			t.Errorf("%s: %q, %v", test.project.Name, directory, err)
			continue
		}
		if diff := cmp.Diff(test.want, manifestIn(t, work)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", test.project.Name, diff)
		}
	}
}

// Pulumi works on copies where there are any, and leaves the user's files alone.
func TestDirWithCopies(t *testing.T) {
	t.Parallel()
	work := t.TempDir()
	m := maker(t, work)
	copies := encryption.Copies{Stack: []byte("config:\n  a:b: shared\n"), Secrets: []byte("config:\n  a:b: secret\n")}
	for _, test := range []struct {
		project model.Project
		want    string
	}{
		{projects.AWSVPC(), "config:\n  a:b: shared\n"},
		{projects.Secrets(), "config:\n  a:b: secret\n"},
		{own(t, m, false), "config:\n  a:b: shared\n"},
	} {
		directory, err := m.Directory(test.project, copies)
		if err != nil || directory != work {
			t.Errorf("%s: %q, %v", test.project.Name, directory, err)
			continue
		}
		if _, leads := manifestIn(t, work)["stackConfigDir"]; leads {
			t.Errorf("%s leads to the user's own files", test.project.Name)
		}
		if content, err := os.ReadFile(filepath.Join(work, "Pulumi.dev.yaml")); err != nil || string(content) != test.want {
			t.Errorf("%s: %q, %v", test.project.Name, content, err)
		}
	}
}

func TestOwn(t *testing.T) {
	t.Parallel()
	m := maker(t, "")
	shop := own(t, m, true)
	write(t, filepath.Join(shop.Own.Dir, "Pulumi.dev.yaml"), "config:\n  shop:size: 3\n")
	found, err := m.Own([]model.Project{shop}, encryption.Copies{Stack: []byte("config:\n  a:b: shared\n")})
	if err != nil {
		t.Fatal(err)
	}
	directory, ok := found["shop"]
	var file struct{ Config map[string]any }
	if err := yaml.Unmarshal(directory.StackFile, &file); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(map[string]any{"a:b": "shared", "shop:size": "3"}, file.Config); !ok || directory.Path != shop.Own.Dir || diff != "" {
		t.Errorf("%v in %q (-want +got):\n%s", ok, directory.Path, diff)
	}
	if _, ok := found["vpc"]; ok {
		t.Error("there is a directory of a project that is not the user's")
	}
}

// TestPassphraseEnv: only a project with stack files of its own has a passphrase of its own.
func TestPassphraseEnv(t *testing.T) {
	t.Parallel()
	m := maker(t, "")
	m.Env = map[string]string{encryption.PassphraseVariable: "shared", "PULUMI_CONFIG_PASSPHRASE_SHOP": "another"}
	want := map[string]string{encryption.PassphraseVariable: "another"}
	if diff := cmp.Diff(want, m.PassphraseEnv(own(t, m, true))); diff != "" {
		t.Errorf("a project with its own stack files (-want +got):\n%s", diff)
	}
	for name, project := range map[string]model.Project{
		"on the environment's stack file": own(t, m, false), "built-in": {Name: "shop"},
		"without a passphrase": {Name: "pay", Own: &model.Own{StackFiles: "pay"}},
	} {
		if env := m.PassphraseEnv(project); env != nil {
			t.Errorf("a project %s gets %v", name, env)
		}
	}
}

// A program that plain Pulumi runs on the user's stack file would have it write a salt
// into that, where only the secrets have one.
func TestNeedsCopies(t *testing.T) {
	t.Parallel()
	m := maker(t, "")
	salted := config.StackFile{Content: []byte("encryptionsalt: v1:salt\n")}
	for name, test := range map[string]struct {
		stack, secrets config.StackFile
		project        model.Project
		runs, want     bool
	}{
		"the secrets have a salt":   {secrets: salted, project: own(t, m, false), runs: true, want: true},
		"a built-in project":        {secrets: salted, project: projects.AWSVPC(), runs: true, want: true},
		"no program is run":         {secrets: salted, project: own(t, m, false)},
		"stack files of its own":    {secrets: salted, project: own(t, m, true), runs: true},
		"the secrets project":       {secrets: salted, project: projects.Secrets(), runs: true},
		"the shared file has one":   {stack: salted, secrets: salted, project: own(t, m, false), runs: true},
		"nothing is encrypted here": {project: own(t, m, false), runs: true},
	} {
		m.Settings.Config, m.Settings.Secrets = test.stack, test.secrets
		if got := m.NeedsCopies(test.project, test.runs); got != test.want {
			t.Errorf("%s: %t", name, got)
		}
	}
}

// TestNodeCache: Node.js is told where to keep what it compiles, unless somebody has said something of it.
func TestNodeCache(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		runtime string
		cache   string
		env     map[string]string // of Pulumi
		want    string
	}{
		"a program of Node.js":  {"nodejs", "/cache", nil, "/cache"},
		"another one":           {"python", "/cache", nil, ""},
		"no place":              {"nodejs", "", nil, ""},
		"said where":            {"nodejs", "/cache", map[string]string{"NODE_COMPILE_CACHE": "/own"}, ""},
		"switched off":          {"nodejs", "/cache", map[string]string{"NODE_DISABLE_COMPILE_CACHE": "1"}, ""},
		"another variable said": {"nodejs", "/cache", map[string]string{"NODE_OPTIONS": "--x"}, "/cache"},
	} {
		m := maker(t, "")
		m.NodeCache, m.Env = test.cache, test.env
		project := own(t, m, false)
		project.Own.Runtime = test.runtime
		found, err := m.Own([]model.Project{project}, encryption.Copies{})
		if err != nil {
			t.Fatal(err)
		}
		if got := found["shop"].Env["NODE_COMPILE_CACHE"]; got != test.want {
			t.Errorf("%s: %q, want %q", name, got, test.want)
		}
	}
}
