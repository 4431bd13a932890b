package fingerprint_test

import (
	"errors"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"mara/runner/internal/fingerprint"
	"mara/runner/internal/journal"
)

// world is a folder of files, and what is made of them.
type world struct {
	t       *testing.T
	basis   fingerprint.Basis
	subject fingerprint.Subject
}

func newWorld(t *testing.T) *world {
	t.Helper()
	root := t.TempDir()
	w := &world{t: t, subject: fingerprint.Subject{Config: map[string]any{"a:text": "hello"}, Outputs: map[string]string{"network": "1"}}}
	w.basis = fingerprint.Basis{
		Root: root, Folders: []string{filepath.Join(root, "config")}, Programs: []string{filepath.Join(root, "engine")},
		PluginFolders: []string{filepath.Join(root, "plugins")}, Environ: map[string]string{"A": "1", "A_TOKEN": "x", "PWD": "/"},
		IsSecret: func(name string) bool { return strings.HasSuffix(name, "TOKEN") },
		Setting:  map[string]string{"backend": "file:///x"},
	}
	w.write("engine", "engine")
	w.write("plugins/aws-v1/x", "")
	w.write("project/Pulumi.yaml", "name: project\nruntime: yaml\nmain: program\n")
	return w
}

func (w *world) write(name, content string) {
	w.t.Helper()
	path := filepath.Join(w.basis.Root, name)
	if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, []byte(content), 0o644)); err != nil {
		w.t.Fatal(err)
	}
}

func (w *world) source(runtime string) {
	w.subject.Source = &fingerprint.Source{
		Dir: filepath.Join(w.basis.Root, "project"), Runtime: runtime, Root: w.basis.Root, Outside: []string{filepath.Join(w.basis.Root, "config")},
	}
}

func (w *world) of() (journal.Fingerprint, error) {
	maker, err := fingerprint.NewMaker(w.basis)
	if err != nil {
		return nil, err
	}
	return maker.Of(w.subject)
}

// TestChanges: each change is told, with its part, and what is none is not.
func TestChanges(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		change func(w *world)
		want   string
	}{
		"nothing":             {func(*world) {}, ""},
		"a value":             {func(w *world) { w.subject.Config["a:text"] = "bye" }, "configuration"},
		"a list in it":        {func(w *world) { w.subject.Config["a:list"] = []any{"x"} }, "configuration"},
		"an output":           {func(w *world) { w.subject.Outputs["network"] = "2" }, "outputs of network"},
		"another project":     {func(w *world) { w.subject.Outputs["database"] = "" }, "outputs of database"},
		"a secret":            {func(w *world) { w.subject.Secrets = [][]byte{[]byte("v1:x")} }, "secrets"},
		"the plan":            {func(w *world) { w.subject.Plan = []string{"network"} }, "plan"},
		"the backend":         {func(w *world) { w.basis.Setting["backend"] = "s3://x" }, "setting"},
		"a variable":          {func(w *world) { w.basis.Environ["A"] = "2" }, "environment variables"},
		"a secret variable":   {func(w *world) { w.basis.Environ["A_TOKEN"] = "y" }, "environment variables"},
		"a terminal":          {func(w *world) { w.basis.Environ["PWD"] = "/tmp" }, ""},
		"the passphrase":      {func(w *world) { w.basis.Environ["PULUMI_CONFIG_PASSPHRASE"] = "p" }, ""},
		"the engine":          {func(w *world) { w.write("engine", "engine 2") }, "programs"},
		"a plugin":            {func(w *world) { w.write("plugins/aws-v2/x", "") }, "plugins"},
		"a file that is new":  {func(w *world) { w.write("config/values.yaml", "a: 2") }, "files"},
		"a file in a folder":  {func(w *world) { w.write("source/deep/file", "changed") }, "files"},
		"a large file":        {func(w *world) { w.write("source/large", strings.Repeat("y", 300<<10)) }, "files"},
		"hidden in a folder":  {func(w *world) { w.write("source/.git/index", "changed") }, ""},
		"a file nobody names": {func(w *world) { w.write("other", "changed") }, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			w.subject.Config["a:values"], w.subject.Config["a:folder"] = "values.yaml", map[string]any{"path": filepath.Join(w.basis.Root, "source")}
			w.write("source/deep/file", "1")
			w.write("source/large", strings.Repeat("x", 300<<10))
			w.subject.Config = maps.Clone(w.subject.Config)
			before, err := w.of()
			if err != nil {
				t.Fatal(err)
			}
			time.Sleep(10 * time.Millisecond) // the clock of a file system is no finer
			test.change(w)
			after, err := w.of()
			if err != nil {
				t.Fatal(err)
			}
			if got := strings.Join(before.Changes(after), ", "); got != test.want {
				t.Errorf("changed %q, want %q", got, test.want)
			}
		})
	}
}

