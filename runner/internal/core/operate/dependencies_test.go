package operate

import (
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/blang/semver"

	"mara/projects/model"
	"mara/runner/internal/core/event"
	"mara/runner/internal/core/plan"
	"mara/runner/internal/machine/failure"
)

// pulumi stands for Pulumi's commands, of which it knows the installation.
type pulumi struct {
	t           *testing.T
	directories []string // that something was installed in
	args        string   // of the last one
	fail        error
}

// Version implements stacks.Command.
func (*pulumi) Version() semver.Version { return semver.Version{} }

// Run implements stacks.Command.
func (p *pulumi) Run(_ context.Context, dir string, _ io.Reader, _, _ []io.Writer, _ []string, args ...string) (string, string, int, error) {
	p.args = strings.Join(args, " ")
	if args[0] != "install" {
		p.t.Errorf("pulumi %s", p.args)
	}
	p.directories = append(p.directories, dir)
	return "", "", 0, p.fail
}

// own returns a project of a runtime, with files in its directory.
func own(t *testing.T, runtime string, files ...string) model.Project {
	t.Helper()
	dir := t.TempDir()
	for _, name := range files {
		write(t, filepath.Join(dir, name), name)
	}
	return model.Project{Name: "shop", Own: &model.Own{Dir: dir, Runtime: runtime}}
}

func write(t *testing.T, file, content string) {
	t.Helper()
	if err := errors.Join(os.MkdirAll(filepath.Dir(file), 0o755), os.WriteFile(file, []byte(content), 0o600)); err != nil {
		t.Fatal(err)
	}
}

// isMissing reports whether the dependencies of a project are missing.
func isMissing(root string, project model.Project) bool {
	return len(Missing(root, plan.Plan{Steps: []plan.Step{{Project: model.Project{Name: "vpc"}}, {Project: project}}})) == 1
}

func TestMissing(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		runtime string
		files   []string
		want    bool
	}{
		"nothing installed":       {"nodejs", []string{"package.json"}, true},
		"by the user":             {"nodejs", []string{"package.json", "node_modules/a/package.json"}, false},
		"in a virtual one":        {"python", []string{"requirements.txt", ".venv/pyvenv.cfg"}, false},
		"Go fetches its own":      {"go", []string{"go.mod"}, false},
		"YAML has none":           {"yaml", nil, false},
		"what has no runtime yet": {"", nil, false},
	} {
		if got := isMissing(t.TempDir(), own(t, test.runtime, test.files...)); got != test.want {
			t.Errorf("%s: missing is %v", name, got)
		}
	}
}

func TestInstall(t *testing.T) {
	t.Parallel()
	root, project, command := t.TempDir(), own(t, "nodejs", "package.json"), &pulumi{t: t}
	var stderr strings.Builder
	installer := Installer{Root: root, Command: command, Masker: event.NewMasker(), Stderr: &stderr}
	if err := installer.Install(t.Context(), []model.Project{project}); err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(command.directories, []string{project.Own.Dir}) || !strings.Contains(command.args, "--no-plugins") {
		t.Errorf("pulumi %s in %v", command.args, command.directories)
	}
	if stderr.String() != "installing the dependencies of shop (nodejs)\n" {
		t.Errorf("printed: %q", stderr.String())
	}
	if isMissing(root, project) {
		t.Error("they are missing after their installation")
	}
	write(t, filepath.Join(project.Own.Dir, "index.ts"), "changed")
	if isMissing(root, project) {
		t.Error("they are missing once the program has changed")
	}
	write(t, filepath.Join(project.Own.Dir, "package.json"), "changed")
	if !isMissing(root, project) {
		t.Error("they are not missing though they have changed")
	}
}

// TestRemoved: a removed node_modules is installed again, and only where it was.
func TestRemoved(t *testing.T) {
	t.Parallel()
	root, project := t.TempDir(), own(t, "nodejs", "package.json", "node_modules/a/package.json")
	installer := Installer{Root: root, Command: &pulumi{t: t}, Masker: event.NewMasker(), Stderr: io.Discard}
	if err := installer.Install(t.Context(), []model.Project{project}); err != nil {
		t.Fatal(err)
	}
	if isMissing(root, project) {
		t.Error("they are missing after their installation")
	}
	if err := os.RemoveAll(filepath.Join(project.Own.Dir, "node_modules")); err != nil {
		t.Fatal(err)
	}
	if !isMissing(root, project) {
		t.Error("they are not missing though node_modules was removed")
	}
}

func TestInstallFails(t *testing.T) {
	t.Parallel()
	root, project := t.TempDir(), own(t, "nodejs", "package.json")
	command := &pulumi{t: t, fail: errors.New("npm says no to hunter2hunter2")}
	installer := Installer{Root: root, Command: command, Masker: event.NewMasker("hunter2hunter2"), Stderr: io.Discard}
	err := installer.Install(t.Context(), []model.Project{project, project})
	var environment *failure.Environment
	if !errors.As(err, &environment) || !strings.Contains(err.Error(), "npm says no") || strings.Contains(err.Error(), "hunter2hunter2") {
		t.Errorf("error: %v", err)
	}
	if len(command.directories) != 1 || !isMissing(root, project) {
		t.Errorf("it went on in %v", command.directories)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := installer.Install(ctx, []model.Project{project}); !errors.Is(err, context.Canceled) || errors.As(err, &environment) {
		t.Errorf("interrupted: %v", err)
	}
}
