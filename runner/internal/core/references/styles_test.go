package references_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// cell is a library in one style of one language, and a program that uses one project of it. In both, UPPER and LOWER
// stand for the project's name, and in EACH(...) of the library for each project's. Absent says why the language does not
// have the style.
type cell struct{ library, program, absent string }

// dialect is where a language has its files, and how a library begins and ends.
type dialect struct{ library, program, before, after string }

func dialects() map[string]dialect {
	return map[string]dialect{
		"TypeScript": {"lib/refs.ts", "index.ts", "import { StackReference } from '@pulumi/pulumi';\n", ""},
		"Python":     {"lib/refs.py", "__main__.py", "import functools\nimport pulumi\n\n", ""},
		"Go":         {"lib/refs/refs.go", "main.go", "package refs\n\n", ""},
		"C#":         {"lib/Refs.cs", "App.cs", "using Pulumi;\n\n", ""},
		"Java":       {"lib/src/main/java/acme/Refs.java", "src/main/java/app/App.java", "package acme;\n\nimport com.pulumi.resources.StackReference;\n\n", ""},
	}
}

const goProgram = "package main\n\nimport \"acme/lib/refs\"\n\nfunc main() { pulumi.Run(func(ctx *pulumi.Context) error {\n\tBODY\n\treturn nil\n}) }\n"

func inGo(body string) string { return strings.Replace(goProgram, "BODY", body, 1) }

func inCS(body string) string {
	return "using Acme;\n\nclass App : Stack { public App() { " + body + " } }\n"
}

func inJava(body string) string {
	return "package app;\n\nimport acme.Refs;\n\npublic class App { static void run(Context ctx) { " + body + " } }\n"
}

