package references_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"mara/runner/internal/core/references"
)

// files is a repository by paths. Each Pulumi.yaml is a project with the name of its directory's last part.
type files map[string]string

// lines returns what the sources of a project say, as lines.
func lines(t *testing.T, repository files, name string) []string {
	t.Helper()
	root := t.TempDir()
	var projects []references.Project
	for file, content := range repository {
		path := filepath.Join(root, filepath.FromSlash(file))
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
		if filepath.Base(path) == "Pulumi.yaml" {
			projects = append(projects, references.Project{Name: filepath.Base(filepath.Dir(path)), Dir: filepath.Dir(path)})
		}
	}
	for _, p := range projects {
		if p.Name != name {
			continue
		}
		repository, err := references.Read(t.Context(), root, projects)
		if err != nil {
			t.Fatal(err)
		}
		found := repository.Of(p)
		var all []string
		for _, e := range found.Edges {
			all = append(all, fmt.Sprintf("%s %s: %s", e.Certainty, e.Project, e.Evidence))
		}
		for _, missing := range found.Missing {
			all = append(all, "missing "+missing)
		}
		for _, place := range found.Computed {
			all = append(all, "computed "+place)
		}
		return all
	}
	t.Fatalf("no project %s", name)
	return nil
}

const project = "name: x\nruntime: nodejs\n"

