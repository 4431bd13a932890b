package ui

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestWrap(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		in            string
		width, indent int
		want          string
	}{
		"fits":              {in: "one two", width: 7, want: "one two"},
		"unlimited":         {in: "one two three", want: "one two three"},
		"breaks":            {in: "one two three", width: 8, indent: 2, want: "one two\n  three"},
		"long word whole":   {in: "see https://example.com/x now", width: 10, indent: 2, want: "see\n  https://example.com/x\n  now"},
		"keeps the spacing": {in: "[ 1/14] a b", width: 9, indent: 4, want: "[ 1/14] a\n    b"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if diff := cmp.Diff(tt.want, wrap(tt.in, tt.width, tt.indent)); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

func TestTableGivesUpAndCuts(t *testing.T) {
	t.Parallel()
	columns := []column{{title: "NAME", min: 4}, {title: "N"}, {title: "NOTE", optional: true}}
	rows := [][]string{{"alphabet", "1", "a long note"}, {"b", "22", ""}}
	same := func(_, _ int, text string) string { return text }
	tests := map[int]string{
		0:  "NAME      N   NOTE\nalphabet  1   a long note\nb         22\n",
		24: "NAME      N\nalphabet  1\nb         22\n",
		9:  "NAME   N\nalph…  1\nb      22\n",
		3:  "NAME  N\nalp…  1\nb     22\n",
	}
	for width, want := range tests {
		if diff := cmp.Diff(want, table(columns, rows, width, same)); diff != "" {
			t.Errorf("width %d (-want +got):\n%s", width, diff)
		}
	}
}
