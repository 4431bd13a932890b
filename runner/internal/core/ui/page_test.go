package ui_test

import (
	"bytes"
	"strings"
	"testing"

	"mara/runner/internal/core/ui"
)

// TestPageStaysInItsPlace shows texts of several lengths, on a terminal that
// becomes narrower.
func TestPageStaysInItsPlace(t *testing.T) {
	t.Parallel()
	term := &terminal{width: 20}
	if _, err := term.Write([]byte("$ runner status\n")); err != nil {
		t.Fatal(err)
	}
	page := ui.NewPage(term, func() (int, int) { return term.width, 5 })
	for _, text := range []string{"one\ntwo\nthree\n", "one\n", "a line as wide as it\nb\nc\nd\n", "1\n2\n3\n4\n5\n6\n"} {
		if err := page.Show(text); err != nil {
			t.Fatal(err)
		}
		if strings.HasPrefix(text, "a line") {
			if got, want := term.String(), "$ runner status\na line as wide as …\nb\nc\nd"; got != want {
				t.Errorf("got\n%s\nwant\n%s", got, want)
			}
			term.resize(12)
		}
	}
	if err := page.Close(); err != nil {
		t.Fatal(err)
	}
	if got, want := term.String(), "$ runner status\n1\n2\n3\n… 3 more l…\n"; got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

func TestPageEndsWithoutTheEchoOfAnInterrupt(t *testing.T) {
	t.Parallel()
	term := &terminal{width: 20}
	page := ui.NewPage(term, func() (int, int) { return 20, 5 })
	if err := page.Show("one\ntwo\n"); err != nil {
		t.Fatal(err)
	}
	if _, err := term.Write([]byte("^C")); err != nil {
		t.Fatal(err)
	}
	if err := page.Close(); err != nil || term.String() != "one\ntwo\n" {
		t.Errorf("%v, got\n%s", err, term)
	}
}

func TestPageTellsWhenNobodyReads(t *testing.T) {
	t.Parallel()
	page := ui.NewPage(&closedPipe{writes: 1}, func() (int, int) { return 80, 24 })
	if err := page.Show("text\n"); err == nil {
		t.Error("the error is lost")
	}
	var b bytes.Buffer
	page = ui.NewPage(&b, func() (int, int) { return 80, 24 })
	if err := page.Close(); err != nil || b.Len() > 0 {
		t.Errorf("nothing was shown, and it left %q (%v)", &b, err)
	}
}