// styles are the ways in which libraries offer references.
func styles() map[string]map[string]cell {
	return map[string]map[string]cell{
		"functions": {
			"TypeScript": {"EACH(export function LOWER() { return new StackReference(\"acme/LOWER/dev\"); }\n)", "import { LOWER } from '../lib/refs';\nLOWER();\n", ""},
			"Python":     {"EACH(def LOWER():\n    return pulumi.StackReference(\"acme/LOWER/dev\")\n\n)", "from lib.refs import LOWER\nLOWER()\n", ""},
			"Go":         {"EACH(func UPPER(ctx *pulumi.Context) (*pulumi.StackReference, error) {\n\treturn pulumi.NewStackReference(ctx, \"acme/LOWER/dev\", nil)\n}\n)", inGo("ref, err := refs.UPPER(ctx)"), ""},
			"C#":         {absent: "every function is in a class"},
			"Java":       {absent: "every function is in a class"},
		},
		"function values": {
			"TypeScript": {"EACH(export const LOWER = () => new StackReference(\"acme/LOWER/dev\");\n)", "import * as refs from '../lib/refs';\nrefs.LOWER();\n", ""},
			"Python":     {"EACH(LOWER = lambda: pulumi.StackReference(\"acme/LOWER/dev\")\n)", "from lib import refs\nrefs.LOWER()\n", ""},
			"Go":         {"EACH(var UPPER = func(ctx *pulumi.Context) (*pulumi.StackReference, error) {\n\treturn pulumi.NewStackReference(ctx, \"acme/LOWER/dev\", nil)\n}\n)", inGo("ref, err := refs.UPPER(ctx)"), ""},
			"C#":         {"static class Refs {\nEACH(  public static readonly Func<StackReference> UPPER = () => new StackReference(\"acme/LOWER/dev\");\n)}\n", inCS("var x = Refs.UPPER();"), ""},
			"Java":       {"public class Refs {\nEACH(  public static final Supplier<StackReference> LOWER = () -> new StackReference(\"acme/LOWER/dev\");\n)}\n", inJava("var x = Refs.LOWER.get();"), ""},
		},
		"methods": {
			"TypeScript": {"export class Refs {\nEACH(  LOWER(): StackReference { return new StackReference(\"acme/LOWER/dev\"); }\n)}\n", "import { Refs } from '../lib/refs';\nconst r = new Refs();\nr.LOWER();\n", ""},
			"Python":     {"class Refs:\nEACH(    def LOWER(self):\n        return pulumi.StackReference(\"acme/LOWER/dev\")\n\n)", "from lib.refs import Refs\nr = Refs()\nr.LOWER()\n", ""},
			"Go":         {"type Refs struct{}\n\nEACH(func (r Refs) UPPER(ctx *pulumi.Context) (*pulumi.StackReference, error) {\n\treturn pulumi.NewStackReference(ctx, \"acme/LOWER/dev\", nil)\n}\n)", inGo("r := refs.Refs{}\n\tref, err := r.UPPER(ctx)"), ""},
			"C#":         {"class Refs {\nEACH(  public StackReference UPPER() { return new StackReference(\"acme/LOWER/dev\"); }\n)}\n", inCS("var r = new Refs(); var x = r.UPPER();"), ""},
			"Java":       {"public class Refs {\nEACH(  public StackReference LOWER() { return new StackReference(\"acme/LOWER/dev\"); }\n)}\n", inJava("var r = new Refs(); var x = r.LOWER();"), ""},
		},
		"static methods": {
			"TypeScript": {"export class Refs {\nEACH(  static LOWER(): StackReference { return new StackReference(\"acme/LOWER/dev\"); }\n)}\n", "import { Refs } from '../lib/refs';\nRefs.LOWER();\n", ""},
			"Python":     {"class Refs:\nEACH(    @staticmethod\n    def LOWER():\n        return pulumi.StackReference(\"acme/LOWER/dev\")\n\n)", "from lib.refs import Refs\nRefs.LOWER()\n", ""},
			"Go":         {absent: "there are no classes"},
			"C#":         {"static class Refs {\nEACH(  public static StackReference UPPER() => new StackReference(\"acme/LOWER/dev\");\n)}\n", inCS("var x = Refs.UPPER();"), ""},
			"Java":       {"public class Refs {\nEACH(  public static StackReference LOWER() { return new StackReference(\"acme/LOWER/dev\"); }\n)}\n", inJava("var x = Refs.LOWER();"), ""},
		},
		"getters": {
			"TypeScript": {"export class Refs {\nEACH(  get LOWER(): StackReference { return new StackReference(\"acme/LOWER/dev\"); }\n)}\n", "import { Refs } from '../lib/refs';\nexport const x = new Refs().LOWER.getOutput('zone');\n", ""},
			"Python":     {"class Refs:\nEACH(    @property\n    def LOWER(self):\n        return pulumi.StackReference(\"acme/LOWER/dev\")\n\n)", "from lib.refs import Refs\nx = Refs().LOWER.get_output('zone')\n", ""},
			"Go":         {absent: "there are no getters"},
			"C#":         {"class Refs {\nEACH(  public StackReference UPPER { get { return new StackReference(\"acme/LOWER/dev\"); } }\n)}\n", inCS("var x = new Refs().UPPER.GetOutput(\"zone\");"), ""},
			"Java":       {"public class Refs {\nEACH(  public StackReference getUPPER() { return new StackReference(\"acme/LOWER/dev\"); }\n)}\n", inJava("var x = new Refs().getUPPER().getOutput(\"zone\");"), ""},
		},
		"objects of functions": {
			"TypeScript": {"export const refs = {\nEACH(  LOWER: () => new StackReference(\"acme/LOWER/dev\"),\n)};\n", "import { refs } from '../lib/refs';\nrefs.LOWER();\n", ""},
			"Python":     {"refs = {\nEACH(    \"LOWER\": lambda: pulumi.StackReference(\"acme/LOWER/dev\"),\n)}\n", "from lib.refs import refs\nrefs[\"LOWER\"]()\n", ""},
			"Go":         {"var All = map[string]func(*pulumi.Context) (*pulumi.StackReference, error){\nEACH(\t\"LOWER\": func(ctx *pulumi.Context) (*pulumi.StackReference, error) { return pulumi.NewStackReference(ctx, \"acme/LOWER/dev\", nil) },\n)}\n", inGo("ref, err := refs.All[\"LOWER\"](ctx)"), ""},
			"C#":         {"static class Refs {\n  public static Dictionary<string, Func<StackReference>> All = new() {\nEACH(    [\"LOWER\"] = () => new StackReference(\"acme/LOWER/dev\"),\n)  };\n}\n", inCS("var x = Refs.All[\"LOWER\"]();"), ""},
			"Java":       {"public class Refs {\n  public static final Map<String, Supplier<StackReference>> ALL = Map.of(\nEACH(    \"LOWER\", () -> new StackReference(\"acme/LOWER/dev\"),\n)    \"\", null);\n}\n", inJava("var x = Refs.ALL.get(\"LOWER\").get();"), ""},
		},
		"fields": {
			"TypeScript": {"export class Refs {\nEACH(  LOWER = new StackReference(\"acme/LOWER/dev\");\n)}\n", "import { Refs } from '../lib/refs';\nconst r = new Refs();\nr.LOWER.getOutput('zone');\n", ""},
			"Python":     {"class Refs:\n    def __init__(self):\nEACH(        self.LOWER = pulumi.StackReference(\"acme/LOWER/dev\")\n)", "from lib.refs import Refs\nr = Refs()\nr.LOWER.get_output('zone')\n", ""},
			"Go":         {"type Refs struct{ Net, Login, Users *pulumi.StackReference }\n\nfunc New(ctx *pulumi.Context) (r Refs, err error) {\nEACH(\tif r.UPPER, err = pulumi.NewStackReference(ctx, \"acme/LOWER/dev\", nil); err != nil {\n\t\treturn r, err\n\t}\n)\treturn r, nil\n}\n", inGo("r, err := refs.New(ctx)\n\tr.UPPER.GetOutput(pulumi.String(\"zone\"))"), ""},
			"C#":         {"class Refs {\nEACH(  public readonly StackReference UPPER = new StackReference(\"acme/LOWER/dev\");\n)}\n", inCS("var r = new Refs(); var x = r.UPPER.GetOutput(\"zone\");"), ""},
			"Java":       {"public class Refs {\nEACH(  public final StackReference LOWER = new StackReference(\"acme/LOWER/dev\");\n)}\n", inJava("var r = new Refs(); var x = r.LOWER.getOutput(\"zone\");"), ""},
		},
		"static fields": {
			"TypeScript": {"export class Refs {\nEACH(  static LOWER = new StackReference(\"acme/LOWER/dev\");\n)}\n", "import { Refs } from '../lib/refs';\nRefs.LOWER.getOutput('zone');\n", ""},
			"Python":     {"class Refs:\nEACH(    LOWER = pulumi.StackReference(\"acme/LOWER/dev\")\n)", "from lib.refs import Refs\nRefs.LOWER.get_output('zone')\n", ""},
			"Go":         {absent: "there are no classes"},
			"C#":         {"static class Refs {\nEACH(  public static readonly StackReference UPPER = new(\"acme/LOWER/dev\");\n)}\n", inCS("var x = Refs.UPPER.GetOutput(\"zone\");"), ""},
			"Java":       {"public class Refs {\nEACH(  public static final StackReference LOWER = new StackReference(\"acme/LOWER/dev\");\n)}\n", inJava("var x = Refs.LOWER.getOutput(\"zone\");"), ""},
		},
		"values of a module": {
			"TypeScript": {"EACH(export const LOWER = new StackReference(\"acme/LOWER/dev\");\n)", "import { LOWER } from '../lib/refs';\nLOWER.getOutput('zone');\n", ""},
			"Python":     {"EACH(LOWER = pulumi.StackReference(\"acme/LOWER/dev\")\n)", "from lib import refs\nrefs.LOWER.get_output('zone')\n", ""},
			"Go":         {"EACH(var UPPER, _ = pulumi.NewStackReference(context, \"acme/LOWER/dev\", nil)\n)", inGo("refs.UPPER.GetOutput(pulumi.String(\"zone\"))"), ""},
			"C#":         {absent: "every value is in a class"},
			"Java":       {absent: "every value is in a class"},
		},
		"constructors": {
			"TypeScript": {"EACH(export class UPPER {\n  ref: StackReference;\n  constructor() { this.ref = new StackReference(\"acme/LOWER/dev\"); }\n}\n)", "import { UPPER } from '../lib/refs';\nnew UPPER().ref.getOutput('zone');\n", ""},
			"Python":     {"EACH(class UPPER:\n    def __init__(self):\n        self.ref = pulumi.StackReference(\"acme/LOWER/dev\")\n\n)", "from lib.refs import UPPER\nUPPER().ref.get_output('zone')\n", ""},
			"Go":         {"EACH(type UPPER struct{ Ref *pulumi.StackReference }\n\nfunc NewUPPER(ctx *pulumi.Context) (*UPPER, error) {\n\tref, err := pulumi.NewStackReference(ctx, \"acme/LOWER/dev\", nil)\n\treturn &UPPER{ref}, err\n}\n)", inGo("r, err := refs.NewUPPER(ctx)"), ""},
			"C#":         {"EACH(class UPPER {\n  public StackReference Ref;\n  public UPPER() { Ref = new StackReference(\"acme/LOWER/dev\"); }\n}\n)", inCS("var x = new UPPER().Ref.GetOutput(\"zone\");"), ""},
			"Java":       {"public class Refs {\nEACH(  public static class UPPER {\n    public final StackReference ref;\n    public UPPER() { ref = new StackReference(\"acme/LOWER/dev\"); }\n  }\n)}\n", inJava("var x = new Refs.UPPER().ref.getOutput(\"zone\");"), ""},
		},
		"a helper with a parameter": {
			"TypeScript": {"export function of(project: string) { return new StackReference(`acme/${project}/dev`); }\nexport class Refs {\nEACH(  get LOWER(): StackReference { return of(\"LOWER\"); }\n)}\n", "import { Refs } from '../lib/refs';\nexport const x = new Refs().LOWER.getOutput('zone');\n", ""},
			"Python":     {"def of(project):\n    return pulumi.StackReference(f\"acme/{project}/dev\")\n\nclass Refs:\nEACH(    @functools.cached_property\n    def LOWER(self):\n        return of(\"LOWER\")\n\n)", "from lib.refs import Refs\nx = Refs().LOWER.get_output('zone')\n", ""},
			"Go":         {"func of(ctx *pulumi.Context, project string) (*pulumi.StackReference, error) {\n\treturn pulumi.NewStackReference(ctx, \"acme/\"+project+\"/dev\", nil)\n}\n\nEACH(func UPPER(ctx *pulumi.Context) (*pulumi.StackReference, error) { return of(ctx, \"LOWER\") }\n)", inGo("ref, err := refs.UPPER(ctx)"), ""},
			"C#":         {"static class Refs {\n  static StackReference Of(string project) => new StackReference($\"acme/{project}/dev\");\nEACH(  public static StackReference UPPER => Of(\"LOWER\");\n)}\n", inCS("var x = Refs.UPPER.GetOutput(\"zone\");"), ""},
			"Java":       {"public class Refs {\n  static StackReference of(String project) { return new StackReference(\"acme/\" + project + \"/dev\"); }\nEACH(  public static StackReference LOWER() { return of(\"LOWER\"); }\n)}\n", inJava("var x = Refs.LOWER().getOutput(\"zone\");"), ""},
		},
		"a base class": {
			"TypeScript": {"export class Base {\nEACH(  LOWER() { return new StackReference(\"acme/LOWER/dev\"); }\n)}\n", "import { Base } from '../lib/refs';\nclass Mine extends Base {\n  go() { return this.LOWER(); }\n}\nnew Mine().go();\n", ""},
			"Python":     {"class Base:\nEACH(    def LOWER(self):\n        return pulumi.StackReference(\"acme/LOWER/dev\")\n\n)", "from lib.refs import Base\n\nclass Mine(Base):\n    def go(self):\n        return self.LOWER()\n\nMine().go()\n", ""},
			"Go":         {"type Base struct{}\n\nEACH(func (b Base) UPPER(ctx *pulumi.Context) (*pulumi.StackReference, error) {\n\treturn pulumi.NewStackReference(ctx, \"acme/LOWER/dev\", nil)\n}\n)", inGo("m := struct{ refs.Base }{}\n\tref, err := m.UPPER(ctx)"), ""},
			"C#":         {"class Base : Stack {\nEACH(  protected StackReference UPPER() => new StackReference(\"acme/LOWER/dev\");\n)}\n", "using Acme;\n\nclass App : Base { public App() { var x = UPPER().GetOutput(\"zone\"); } }\n", ""},
			"Java":       {"public class Refs {\nEACH(  protected StackReference LOWER() { return new StackReference(\"acme/LOWER/dev\"); }\n)}\n", "package app;\n\nimport acme.Refs;\n\npublic class App extends Refs { void run(Context ctx) { var x = LOWER().getOutput(\"zone\"); } }\n", ""},
		},
	}
}

