package scripts

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"strings"
	"testing"
)

// TestOneCallOfGit holds that one package finds and calls git: it keeps the repository's hooks, monitor and filters
// from running. What only says whether git is there names it here.
func TestOneCallOfGit(t *testing.T) {
	t.Parallel()
	const home = "runner/internal/core/gitsource"
	finds := map[string]string{"runner/internal/feature/adopt/fetch.go": "says that a project of another repository needs git"}
	seen := 0
	err := filepath.WalkDir("..", func(path string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		name := entry.Name()
		if entry.IsDir() && (name == "testdata" || name == "testing" || name == "scripts" || strings.HasPrefix(name, ".") && name != "..") {
			return filepath.SkipDir
		}
		file := strings.TrimPrefix(filepath.ToSlash(path), "../")
		if entry.IsDir() || filepath.Ext(path) != ".go" || strings.HasSuffix(path, "_test.go") {
			return nil
		}
		source, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		for _, function := range callsWithGit(source) {
			if strings.HasPrefix(file, home) {
				seen++
			} else if _, allowed := finds[file]; !allowed || function != "process.Find" {
				t.Errorf("%s: %s with \"git\": use %s", file, function, home)
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if seen == 0 {
		t.Errorf("%s does not look for git any more: this test has to learn how it is called", home)
	}
}

// callsWithGit returns the functions that start or find programs and get the name of git.
func callsWithGit(file *ast.File) []string {
	var functions []string
	ast.Inspect(file, func(node ast.Node) bool {
		call, ok := node.(*ast.CallExpr)
		if !ok {
			return true
		}
		selector, ok := call.Fun.(*ast.SelectorExpr)
		if !ok {
			return true
		}
		of, ok := selector.X.(*ast.Ident)
		if !ok || of.Name != "exec" && of.Name != "process" {
			return true
		}
		for _, argument := range call.Args {
			if text, ok := argument.(*ast.BasicLit); ok && (text.Value == `"git"` || strings.HasSuffix(text.Value, `/git"`)) {
				functions = append(functions, of.Name+"."+selector.Sel.Name)
			}
		}
		return true
	})
	return functions
}
