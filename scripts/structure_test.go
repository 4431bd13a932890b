package scripts

import (
	"bytes"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// mostMethods is how many methods a type has at the most: with more it serves
// several purposes, and each of them is a type.
const mostMethods = 50

// mostFields is how many fields a struct has at the most: with more it is passed to
// functions that need only a few of them, and hides which.
const mostFields = 20

// largeStructs returns the structs that may have more fields, each with the reason.
func largeStructs() map[string]string {
	return map[string]string{
		"runner/internal/core/event.Event":                      "mirrors a line of the event stream, whose format is flat",
		"config.MaraProject":                                    "mirrors an entry of mara.yaml",
		"runner/internal/core/stacks.engineEvents":              "collects what one operation of the engine says",
		"runner/mara-engine/journal.log":                        "mirrors what a journal has of a state",
		"runner/internal/feature/operator.StackSpec":            "mirrors the Stack resource of Pulumi's operator",
		"runner/mara-engine/openapi/datamodel/high/base.Schema": "mirrors the schema of OpenAPI in the library that it replaces",
	}
}

// mostLines returns the maximum number of lines of packages that once collected everything,
// without tests.
func mostLines() map[string]int {
	return map[string]int{"runner/internal/core/session": 1500}
}

func TestStructure(t *testing.T) {
	t.Parallel()
	methods, fields, lines := map[string]int{}, map[string]int{}, map[string]int{}
	err := filepath.WalkDir("..", func(path string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if name := entry.Name(); entry.IsDir() && (name == "testdata" || name == "bin" || name == "dist" || strings.HasPrefix(name, ".") && name != "..") {
			return filepath.SkipDir
		}
		if entry.IsDir() || filepath.Ext(path) != ".go" || strings.HasSuffix(path, "_test.go") {
			return nil
		}
		content, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		directory := strings.TrimPrefix(filepath.ToSlash(filepath.Dir(path)), "../")
		lines[directory] += bytes.Count(content, []byte("\n"))
		file, err := parser.ParseFile(token.NewFileSet(), path, content, parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		for _, declared := range file.Decls {
			if function, ok := declared.(*ast.FuncDecl); ok && function.Recv != nil {
				methods[directory+"."+receiver(function)]++
			}
		}
		ast.Inspect(file, func(node ast.Node) bool {
			if declared, ok := node.(*ast.TypeSpec); ok {
				if structure, ok := declared.Type.(*ast.StructType); ok {
					fields[directory+"."+declared.Name.Name] = structure.Fields.NumFields()
				}
			}
			return true
		})
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if len(methods) < 100 || len(lines) < 50 {
		t.Fatalf("only %d types in %d packages were found", len(methods), len(lines))
	}
	for name, count := range methods {
		if count > mostMethods {
			t.Errorf("%s has %d methods, more than %d: split it by what its methods serve", name, count, mostMethods)
		}
	}
	large := largeStructs()
	for name, count := range fields {
		if _, allowed := large[name]; !allowed && count > mostFields {
			t.Errorf("%s has %d fields, more than %d: split it by what its fields serve", name, count, mostFields)
		}
	}
	for name := range large {
		if fields[name] <= mostFields {
			t.Errorf("%s has %d fields: it needs no exception", name, fields[name])
		}
	}
	for directory, most := range mostLines() {
		if lines[directory] == 0 || lines[directory] >= most {
			t.Errorf("%s has %d lines without its tests, not under %d: move what it is not about to where it belongs", directory, lines[directory], most)
		}
	}
}

// receiver returns the type that a method belongs to.
func receiver(function *ast.FuncDecl) string {
	of := function.Recv.List[0].Type
	for {
		switch t := of.(type) {
		case *ast.StarExpr:
			of = t.X
		case *ast.IndexExpr:
			of = t.X
		case *ast.IndexListExpr:
			of = t.X
		case *ast.Ident:
			return t.Name
		default:
			return "?"
		}
	}
}

// TestFilesThatNameAProvider checks that a further provider changes six files: those besides its own that name one which
// exists. CONTRIBUTING.md lists them. Tests and what only tests import may name any.
func TestFilesThatNameAProvider(t *testing.T) {
	t.Parallel()
	guide, err := os.ReadFile("../CONTRIBUTING.md")
	if err != nil {
		t.Fatal(err)
	}
	_, list, _ := strings.Cut(string(guide), "Files that exist and change:")
	list, _, _ = strings.Cut(list, "## ")
	known := []string{"runner/internal/core/updateplan/stateful.go", "runner/internal/feature/mirror/kubernetes.go",
		"runner/internal/feature/survey/entry.go",
		"runner/internal/core/request/misplaced.go", "runner/internal/feature/doctor/check/root.go"}
	found := 0
	err = filepath.WalkDir("..", func(path string, entry fs.DirEntry, err error) error {
		path = strings.TrimPrefix(filepath.ToSlash(path), "../")
		name := entry.Name()
		switch {
		case err != nil:
			return err
		case entry.IsDir() && (name == "testdata" || name == "scripts" || strings.HasPrefix(name, ".") && name != ".."),
			path == "runner/internal/testing":
			return filepath.SkipDir
		case strings.Contains(path, "digitalocean"), strings.HasSuffix(path, "_test.go"), slices.Contains(known, path):
			return nil
		case filepath.Ext(path) != ".go" && name != "go.mod" && name != "go.sum":
			return nil
		}
		content, err := os.ReadFile(filepath.Join("..", path))
		if err != nil || !bytes.Contains(bytes.ToLower(content), []byte("digitalocean")) {
			return err
		}
		found++
		if !strings.Contains(list, "`"+path+"`") {
			t.Errorf("%s names a provider, and is not in the list of CONTRIBUTING.md", path)
		}
		return nil
	})
	if err != nil || found == 0 || found > 6 {
		t.Errorf("%d files name a provider, at most 6 are wanted; %v", found, err)
	}
}

// TestPortsAreGuarded holds that each program of ours that serves ports of this machine serves its own user alone.
func TestPortsAreGuarded(t *testing.T) {
	t.Parallel()
	for _, file := range []string{"runner/main.go", "runner/mara-engine/main.go", "runner/pulumi-resource-kind/main.go",
		"projects/pulumi-language-mara/main.go", "projects/internal/languagehost/main.go"} {
		content, err := os.ReadFile(filepath.Join("..", filepath.FromSlash(file)))
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Contains(content, []byte("\n\tloopback.Guard()\n")) {
			t.Errorf("%s does not call loopback.Guard", file)
		}
	}
}