// makesAll reports whether a constructor that the program calls makes all references, so that all are edges.
func makesAll(style, language string) bool {
	return style == "fields" && (language == "Go" || language == "Python")
}

// mayMake reports whether importing the library, or using another of its members, may make a reference that the program
// does not name, so that it is a doubt.
func mayMake(style, language string) bool {
	switch style {
	case "fields", "static fields", "values of a module", "objects of functions":
		return !makesAll(style, language)
	case "function values": // an arrow that has a name is understood as a function
		return language != "TypeScript" && language != "C#"
	case "getters":
		return language == "C#"
	}
	return false
}

// TestStyles: twelve styles of libraries in five languages. Of what a library offers, only what the program uses is an
// edge, and where that cannot be told it is a doubt: no reference is passed over, and no certain edge is wrong.
func TestStyles(t *testing.T) {
	t.Parallel()
	all := styles()
	if len(all) != 12 {
		t.Errorf("%d styles", len(all))
	}
	for style, cells := range all {
		for language := range dialects() {
			c, ok := cells[language]
			if !ok {
				t.Errorf("%s in %s is missing", style, language)
			}
			if c.absent != "" || !ok {
				continue
			}
			t.Run(style+" in "+language, func(t *testing.T) {
				t.Parallel()
				testStyle(t, style, language, c)
			})
		}
	}
}