// TestOf follows names of references through each language.
func TestOf(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		files files
		want  []string
	}{
		"a constant one line above, in Go": {
			files{"app/main.go": "package main\n\nfunc main() {\n\tpulumi.Run(func(ctx *pulumi.Context) error {\n" +
				"\t\tslug := fmt.Sprintf(\"%s/net/%s\", org, ctx.Stack())\n\t\tref, err := pulumi.NewStackReference(ctx, slug, nil)\n\t\treturn err\n\t})\n}\n"},
			[]string{"written net: app/main.go:6"},
		},
		"the arguments of the reference, in Go": {
			files{"app/main.go": "package main\n\nvar ref, err = pulumi.NewStackReference(ctx, \"db\", &pulumi.StackReferenceArgs{\n\tName: pulumi.String(\"acme/net/\" + stack),\n})\n"},
			[]string{"written net: app/main.go:3"},
		},
		"a constant of another package, in Go": {
			files{
				"app/main.go":     "package main\n\nimport \"acme.example/infra/names\"\n\nvar ref, _ = pulumi.NewStackReference(ctx, org+\"/\"+names.Network+\"/\"+ctx.Stack(), nil)\n",
				"names/names.go":  "package names\n\nconst (\n\tNetwork = \"net\"\n\tDatabase string = \"db\"\n)\n",
				"names/other.txt": "",
			},
			[]string{"written net: app/main.go:5"},
		},
		"a template and an option, in TypeScript": {
			files{"app/index.ts": "const stack = pulumi.getStack();\nconst name = `${org}/net/${stack}`;\nconst a = new pulumi.StackReference(name);\n" +
				"const b = new pulumi.StackReference(\"second\", { name: [\"acme\", \"db\", stack].join(\"/\") });\n"},
			[]string{"written net: app/index.ts:3", "written db: app/index.ts:4"},
		},
		"a helper with a parameter, in TypeScript": {
			files{
				"app/index.ts":    "import { refer } from \"../shared/refs\";\n\nexport const id = refer(\"net\").getOutput(\"id\");\nconst names = { database: \"db\" };\nrefer(names.database);\n",
				"shared/refs.ts":  "export function refer(project: string): pulumi.StackReference {\n  return new pulumi.StackReference(`${org}/${project}/${pulumi.getStack()}`);\n}\n",
				"shared/other.ts": "new pulumi.StackReference(\"acme/web/dev\");\n",
			},
			[]string{"written net: app/index.ts:3, through shared/refs.ts:2", "written db: app/index.ts:5, through shared/refs.ts:2"},
		},
		"a helper of a workspace": {
			files{
				"app/index.ts":            "import { network } from \"@acme/shared\";\nexport const id = network().getOutput(\"id\");\n",
				"lib/shared/index.ts":     "export const network = () => new StackReference(`acme/net/${stack}`);\n",
				"lib/shared/package.json": "{\"name\": \"@acme/shared\"}",
			},
			[]string{"written net: app/index.ts:2, through lib/shared/index.ts:1"},
		},
		"a value of the stack files": {
			files{
				"app/__main__.py":      "import pulumi\nconfig = pulumi.Config()\nref = pulumi.StackReference(config.require(\"networkStack\"))\n",
				"app/Pulumi.dev.yaml":  "config:\n  app:networkStack: acme/net/dev\n",
				"app/Pulumi.prod.yaml": "config:\n  app:networkStack: acme/net/prod\n",
			},
			[]string{"written net: app/__main__.py:3 (app/Pulumi.dev.yaml:2)"},
		},
		"a value that the documentation sets": {
			files{
				"app/index.ts": "const ref = new StackReference(config.require(\"networkStack\"));\n",
				"README.md":    "# How\n\n    pulumi config set networkStack YOUR_ORG/net/dev\n    pulumi config set networkStack YOUR_ORG/elsewhere/dev\n",
			},
			[]string{"likely net: app/index.ts:1 (README.md:3 sets networkStack)"},
		},
		"a key with the name of a project, and nothing else": {
			files{"app/index.ts": "const ref = new StackReference(config.require(\"webStack\"));\n"},
			[]string{"doubtful web: app/index.ts:1: the configuration key webStack resembles its name", "computed app/index.ts:1"},
		},
		"the directory of a project, through a function that reads files": {
			files{
				"app/__main__.py": "import os\nfrom tools import projects\nhere = os.path.dirname(os.path.abspath(__file__))\n\n\ndef name_of(directory: str):\n    path = os.path.join(here, '..', directory)\n    return projects.read_name(path)\n\n\n" +
					"net_name = name_of('net')\nid = f\"{user}/{net_name}/{stack}\"\nnet = StackReference(id)\ndb = StackReference(f\"{user}/{name_of('db')}/{stack}\")\n",
				"tools/projects.py": "import yaml\n\n\ndef read_name(directory):\n    data = yaml.safe_load(open(directory))\n    return data['name']\n",
			},
			[]string{"likely net: app/__main__.py:13 (read_name of net)", "likely db: app/__main__.py:14 (read_name of db)"},
		},
		"a method of a class": {
			files{
				"app/__main__.py":       "from registries.lke import Registry\n\nRegistry.instance('dev')\n",
				"app/registries/lke.py": "class Registry:\n    @classmethod\n    def instance(cls, stack):\n        name = cls.name('net')\n        return StackReference(f'acme/{name}/{stack}')\n\n    @staticmethod\n    def name(which):\n        return '{}'.format(which)\n",
			},
			[]string{"written net: app/__main__.py:3, through app/registries/lke.py:5"},
		},
		"branches": {
			files{"app/__main__.py": "if kind == 'a':\n    name = 'net'\nelse:\n    name = 'db'\nStackReference('acme/%s/%s' % (name, stack))\n"},
			[]string{"written db: app/__main__.py:5", "written net: app/__main__.py:5"},
		},
		"comments and documentation do not count": {
			files{"app/__main__.py": "\"\"\"Reads StackReference('acme/net/dev').\"\"\"\n# StackReference('acme/net/dev')\nfrom pulumi import StackReference\n",
				"app/index.ts": "// new StackReference('acme/net/dev')\n/* new StackReference('acme/db/dev') */\n",
				"app/main.go":  "package main // pulumi.NewStackReference(ctx, \"acme/net/dev\", nil)\n"},
			nil,
		},
		"C#": {
			files{"app/Program.cs": "class Names { public const string Network = \"net\"; }\nvar stack = Deployment.Instance.StackName;\nvar a = new StackReference($\"{org}/{Names.Network}/{stack}\");\n" +
				"var b = new StackReference(\"b\", new StackReferenceArgs { Name = string.Format(\"{0}/db/{1}\", org, stack) });\n"},
			[]string{"written net: app/Program.cs:3", "written db: app/Program.cs:4"},
		},
		"Java": {
			files{"app/App.java": "class App {\n  private static final String NETWORK = \"net\";\n  void run() {\n    var a = new StackReference(String.format(\"%s/%s/%s\", org, NETWORK, ctx.stackName()));\n" +
				"    var b = new StackReference(\"b\", StackReferenceArgs.builder().name(\"acme/db/\" + stack).build());\n  }\n}\n"},
			[]string{"written net: app/App.java:4", "written db: app/App.java:5"},
		},
		"Kotlin and F#": {
			files{"app/Main.kt": "val project = \"net\"\nval ref = StackReference(\"acme/$project/${stack}\")\n",
				"app/Program.fs": "let name = \"acme/db/dev\"\n(* StackReference(\"acme/web/dev\") *)\nlet ref = StackReference(name)\n"},
			[]string{"written net: app/Main.kt:2", "written db: app/Program.fs:3"},
		},
		"YAML": {
			files{"app/Pulumi.yaml": "name: app\nruntime: yaml\nconfig:\n  netRef: {default: acme/net/dev}\nvariables:\n  database: db\nresources:\n  net:\n    type: pulumi:pulumi:StackReference\n    properties:\n      name: ${netRef}\n" +
				"  db:\n    type: pulumi:pulumi:StackReference\n    properties: {name: \"${pulumi.organization}/${database}/dev\"}\n"},
			[]string{"written net: app/Pulumi.yaml:9 (app/Pulumi.yaml:4)", "written db: app/Pulumi.yaml:13"},
		},
		"its own project, another repository, and what is not known": {
			files{"app/index.ts": "new StackReference(`acme/${pulumi.getProject()}/base`);\nnew StackReference(\"acme/elsewhere/dev\");\nnew StackReference(process.env.REF);\nnew StackReference(`acme/${prefix}-layer/dev`);\n"},
			[]string{"doubtful net-layer: app/index.ts:4: its name begins or ends like this project's", "missing acme/elsewhere/dev (app/index.ts:2)",
				"computed app/index.ts:3", "computed app/index.ts:4"},
		},
		"a project's name as an argument of something unknown": {
			files{"app/index.ts": "import { stackName } from \"acme-names\";\nnew StackReference(stackName(\"net\"));\n"},
			[]string{"doubtful net: app/index.ts:2: stackName is called with \"net\"", "computed app/index.ts:2"},
		},
		"sources that end too early": {
			files{"app/index.ts": "new StackReference(`acme/net/${stack", "app/main.go": "package main\nfunc f(a", "app/__main__.py": "def f(a):\n  StackReference(f\"{a"},
			[]string{"written net: app/index.ts:1", "computed app/__main__.py:2"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			repository := files{"net/Pulumi.yaml": project, "db/Pulumi.yaml": project, "web/Pulumi.yaml": project,
				"net-layer/Pulumi.yaml": project, "app/Pulumi.yaml": project}
			for file, content := range test.files {
				repository[file] = content
			}
			got := lines(t, repository, "app")
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("%s\n%s", diff, strings.Join(got, "\n"))
			}
		})
	}
}

