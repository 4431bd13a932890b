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

	"mara/runner/internal/core/fingerprint"
)

// world is a directory of files, and what is made of them.
type world struct {
	t       *testing.T
	basis   fingerprint.Basis
	subject fingerprint.Subject
	// elsewhere is a directory outside of the root.
	elsewhere string
}

func newWorld(t *testing.T) *world {
	t.Helper()
	root := t.TempDir()
	w := &world{t: t, subject: fingerprint.Subject{Config: map[string]any{"a:text": "hello"}, Outputs: map[string]string{"network": "1"}}}
	w.basis = fingerprint.Basis{
		Root: root, Directories: []string{filepath.Join(root, "config")}, Programs: []string{filepath.Join(root, "engine")},
		PluginDirs: []string{filepath.Join(root, "plugins")}, Environ: map[string]string{"A": "1", "A_TOKEN": "x", "PWD": "/", "GITHUB_RUN_ID": "1"},
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

func (w *world) of() (fingerprint.Fingerprint, error) {
	maker, err := fingerprint.NewMaker(w.basis)
	if err != nil {
		return nil, err
	}
	return maker.Of(w.subject)
}

// TestChanges: each change is found, with its part, and nothing else is.
func TestChanges(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		change func(w *world)
		want   string
	}{
		"nothing":                  {func(*world) {}, ""},
		"a value":                  {func(w *world) { w.subject.Config["a:text"] = "bye" }, "configuration"},
		"a list in it":             {func(w *world) { w.subject.Config["a:list"] = []any{"x"} }, "configuration"},
		"an output":                {func(w *world) { w.subject.Outputs["network"] = "2" }, "outputs of network"},
		"another project":          {func(w *world) { w.subject.Outputs["database"] = "" }, "outputs of database"},
		"a secret":                 {func(w *world) { w.subject.Secrets = [][]byte{[]byte("v1:x")} }, "secrets"},
		"the plan":                 {func(w *world) { w.subject.Plan = []string{"network"} }, "plan"},
		"the backend":              {func(w *world) { w.basis.Setting["backend"] = "s3://x" }, "setting"},
		"a variable":               {func(w *world) { w.basis.Environ["A"] = "2" }, "environment variables"},
		"a secret variable":        {func(w *world) { w.basis.Environ["A_TOKEN"] = "y" }, "environment variables"},
		"a terminal":               {func(w *world) { w.basis.Environ["PWD"] = "/tmp" }, ""},
		"the passphrase":           {func(w *world) { w.basis.Environ["PULUMI_CONFIG_PASSPHRASE"] = "p" }, ""},
		"the engine":               {func(w *world) { w.write("engine", "engine 2") }, "programs"},
		"a plugin":                 {func(w *world) { w.write("plugins/aws-v2/x", "") }, "plugins"},
		"a file that is new":       {func(w *world) { w.write("config/values.yaml", "a: 2") }, "files"},
		"a file in a directory":    {func(w *world) { w.write("source/deep/file", "changed") }, "files"},
		"a large file":             {func(w *world) { w.write("source/large", strings.Repeat("y", 300<<10)) }, "files"},
		"hidden in a directory":    {func(w *world) { w.write("source/.git/index", "changed") }, ""},
		"a file without a mention": {func(w *world) { w.write("other", "changed") }, ""},
		"a terminal of VS Code":    {func(w *world) { w.basis.Environ["VSCODE_IPC_HOOK"] = "/tmp/x" }, ""},
		"the id of a job":          {func(w *world) { w.basis.Environ["GITHUB_RUN_ID"] = "2" }, ""},
		"the owner for GitHub":     {func(w *world) { w.basis.Environ["GITHUB_OWNER"] = "mara" }, "environment variables"},
		"temporary keys": {func(w *world) {
			w.basis.Environ["AWS_SESSION_TOKEN"], w.basis.Environ["AWS_ACCESS_KEY_ID"] = "y", "ASIA2"
		}, ""},
		"a variable of the environment file": {func(w *world) {
			w.basis.Declared, w.basis.Environ["TERM_X"] = []string{"TERM_X"}, "y"
		}, "environment variables"},
		"a directory of another machine": {func(w *world) {
			if err := os.WriteFile(filepath.Join(w.elsewhere, "new"), nil, 0o600); err != nil {
				w.t.Fatal(err)
			}
		}, ""},
		"a file of this machine": {func(w *world) {
			if err := os.WriteFile(filepath.Join(w.elsewhere, "values.yaml"), []byte("a: 2"), 0o600); err != nil {
				w.t.Fatal(err)
			}
		}, "files"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			w.subject.Config["a:values"], w.subject.Config["a:directory"] = "values.yaml", map[string]any{"path": filepath.Join(w.basis.Root, "source")}
			w.elsewhere = t.TempDir()
			w.subject.Config["a:mount"], w.subject.Config["a:more"] = w.elsewhere, filepath.Join(w.elsewhere, "values.yaml")
			if err := os.WriteFile(filepath.Join(w.elsewhere, "values.yaml"), []byte("a: 1"), 0o600); err != nil {
				t.Fatal(err)
			}
			w.basis.Environ["AWS_SESSION_TOKEN"], w.basis.Environ["AWS_ACCESS_KEY_ID"] = "x", "ASIA1"
			w.write("source/deep/file", "1")
			w.write("source/large", strings.Repeat("x", 300<<10))
			w.subject.Config = maps.Clone(w.subject.Config)
			before, err := w.of()
			if err != nil {
				t.Fatal(err)
			}
			time.Sleep(10 * time.Millisecond) // the clock of a file system is no finer
			w.basis.Environ = maps.Clone(w.basis.Environ)
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
		"own file":                           {"yaml", "project/Pulumi.yaml", true},
		"the program it names":               {"yaml", "project/program/Main.yaml", true},
		"a file that it names":               {"yaml", "shared.txt", true},
		"a neighbour":                        {"yaml", "other/main.go", false},
		"the module of Go":                   {"go", "other/main.go", true},
		"outside the module of Go":           {"go", "../x.txt", false},
		"anything for TypeScript":            {"nodejs", "other/main.go", true},
		"installed packages":                 {"nodejs", "node_modules/x.js", false},
		"the configuration":                  {"nodejs", "config/pulumi/Pulumi.other.yaml", false},
		"a hidden directory":                 {"python", ".venv/x.py", false},
		"a file of a runtime of Go":          {"go", "go.sum", true},
		"a hidden directory that YAML names": {"yaml", "project/.templates/x", true},
		"a file that the program names":      {"yaml", "named-by-main.txt", true},
		"a directory of computed names":      {"yaml", "templates/prod.json", true},
		"a script in a command":              {"yaml", "scripts/deploy.sh", true},
		"a hidden directory for TypeScript":  {"nodejs", ".templates/x", true},
		"a directory of a tool":              {"nodejs", ".vscode/settings.json", false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			w.write("go.mod", "module x\n")
			w.write("shared.txt", "1")
			w.write("project/Pulumi.yaml", "name: project\nruntime: yaml\nmain: program\nvariables:\n  text:\n    fn::readFile: ${pulumi.cwd}/../shared.txt\n")
			w.write("project/program/Main.yaml", `variables:
  a: {fn::readFile: ../.templates/x}
  b: {fn::readFile: ../../named-by-main.txt}
resources:
  c: {type: "kubernetes:yaml:ConfigFile", properties: {file: "../../templates/${stage}.json"}}
  d: {type: "command:local:Command", properties: {create: bash ../../scripts/deploy.sh now}}
`)
			for _, name := range []string{"project/.templates/x", "named-by-main.txt", "templates/prod.json", "scripts/deploy.sh"} {
				w.write(name, "1")
			}
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

// TestNoFingerprint: a project whose inputs cannot be determined has no
// fingerprint.
func TestNoFingerprint(t *testing.T) {
	t.Parallel()
	for name, change := range map[string]func(w *world){
		"sources from anywhere": func(w *world) { w.write("go.mod", "module x\nreplace y => ../y\n"); w.source("go") },
		"a workspace":           func(w *world) { w.write("go.work", ""); w.write("go.mod", "module x\n"); w.source("go") },
		"a computed path": func(w *world) {
			w.write("project/Pulumi.yaml", "name: p\nruntime: yaml\nvariables:\n  a:\n    fn::readFile: ${dir}/x\n")
			w.source("yaml")
		},
		"a path that is joined": func(w *world) {
			w.write("project/Pulumi.yaml", "name: p\nruntime: yaml\nvariables:\n  a:\n    fn::fileAsset: {fn::join: [/, [a, b]]}\n")
			w.source("yaml")
		},
		"sources in quotes": func(w *world) {
			w.write("go.mod", "module x\nreplace y => \"../y\"\n")
			w.source("go")
		},
		"an engine that is gone": func(w *world) { w.basis.Programs = []string{filepath.Join(w.basis.Root, "none")} },
		"a directory behind a link": func(w *world) {
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
	want := fingerprint.Record{Run: "r", State: "s", OutputsDigest: "t", Parts: fingerprint.Fingerprint{"plan": "x"}}
	if err := records.Keep("a", want); err != nil {
		t.Fatal(err)
	}
	if got, ok := records.Load("a"); !ok || got.Run != "r" || got.State != "s" || got.OutputsDigest != "t" || got.Parts["plan"] != "x" {
		t.Errorf("got %+v, %v", got, ok)
	}
	for _, name := range []string{"a", "unknown"} {
		if err := records.Invalidate(name); err != nil {
			t.Error(err)
		}
	}
	if got, ok := records.Load("a"); !ok || got.Run != "" || got.OutputsDigest != "t" {
		t.Errorf("after it was invalidated: %+v, %v", got, ok)
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

// TestGoOutside: a Go program that may read files outside of its module has all of
// the repository.
func TestGoOutside(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		code   string
		counts bool
	}{
		"reads its own":  {`os.ReadFile("values.yaml")`, false},
		"reads another":  {`os.ReadFile("../shared/values.yaml")`, true},
		"joins a path":   {`os.ReadFile(filepath.Join("..", "shared", "values.yaml"))`, true},
		"finds its file": {`runtime.Caller(0)`, true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			w.write("project/go.mod", "module x\n")
			w.write("project/main.go", "package main\nfunc main() { "+test.code+" }\n")
			w.write("shared/values.yaml", "1")
			w.source("go")
			before, err := w.of()
			if err != nil {
				t.Fatal(err)
			}
			w.write("shared/values.yaml", "2")
			after, err := w.of()
			if err != nil {
				t.Fatal(err)
			}
			if changed := before.Changes(after); (len(changed) > 0) != test.counts {
				t.Errorf("changed: %v", changed)
			}
		})
	}
}

// TestVariables: a volatile variable counts for a program that names it, and what
// has changed is named without its value.
func TestVariables(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.write("project/index.ts", "const sha = process.env.GITHUB_SHA\n")
	w.source("nodejs")
	w.basis.Environ["GITHUB_SHA"], w.basis.Environ["GONE"] = "1", "1"
	before, err := w.of()
	if err != nil {
		t.Fatal(err)
	}
	maker, err := fingerprint.NewMaker(w.basis)
	if err != nil {
		t.Fatal(err)
	}
	hints := maker.Hints()
	w.basis.Environ = map[string]string{"A": "2", "A_TOKEN": "y", "NEW": "1", "GITHUB_SHA": "2", "GITHUB_RUN_ID": "2"}
	after, err := w.of()
	if err != nil {
		t.Fatal(err)
	}
	want := []string{"environment variables", "environment variables that the program names"}
	if got := before.Changes(after); !slices.Equal(got, want) {
		t.Errorf("changed %q, want %q", got, want)
	}
	if maker, err = fingerprint.NewMaker(w.basis); err != nil {
		t.Fatal(err)
	}
	if got := maker.ChangedVariables(hints); !slices.Equal(got, []string{"A", "GONE", "NEW"}) {
		t.Errorf("changed variables: %q", got)
	}
	if hints["A_TOKEN"] != "" {
		t.Error("a record has a hint at a secret")
	}
}

// TestVariablesInLargeFiles: a bundle is searched like any other source, wherever the name is, and a file that is too
// large to search may name any variable.
func TestVariablesInLargeFiles(t *testing.T) {
	t.Parallel()
	const text = "process.env.GITHUB_SHA"
	for name, test := range map[string]struct {
		before, after int // bytes around the text
		text          string
		want          bool
	}{
		"small":                    {0, 0, text, true},
		"after 300 KiB":            {300 << 10, 0, text, true},
		"before 300 KiB":           {0, 300 << 10, text, true},
		"across two pieces":        {1<<20 - 17, 300 << 10, text, true},
		"large, without the name":  {300 << 10, 0, "process.env.GITHUB", false},
		"too large to be searched": {65 << 20, 0, "", true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			w.write("project/index.js", strings.Repeat("/", test.before)+test.text+strings.Repeat("/", test.after))
			w.source("nodejs")
			w.basis.Environ["GITHUB_SHA"] = "1"
			before, err := w.of()
			if err != nil {
				t.Fatal(err)
			}
			w.basis.Environ = maps.Clone(w.basis.Environ)
			w.basis.Environ["GITHUB_SHA"] = "2"
			after, err := w.of()
			if err != nil {
				t.Fatal(err)
			}
			if got := len(before.Changes(after)) > 0; got != test.want {
				t.Errorf("the variable counts: %v, want %v", got, test.want)
			}
		})
	}
}

// TestClones: another clone of a repository has the same program, so that what one machine has rolled out can be
// compared on another.
func TestClones(t *testing.T) {
	t.Parallel()
	clone := func() fingerprint.Fingerprint {
		w := newWorld(t)
		w.source("yaml")
		w.write("values.yaml", "a: 1")
		w.write("project/program/Main.yaml", "outputs: {text: {fn::readFile: ../values.yaml}}\n")
		w.subject.Config["a:values"] = "values.yaml"
		parts, err := w.of()
		if err != nil {
			t.Fatal(err)
		}
		return parts
	}
	one, two := clone(), clone()
	for _, part := range []string{"program", "files"} {
		if one[part] == "" || one[part] != two[part] {
			t.Errorf("%s: %q and %q", part, one[part], two[part])
		}
	}
}

// TestContents: with Contents a large file counts by what is in it and not by its time,
// and files that are outside do not count.
func TestContents(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.source("nodejs")
	w.basis.Contents = true
	w.subject.Source.Outside = append(w.subject.Source.Outside, filepath.Join(w.basis.Root, "plan.json"))
	large := strings.Repeat("x", 300<<10)
	w.write("project/package-lock.json", large)
	first, err := w.of()
	if err != nil {
		t.Fatal(err)
	}
	changes := func() []string {
		t.Helper()
		now, err := w.of()
		if err != nil {
			t.Fatal(err)
		}
		return first.Changes(now)
	}
	then := time.Now().Add(-time.Hour)
	if err := os.Chtimes(filepath.Join(w.basis.Root, "project/package-lock.json"), then, then); err != nil {
		t.Fatal(err)
	}
	w.write("plan.json", "{}")
	if got := changes(); len(got) > 0 {
		t.Errorf("another time, and a file outside: %v", got)
	}
	w.write("project/package-lock.json", large[1:]+"y")
	if got := changes(); !slices.Equal(got, []string{"program"}) {
		t.Errorf("another content: %v", got)
	}
}

// TestDeclaredVariables: a root decides which variables count.
func TestDeclaredVariables(t *testing.T) {
	t.Parallel()
	parts := func(b fingerprint.Basis) fingerprint.Fingerprint {
		t.Helper()
		maker, err := fingerprint.NewMaker(b)
		if err != nil {
			t.Fatal(err)
		}
		made, err := maker.Of(fingerprint.Subject{})
		if err != nil {
			t.Fatal(err)
		}
		return made
	}
	root := t.TempDir()
	basis := func(ignored, only []string, environ map[string]string) fingerprint.Basis {
		return fingerprint.Basis{Root: root, Environ: environ, Ignored: ignored, Only: only, Declared: []string{"FILED"}}
	}
	for name, test := range map[string]struct {
		ignored, only []string
		before, after map[string]string
		want          bool // that it counts
	}{
		"any variable":           {nil, nil, map[string]string{"DEPLOYED_BY": "a"}, map[string]string{"DEPLOYED_BY": "b"}, true},
		"an ignored one":         {[]string{"DEPLOYED_*"}, nil, map[string]string{"DEPLOYED_BY": "a"}, map[string]string{"DEPLOYED_BY": "b"}, false},
		"one that is not listed": {nil, []string{"STAGE"}, map[string]string{"OTHER": "a"}, map[string]string{"OTHER": "b"}, false},
		"a listed one":           {nil, []string{"STAGE"}, map[string]string{"STAGE": "a"}, map[string]string{"STAGE": "b"}, true},
		"the environment file's": {nil, []string{"STAGE"}, map[string]string{"FILED": "a"}, map[string]string{"FILED": "b"}, true},
	} {
		changed := parts(basis(test.ignored, test.only, test.before)).Changes(parts(basis(test.ignored, test.only, test.after)))
		if (len(changed) > 0) != test.want {
			t.Errorf("%s: changed %q", name, changed)
		}
	}
}

// TestInputs: of a program in TypeScript only its directory and the declared inputs count, each by name.
func TestInputs(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	write := func(name, content string) {
		file := filepath.Join(root, name)
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for _, name := range []string{"app/index.ts", "shared/a.ts", "shared/b.md", "README.md"} {
		write(name, "1")
	}
	maker, err := fingerprint.NewMaker(fingerprint.Basis{Root: root})
	if err != nil {
		t.Fatal(err)
	}
	look := func(inputs ...string) (fingerprint.Fingerprint, fingerprint.Details, error) {
		return maker.Look(fingerprint.Subject{Source: &fingerprint.Source{Dir: filepath.Join(root, "app"), Runtime: "nodejs", Root: root, Inputs: inputs}})
	}
	before, details, err := look("shared/*.ts")
	if err != nil {
		t.Fatal(err)
	}
	write("README.md", "2")
	write("shared/b.md", "2")
	if after, _, _ := look("shared/*.ts"); len(before.Changes(after)) > 0 {
		t.Errorf("files that are no inputs count: %q", before.Changes(after))
	}
	write("shared/a.ts", "2")
	after, now, _ := look("shared/*.ts")
	if changed := before.Changes(after); !slices.Equal(changed, []string{"program"}) {
		t.Errorf("changed %q", changed)
	}
	if names := now.Changed(details, "program"); !slices.Equal(names, []string{"shared/a.ts"}) {
		t.Errorf("the changed files are %q", names)
	}
	if _, _, err := look("shred/*.ts"); err == nil {
		t.Error("an input that does not exist is no error")
	}
}

// TestProgramFiles: the files that a program consists of are those of its fingerprint, and those that would be if they
// were there.
func TestProgramFiles(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		runtime string
		inputs  []string
		has     string
		lacks   string
	}{
		"YAML":                           {"yaml", nil, "project/Pulumi.yaml project/größe.txt project/gone program/x", "other/x config/x gone project/node_modules/x"},
		"a language that reads anything": {"nodejs", nil, "project/Pulumi.yaml other/x gone other/gone", "config/x config/gone .git/HEAD other/node_modules/gone"},
		"inputs":                         {"nodejs", []string{"other", "notes*"}, "project/größe.txt other/x other/gone notes.txt", "gone README.md"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			for _, file := range []string{"project/größe.txt", "program/x", "other/x", "config/x", "notes.txt", "README.md", "project/node_modules/x", ".git/HEAD"} {
				w.write(file, "x")
			}
			w.write("project/Pulumi.yaml", "name: project\nruntime: yaml\nmain: ../program\n")
			w.source(test.runtime)
			w.subject.Source.Inputs = test.inputs
			files, err := w.subject.Source.ProgramFiles()
			if err != nil {
				t.Fatal(err)
			}
			root, err := filepath.EvalSymlinks(w.basis.Root)
			if err != nil {
				t.Fatal(err)
			}
			for want, names := range map[bool]string{true: test.has, false: test.lacks} {
				for _, name := range strings.Fields(names) {
					if files.Has(filepath.Join(root, filepath.FromSlash(name))) != want {
						t.Errorf("%s counts: %v", name, !want)
					}
				}
			}
		})
	}
	w := newWorld(t)
	w.write("values/a.yaml", "x")
	w.subject.Config = map[string]any{"a:file": "values/a.yaml", "a:gone": "values/b.yaml", "a:dir": "values"}
	named, err := w.basis.NamedFiles(w.subject)
	if err != nil {
		t.Fatal(err)
	}
	root, _ := filepath.EvalSymlinks(w.basis.Root)
	for name, want := range map[string]bool{"values/a.yaml": true, "values/b.yaml": true, "values/c.yaml": true, "other": false} {
		if named.Has(filepath.Join(root, name)) != want {
			t.Errorf("%s counts: %v", name, !want)
		}
	}
}