func testStyle(t *testing.T, style, language string, c cell) {
	t.Helper()
	at := dialects()[language]
	fill := func(text, p string) string {
		return strings.NewReplacer("UPPER", strings.ToUpper(p[:1])+p[1:], "LOWER", p).Replace(text)
	}
	library := c.library
	if before, rest, ok := strings.Cut(library, "EACH("); ok {
		end := strings.LastIndex(rest, ")")
		each := rest[:end]
		library = before
		for _, p := range []string{"net", "login", "users"} {
			library += fill(each, p)
		}
		library += rest[end+1:]
	}
	repository := files{"net/Pulumi.yaml": project, "login/Pulumi.yaml": project, "users/Pulumi.yaml": project,
		at.library:            at.before + library + at.after,
		"login/" + at.program: fill(c.program, "net"), "users/" + at.program: fill(c.program, "login")}
	for reader, projects := range map[string][2]string{"login": {"net", "users"}, "users": {"login", "net"}} {
		repository[reader+"/p.csproj"] = `<Project><ProjectReference Include="..\lib\lib.csproj" /></Project>`
		certain, doubtful := []string{}, []string{}
		for _, line := range lines(t, repository, reader) {
			certainty, rest, _ := strings.Cut(line, " ")
			owner, _, _ := strings.Cut(rest, ":")
			if certainty == "written" || certainty == "likely" {
				certain = append(certain, owner)
			} else {
				doubtful = append(doubtful, owner)
			}
		}
		edges, doubts := projects[:1], []string{} // the one that it uses
		switch {
		case makesAll(style, language):
			edges = projects[:]
		case mayMake(style, language):
			doubts = projects[1:]
		}
		slices.Sort(certain)
		if diff := cmp.Diff(slices.Sorted(slices.Values(edges)), certain); diff != "" {
			t.Errorf("%s reads: %s", reader, diff)
		}
		if diff := cmp.Diff(doubts, doubtful); diff != "" {
			t.Errorf("%s may read: %s", reader, diff)
		}
	}
}