// TestSources: what counts as a program's source depends on its language.
func TestSources(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		runtime, file string
		counts        bool
	}{
		"own file":                  {"yaml", "project/Pulumi.yaml", true},
		"the program it names":      {"yaml", "project/program/Main.yaml", true},
		"a file that it names":      {"yaml", "shared.txt", true},
		"a neighbour":               {"yaml", "other/main.go", false},
		"the module of Go":          {"go", "other/main.go", true},
		"outside the module of Go":  {"go", "../x.txt", false},
		"anything for TypeScript":   {"nodejs", "other/main.go", true},
		"installed packages":        {"nodejs", "node_modules/x.js", false},
		"the configuration":         {"nodejs", "config/pulumi/Pulumi.other.yaml", false},
		"a hidden folder":           {"python", ".venv/x.py", false},
		"a file of a runtime of Go": {"go", "go.sum", true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			w.write("go.mod", "module x\n")
			w.write("shared.txt", "1")
			w.write("project/Pulumi.yaml", "name: project\nruntime: yaml\nmain: program\nvariables:\n  text:\n    fn::readFile: ${pulumi.cwd}/../shared.txt\n")
			w.write("project/program/Main.yaml", "outputs: {}\n")
			w.source(test.runtime)
			before, err := w.of()
			if err != nil {
				t.Fatal(err)
			}
			content, _ := os.ReadFile(filepath.Join(w.basis.Root, test.file))
			w.write(test.file, string(content)+"# changed\n")
			after, err := w.of()
			if err != nil {
				t.Fatal(err)
			}
			if got := slices.Equal(before.Changes(after), []string{"program"}); got != test.counts {
				t.Errorf("changed %v, want the program: %v", before.Changes(after), test.counts)
			}
		})
	}
}

// TestNoFingerprint: what cannot be told has none.
func TestNoFingerprint(t *testing.T) {
	t.Parallel()
	for name, change := range map[string]func(w *world){
		"sources from anywhere":  func(w *world) { w.write("go.mod", "module x\nreplace y => ../y\n"); w.source("go") },
		"a workspace":            func(w *world) { w.write("go.work", ""); w.write("go.mod", "module x\n"); w.source("go") },
		"an engine that is gone": func(w *world) { w.basis.Programs = []string{filepath.Join(w.basis.Root, "none")} },
		"a folder behind a link": func(w *world) {
			if err := os.Symlink(w.t.TempDir(), filepath.Join(w.basis.Root, "project", "link")); err != nil {
				w.t.Fatal(err)
			}
			w.source("yaml")
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			change(w)
			if parts, err := w.of(); err == nil {
				t.Errorf("it has %v", parts)
			}
		})
	}
}

func TestRecords(t *testing.T) {
	t.Parallel()
	records := fingerprint.Records(filepath.Join(t.TempDir(), "kind-dev"))
	if _, ok := records.Load("a"); ok {
		t.Error("there is a record of what never ran")
	}
	want := fingerprint.Record{Run: "r", State: "s", Told: "t", Parts: journal.Fingerprint{"plan": "x"}}
	if err := records.Keep("a", want); err != nil {
		t.Fatal(err)
	}
	if got, ok := records.Load("a"); !ok || got.Run != "r" || got.State != "s" || got.Told != "t" || got.Parts["plan"] != "x" {
		t.Errorf("got %+v, %v", got, ok)
	}
	for range 2 {
		if err := records.Forget("a"); err != nil {
			t.Error(err)
		}
	}
	if err := os.WriteFile(filepath.Join(string(records), "b.json"), []byte(`{"format": 99, "run": "r", "state": "s"}`), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"a", "b"} {
		if _, ok := records.Load(name); ok {
			t.Errorf("there is a record of %s", name)
		}
	}
}
