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
	if diff := cmp.Diff(want, format(rows, Cell)); diff != "" {
		t.Error(diff)
	}
	want = [][]string{{"\"two\n lines\"", "1.50", "", ""}, {`"x, y"`, `"{""k"":""<v>""}"`, `"[1,""y""]"`, ""}}
	if diff := cmp.Diff(want, format(rows, Field)); diff != "" {
		t.Error(diff)
	}
	if _, _, ok := Rows([]any{map[string]any{}, "text"}, nil); ok {
		t.Error("a text has no columns")
	}
	if got := Cell(math.NaN()); got != "?" {
		t.Errorf("got %s", got)
	}
}

func format(rows [][]any, how func(any) string) [][]string {
	texts := make([][]string, len(rows))
	for i, row := range rows {
		for _, value := range row {
			texts[i] = append(texts[i], how(value))
		}
	}
	return texts
}

// TestControls: nothing in a value controls the terminal, and CSV keeps what a value is.
func TestControls(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		value       any
		cell, field string
	}{
		{nil, "", ""},
		{"", "", `""`},
		{"a\tb\r\nc", "a b c", "\"a\tb\nc\""},
		{"hidden\rshown", `hidden\u000dshown`, `hidden\u000dshown`},
		{"\x1b[31mred", `\u001b[31mred`, `\u001b[31mred`},
		{[]any{"\x1b]0;t\a", "\u009b"}, `\u001b]0;t\u0007, \u009b`, `"\u001b]0;t\u0007, \u009b"`},
		{map[string]any{"k": "\x1b\u202e"}, `{"k":"\u001b\u202e"}`, `"{""k"":""\u001b\u202e""}"`},
		{`say "x"`, `say "x"`, `"say ""x"""`},
		{true, "true", "true"},
	} {
		if got := Cell(test.value); got != test.cell {
			t.Errorf("the cell of %#v is %q", test.value, got)
		}
		if got := Field(test.value); got != test.field {
			t.Errorf("the field of %#v is %q", test.value, got)
		}
	}
}
