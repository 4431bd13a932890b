package query

import (
	"encoding/json"
	"math"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestRows(t *testing.T) {
	t.Parallel()
	titles, rows, ok := Rows([]any{
		map[string]any{"b": "two\n lines", "a": json.Number("1.50"), "z": nil},
		map[string]any{"b": []any{"x", "y"}, "c": []any{1, "y"}, "a": map[string]any{"k": "<v>"}},
	}, []string{"b"})
	if diff := cmp.Diff([]string{"b", "a", "c", "z"}, titles); diff != "" || !ok {
		t.Error(ok, diff)
	}
	want := [][]string{{"two lines", "1.50", "", ""}, {"x, y", `{"k":"<v>"}`, `[1,"y"]`, ""}}
	if diff := cmp.Diff(want, rows); diff != "" {
		t.Error(diff)
	}
	if _, _, ok := Rows([]any{map[string]any{}, "text"}, nil); ok {
		t.Error("a text has no columns")
	}
	if got := Cell(math.NaN()); got != "?" {
		t.Errorf("got %s", got)
	}
}
