package contain_test

import (
	"context"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"strings"
	"testing"

	"mara/projects/internal/contain"
)

func TestPanics(t *testing.T) {
	t.Parallel()
	var parts []any
	index := func(i int) string { return parts[i].(string) }
	_, value := contain.Value(index)(3)
	_, try := contain.Try(func(i int) (string, error) { return index(i), nil })(3)
	_, ctx := contain.TryContext(func(_ context.Context, i int) (string, error) { return index(i), nil })(t.Context(), 3)
	for name, err := range map[string]error{"Value": value, "Try": try, "TryContext": ctx} {
		if err == nil || !strings.Contains(err.Error(), "the program panicked: runtime error: index out of range") {
			t.Errorf("%s: %v", name, err)
		}
	}
	if length, err := contain.Value(func(text string) int { return len(text) })("abc"); length != 3 || err != nil {
		t.Errorf("got %d, %v", length, err)
	}
}

// TestEveryApply: no program of ours applies a function whose panic would end the
// process of all programs.
func TestEveryApply(t *testing.T) {
	t.Parallel()
	found := 0
	err := filepath.WalkDir("../..", func(path string, entry fs.DirEntry, err error) error {
		if err != nil || filepath.Ext(path) != ".go" || strings.HasSuffix(path, "_test.go") {
			return err
		}
		set := token.NewFileSet()
		file, err := parser.ParseFile(set, path, nil, parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		ast.Inspect(file, func(node ast.Node) bool {
			call, ok := node.(*ast.CallExpr)
			if !ok {
				return true
			}
			if method, ok := call.Fun.(*ast.SelectorExpr); ok && strings.HasPrefix(method.Sel.Name, "Apply") && method.Sel.Name != "Apply" {
				if found++; !isContained(call.Args[len(call.Args)-1]) {
					t.Errorf("%s: %s without contain.Try or contain.Value", set.Position(call.Pos()), method.Sel.Name)
				}
			}
			return true
		})
		return nil
	})
	if err != nil || found == 0 {
		t.Errorf("%d found, %v", found, err)
	}
}

func isContained(argument ast.Expr) bool {
	call, ok := argument.(*ast.CallExpr)
	if !ok {
		return false
	}
	function, ok := call.Fun.(*ast.SelectorExpr)
	if !ok {
		return false
	}
	name, ok := function.X.(*ast.Ident)
	return ok && name.Name == "contain"
}
