package references_test

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"mara/runner/internal/core/references"
)

// library is a shared file that offers references to net, login and users, and programs that use it: login reads net,
// and users reads login.
type library struct {
	file, text   string // {P} is replaced by the code of each project, in order
	login, users string // programs
	program      string // file name of a program
}

// TestOffered: of what a library offers, only what a program uses is an edge, in each style of each language. That a
// program may make a reference that it does not name is at most a doubt.
func TestOffered(t *testing.T) {
	t.Parallel()
	const ts = "import { StackReference } from '@pulumi/pulumi';\n"
	name := func(p string) string { return "`acme/" + p + "/${env}`" }
	each := func(format string) string {
		var all string
		for _, p := range []string{"net", "login", "users"} {
			all += strings.NewReplacer("NAME", name(p), "PLAIN", `"acme/`+p+`/dev"`, "UPPER", strings.ToUpper(p[:1])+p[1:], "LOWER", p).Replace(format)
		}
		return all
	}
	for style, lib := range map[string]library{
		"ts functions":  {"lib/refs.ts", ts + each("export function LOWER(env: string) { return new StackReference(NAME); }\n"), "import { net } from '../lib/refs'; net('dev');", "import { login } from '../lib/refs'; login('dev');", "index.ts"},
		"ts arrows":     {"lib/refs.ts", ts + each("export const LOWER = (env: string) => new StackReference(NAME);\n"), "import * as refs from '../lib/refs'; refs.net('dev');", "import * as refs from '../lib/refs'; refs.login('dev');", "index.ts"},
		"ts methods":    {"lib/refs.ts", ts + "export class Refs {\n" + each("  LOWER(env: string) { return new StackReference(NAME); }\n") + "}\n", "import { Refs } from '../lib/refs'; new Refs().net('dev');", "import { Refs } from '../lib/refs';\nconst r = new Refs();\nr.login('dev');", "index.ts"},
		"ts getters":    {"lib/refs.ts", ts + "export class Refs {\n  constructor(private env: string) {}\n" + each("  get LOWER(): StackReference { return this.of('LOWER'); }\n") + "  of(p: string): StackReference { return new StackReference(p, { name: `acme/${p}/${this.env}` }); }\n}\n", "import { Refs } from '../lib/refs'; export const x = new Refs('dev').net.getOutput('zone');", "import { Refs } from '../lib/refs'; export const x = new Refs('dev').login.getOutput('zone');", "index.ts"},
		"ts object":     {"lib/refs.ts", ts + "export const refs = {\n" + each("  LOWER: () => new StackReference(NAME),\n") + "};\n", "import { refs } from '../lib/refs'; refs.net();", "import { refs } from '../lib/refs'; refs.login();", "index.ts"},
		"ts fields":     {"lib/refs.ts", ts + each("export class UPPER { ref = new StackReference(NAME); }\n"), "import { Net } from '../lib/refs'; new Net().ref;", "import { Login } from '../lib/refs'; new Login().ref;", "index.ts"},
		"ts static":     {"lib/refs.ts", ts + "export class Refs {\n" + each("  static LOWER = new StackReference(NAME);\n") + "}\n", "import { Refs } from '../lib/refs'; Refs.net.getOutput('a');", "import { Refs } from '../lib/refs'; Refs.login.getOutput('a');", "index.ts"},
		"py functions":  {"lib/refs.py", "import pulumi\n" + each("def LOWER():\n    return pulumi.StackReference(PLAIN)\n\n"), "from lib.refs import net\nnet()\n", "from lib import refs\nrefs.login()\n", "__main__.py"},
		"py methods":    {"lib/refs.py", "import pulumi\n\nclass Refs:\n" + each("    def LOWER(self):\n        return pulumi.StackReference(PLAIN)\n\n"), "from lib.refs import Refs\nRefs().net()\n", "from lib.refs import Refs\nr = Refs()\nr.login()\n", "__main__.py"},
		"py properties": {"lib/refs.py", "import pulumi\n\nclass Refs:\n" + each("    @property\n    def LOWER(self):\n        return pulumi.StackReference(PLAIN)\n\n"), "from lib.refs import Refs\nx = Refs().net.get_output('a')\n", "from lib.refs import Refs\nr = Refs()\ny = r.login\n", "__main__.py"},
		"py attributes": {"lib/refs.py", "import pulumi\n\nclass Refs:\n" + each("    LOWER = pulumi.StackReference(PLAIN)\n"), "from lib.refs import Refs\nx = Refs.net.get_output('a')\n", "from lib.refs import Refs\nx = Refs.login\n", "__main__.py"},
		"go functions":  {"lib/refs/refs.go", "package refs\n\n" + each("func UPPER(ctx *pulumi.Context) (*pulumi.StackReference, error) {\n\treturn pulumi.NewStackReference(ctx, PLAIN, nil)\n}\n\n"), "package main\n\nimport \"acme/lib/refs\"\n\nfunc main() { refs.Net(ctx) }\n", "package main\n\nimport \"acme/lib/refs\"\n\nfunc main() { refs.Login(ctx) }\n", "main.go"},
		"cs properties": {"lib/Refs.cs", "static class Refs {\n" + each("  public static StackReference UPPER => new StackReference(PLAIN);\n") + "}\n", "class App { App() { var x = Refs.Net.GetOutput(\"a\"); } }\n", "class App { App() { var x = Refs.Login.GetOutput(\"a\"); } }\n", "App.cs"},
		"cs methods":    {"lib/Refs.cs", "static class Refs {\n" + each("  public static StackReference UPPER() { return new StackReference(PLAIN); }\n") + "}\n", "class App { App() { var x = Refs.Net(); } }\n", "class App { App() { var x = Refs.Login(); } }\n", "App.cs"},
		"cs fields":     {"lib/Refs.cs", "class Refs {\n" + each("  public readonly StackReference UPPER = new StackReference(PLAIN);\n") + "}\n", "class App { App() { var r = new Refs(); var x = r.Net.GetOutput(\"a\"); } }\n", "class App { App() { var x = new Refs().Login; } }\n", "App.cs"},
		"go methods":    {"lib/refs/refs.go", "package refs\n\ntype Refs struct{}\n\n" + each("func (r Refs) UPPER(ctx *pulumi.Context) (*pulumi.StackReference, error) {\n\treturn pulumi.NewStackReference(ctx, PLAIN, nil)\n}\n\n"), "package main\n\nimport \"acme/lib/refs\"\n\nfunc main() { refs.Refs{}.Net(ctx) }\n", "package main\n\nimport \"acme/lib/refs\"\n\nfunc main() {\n\tr := refs.Refs{}\n\tr.Login(ctx)\n}\n", "main.go"},
		"java methods":  {"lib/src/main/java/acme/Refs.java", "package acme;\n\npublic class Refs {\n" + each("  public static StackReference LOWER() { return new StackReference(PLAIN); }\n") + "}\n", "import acme.Refs;\n\npublic class App { void run() { var x = Refs.net(); } }\n", "import acme.Refs;\n\npublic class App { void run() { var x = Refs.login().getOutput(\"a\"); } }\n", "src/main/java/app/App.java"},
		"java instance": {"lib/src/main/java/acme/Refs.java", "package acme;\n\npublic class Refs {\n" + each("  public StackReference LOWER() { return new StackReference(PLAIN, StackReferenceArgs.Empty); }\n") + "}\n", "import acme.Refs;\n\npublic class App { void run() { var r = new Refs(); var x = r.net(); } }\n", "import acme.*;\n\npublic class App { void run() { var x = new Refs().login(); } }\n", "src/main/java/app/App.java"},
		"java fields":   {"lib/src/main/java/acme/Refs.java", "package acme;\n\npublic class Refs {\n" + each("  public static final StackReference LOWER = new StackReference(PLAIN);\n") + "}\n", "import acme.Refs;\n\npublic class App { void run() { var x = Refs.net.getOutput(\"a\"); } }\n", "import static acme.Refs.login;\n\npublic class App { void run() { var x = login.getOutput(\"a\"); } }\n", "src/main/java/app/App.java"},
	} {
		t.Run(style, func(t *testing.T) {
			t.Parallel()
			repository := files{"net/Pulumi.yaml": project, "login/Pulumi.yaml": project, "users/Pulumi.yaml": project,
				lib.file: lib.text, "login/" + lib.program: lib.login, "users/" + lib.program: lib.users}
			for reader, want := range map[string]string{"login": "net", "users": "login"} {
				if strings.HasSuffix(lib.program, ".cs") {
					repository[reader+"/p.csproj"] = `<Project><ProjectReference Include="..\lib\lib.csproj" /></Project>`
				}
				var certain, doubtful []string
				for _, line := range lines(t, repository, reader) {
					certainty, rest, _ := strings.Cut(line, " ")
					owner, _, _ := strings.Cut(rest, ":")
					if certainty == "written" || certainty == "likely" {
						certain = append(certain, owner)
					} else {
						doubtful = append(doubtful, line)
					}
				}
				if diff := cmp.Diff([]string{want}, certain); diff != "" {
					t.Errorf("%s reads: %s\ndoubts: %s", reader, diff, strings.Join(doubtful, "\n"))
				}
			}
		})
	}
}

