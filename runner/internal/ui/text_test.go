package ui

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

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