// TestDocuments: a command of a document sets the key of a project only if the document is that project's, names it, or is
// about both projects.
func TestDocuments(t *testing.T) {
	t.Parallel()
	const sets = "    pulumi config set baseStack YOUR_ORG/net/dev\n"
	for name, test := range map[string]struct{ file, text, want string }{
		"its own":           {"go/app/README.md", sets, "likely net: go/app/index.ts:1 (go/app/README.md:1 sets baseStack)"},
		"about both":        {"README.md", sets, "likely net: go/app/index.ts:1 (README.md:1 sets baseStack)"},
		"another directory": {"go/README.md", sets, "doubtful net: go/app/index.ts:1: go/README.md:1 sets baseStack"},
		"naming it": {"go/README.md", "    pulumi config set app:baseStack YOUR_ORG/net/dev\n",
			"likely net: go/app/index.ts:1 (go/README.md:1 sets baseStack)"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := lines(t, files{"go/app/Pulumi.yaml": project, "ts/net/Pulumi.yaml": project, test.file: test.text,
				"go/app/index.ts": "const ref = new StackReference(config.require(\"baseStack\"));\n"}, "app")
			if len(got) == 0 || got[0] != test.want {
				t.Errorf("%q, want %s", got, test.want)
			}
		})
	}
}

// FuzzScan: no source makes the search fail.
func FuzzScan(f *testing.F) {
	f.Add(".py", "def f(a='x'):\n    return StackReference(f\"{a}/net/{b['c']}\")\nf('y')\n")
	f.Add(".ts", "const a = (b) => new StackReference(`x/${b ? c : d}/${e[\"f\"]}`); a([1, 2].join('/'))")
	f.Add(".go", "package a\nfunc f(a string) { pulumi.NewStackReference(ctx, strings.Join([]string{a, \"b\"}, \"/\")) }")
	f.Add(".cs", "var a = $\"{b}/{{c}}\" + @\"d\"; new StackReference(a!)")
	f.Add(".py", "def read(path, block=1 << 20):\n    return StackReference('a/b/c')\n")
	f.Add(".ts", "const f = (n = 1 << 20) => new StackReference(`a/${n}/c`)")
	for i, file := range libraries() {
		if content, err := os.ReadFile(file); err == nil && i%50 == 0 {
			f.Add(filepath.Ext(file), string(content))
		}
	}
	f.Fuzz(func(t *testing.T, ending, content string) {
		root := t.TempDir()
		dir := filepath.Join(root, "app")
		if strings.ContainsAny(ending, "/\x00") || len(ending) > 20 || os.Mkdir(dir, 0o755) != nil ||
			os.WriteFile(filepath.Join(dir, "x"+ending), []byte(content), 0o600) != nil {
			t.Skip()
		}
		p := references.Project{Name: "app", Dir: dir}
		done := make(chan bool)
		go func() {
			defer close(done)
			if r, err := references.Read(t.Context(), root, []references.Project{p, {Name: "net", Dir: filepath.Join(root, "net")}}); err == nil {
				r.Of(p)
			}
		}()
		select {
		case <-done:
		case <-time.After(time.Minute): // it takes milliseconds, but for a machine that does other things
			t.Fatalf("no end of %q", content)
		}
	})
}
