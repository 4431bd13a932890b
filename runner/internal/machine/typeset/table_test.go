package typeset_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"mara/runner/internal/machine/typeset"
)

func TestTableGivesUpAndCuts(t *testing.T) {
	t.Parallel()
	table := typeset.Table{
		Columns: []typeset.Column{{Title: "NAME", Min: 4}, {Title: "N"}, {Title: "NOTE", Optional: true}},
		Rows:    [][]string{{"alphabet", "1", "a long note"}, {"b", "22", ""}},
	}
	tests := map[int]string{
		0:  "NAME      N   NOTE\nalphabet  1   a long note\nb         22\n",
		24: "NAME      N\nalphabet  1\nb         22\n",
		9:  "NAME   N\nalph…  1\nb      22\n",
		3:  "NAME  N\nalp…  1\nb     22\n",
	}
	for width, want := range tests {
		if diff := cmp.Diff(want, table.Text(width)); diff != "" {
			t.Errorf("width %d (-want +got):\n%s", width, diff)
		}
	}
}

func TestTableCutsOptionalColumnsFirst(t *testing.T) {
	t.Parallel()
	table := typeset.Table{
		Columns: []typeset.Column{{Title: "NAME", Min: 4, Middle: true}, {Title: "EMPTY", Optional: true}, {Title: "NOTE", Min: 4, Optional: true}},
		Rows:    [][]string{{"alphabet", "", "a long note"}},
		Paint:   func(_, _ int, text string) string { return "<" + strings.ToUpper(text) + ">" },
	}
	tests := map[int]string{
		0:  "NAME      NOTE\n<ALPHABET><A LONG NOTE>\n",
		16: "NAME      NOTE\n<ALPHABET><A LON…>\n",
		12: "NAME\n<ALPHABET>\n",
		6:  "NAME\n<ALP…ET>\n",
	}
	for width, want := range tests {
		if diff := cmp.Diff(want, strings.ReplaceAll(table.Text(width), "> ", ">")); diff != "" {
			t.Errorf("width %d (-want +got):\n%s", width, diff)
		}
	}
}

func TestTableWrapsTheLastColumn(t *testing.T) {
	t.Parallel()
	table := typeset.Table{
		Columns: []typeset.Column{{Title: "NAME"}, {Title: "NOTE", Min: 6, Wrap: true}},
		Rows:    [][]string{{"a", "one two three"}, {"b", ""}, {"c", "runner/internal/typeset x"}},
	}
	tests := map[int]string{
		0:  "NAME  NOTE\na     one two three\nb\nc     runner/internal/typeset x\n",
		15: "NAME  NOTE\na     one two\n      three\nb\nc     runner/internal/typeset\n      x\n",
		5:  "NAME  NOTE\na     one\n      two\n      three\nb\nc     runner/internal/typeset\n      x\n",
	}
	for width, want := range tests {
		if diff := cmp.Diff(want, table.Text(width)); diff != "" {
			t.Errorf("width %d (-want +got):\n%s", width, diff)
		}
	}
}

func TestTableWithoutTitles(t *testing.T) {
	t.Parallel()
	table := typeset.Table{Columns: make([]typeset.Column, 2), Rows: [][]string{{"a", "b"}, {"long", "c"}}}
	if got, want := table.Text(0), "a     b\nlong  c\n"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}
