package typeset_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"mara/runner/internal/machine/typeset"
)

func TestWrap(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		in            string
		width, indent int
		want          string
	}{
		"fits":                 {in: "one two", width: 7, want: "one two"},
		"unlimited":            {in: "one two three", want: "one two three"},
		"breaks":               {in: "one two three", width: 8, indent: 2, want: "one two\n  three"},
		"long word whole":      {in: "see https://example.com/x now", width: 10, indent: 2, want: "see\n  https://example.com/x\n  now"},
		"long word first":      {in: "https://example.com/x now", width: 10, indent: 2, want: "https://example.com/x\n  now"},
		"keeps the spacing":    {in: "[ 1/14] a b", width: 9, indent: 4, want: "[ 1/14] a\n    b"},
		"never at a hyphen":    {in: "add --auto-approve-if now", width: 10, indent: 1, want: "add\n --auto-approve-if\n now"},
		"already indented":     {in: "    one two three", width: 12, indent: 4, want: "    one two\n    three"},
		"only a long word":     {in: "    https://example.com/x", width: 12, indent: 4, want: "    https://example.com/x"},
		"wide characters":      {in: "日本 日本 日本", width: 9, indent: 1, want: "日本 日本\n 日本"},
		"colours take no room": {in: "\x1b[31mone\x1b[0m two", width: 7, want: "\x1b[31mone\x1b[0m two"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if diff := cmp.Diff(tt.want, typeset.Wrap(tt.in, tt.width, tt.indent)); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

func TestCut(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		in            string
		width         int
		cut, inMiddle string
	}{
		{"short", 5, "short", "short"},
		{"ingress-controller", 10, "ingress-c…", "ingre…ller"},
		{"ingress", 2, "i…", "i…"},
		{"ingress", 1, "…", "…"},
		{"日本語のテキスト", 9, "日本語の…", "日本…スト"},
		{"日本語のテキスト", 8, "日本語…", "日本…ト"},
	} {
		if got := typeset.Cut(tt.in, tt.width, "…"); got != tt.cut {
			t.Errorf("%q cut to %d is %q, want %q", tt.in, tt.width, got, tt.cut)
		}
		if got := typeset.CutMiddle(tt.in, tt.width, "…"); got != tt.inMiddle {
			t.Errorf("%q cut to %d in the middle is %q, want %q", tt.in, tt.width, got, tt.inMiddle)
		}
	}
}

// TestCutsNeverTakeMoreRoom tries every width on texts of every kind.
func TestCutsNeverTakeMoreRoom(t *testing.T) {
	t.Parallel()
	for _, text := range []string{"", "a", "ingress-controller-namespace", "日本語のテキスト", "a日b本c", "\x1b[31mred\x1b[0m text", "é👩‍👩‍👧🇩🇪x"} {
		for width := 1; width < 40; width++ {
			for _, got := range []string{typeset.Cut(text, width, "~"), typeset.CutMiddle(text, width, "~")} {
				if n := typeset.Cells(got); n > width {
					t.Errorf("%q cut to %d takes %d: %q", text, width, n, got)
				}
			}
			if got := typeset.Pad(text, width); typeset.Cells(got) != max(width, typeset.Cells(text)) || !strings.HasPrefix(got, text) {
				t.Errorf("%q padded to %d is %q", text, width, got)
			}
		}
	}
}

func TestCounted(t *testing.T) {
	t.Parallel()
	for n, want := range []string{"0 of 3 projects are", "1 of 3 projects is", "2 of 3 projects are"} {
		if got := typeset.CountedOf(n, 3, "project") + " " + typeset.Are(n); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
	if got, want := typeset.CountedOf(1, 1, "project"), "1 of 1 project"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

// Nothing hides in a text, and what joins letters or emoji is no hiding.
func TestVisible(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"plain\n\ttext\r\n":     "plain\n\ttext\n",
		"\x1b[31mred":           `\u001b[31mred`,
		"Redis \u202ecod\u202c": `Redis \u202ecod\u202c`,
		"zero\u200bwidth":       `zero\u200bwidth`,
		"log\u200dstore":        `log\u200dstore`,
		"👩\u200d👩\ufe0f\u200d👧": "👩\u200d👩\ufe0f\u200d👧",
		"می\u200cخواهم":         "می\u200cخواهم",
		"end\u200d":             `end\u200d`,
		"\xff":                  `\ufffd`,
	} {
		if got := typeset.Visible(text); got != want {
			t.Errorf("%q: %q, not %q", text, got, want)
		}
	}
}