// TestLessThan: a comparison in a default is no type in angle brackets, and ends nothing.
func TestLessThan(t *testing.T) {
	t.Parallel()
	for file, text := range map[string]string{
		"app/__main__.py": "import pulumi\ndef read(path, block=1 << 20):\n    return pulumi.StackReference('acme/net/dev')\nread('a')\n",
		"app/index.ts":    "export function f(small = 3 < 4, n = 1 << 20) { return new StackReference('acme/net/dev'); }\nconst g = (n = 1 << 20) => n;\nf();\n",
	} {
		done := make(chan []string, 1)
		go func() {
			done <- lines(t, files{"app/Pulumi.yaml": project, "net/Pulumi.yaml": project, file: text}, "app")
		}()
		select {
		case got := <-done:
			if len(got) != 1 || !strings.HasPrefix(got[0], "written net") {
				t.Errorf("%s: %q", file, got)
			}
		case <-time.After(20 * time.Second):
			t.Fatalf("%s: no end", file)
		}
	}
}

// TestVirtualEnvironment: an environment of Python is found by its mark, whatever its name.
func TestVirtualEnvironment(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for _, name := range []string{"env", "node_modules", "site-packages", "code"} {
		if err := os.Mkdir(filepath.Join(dir, name), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(filepath.Join(dir, "env", "pyvenv.cfg"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	var skipped []string
	for _, name := range []string{"env", "node_modules", "site-packages", "code"} {
		if references.SkippedDir(filepath.Join(dir, name)) {
			skipped = append(skipped, name)
		}
	}
	if want := []string{"env", "node_modules", "site-packages"}; !slices.Equal(skipped, want) {
		t.Errorf("skipped %q, want %q", skipped, want)
	}
}

// TestReadEnds: an interrupted search ends at once.
func TestReadEnds(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := references.Read(ctx, t.TempDir(), nil); err == nil {
		t.Error("no error")
	}
}
