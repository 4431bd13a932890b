package main

import (
	"strings"
	"testing"
)

// TestDraw draws a recording in which the second frame is the busiest, and the
// last one shows the end.
func TestDraw(t *testing.T) {
	t.Parallel()
	recording := "\x1b[?2026h\r\n\x1b[1mup <dev>\x1b[0m\r\n\x1b[36m⠋ \x1b[0mnetwork\r\n\x1b[2m· shop\x1b[0m\x1b[?2026l" +
		"\x1b[?2026h\r\x1b[1A\x1b[2K\x1b[36m⠋ \x1b[0mnetwork  1/2\n\r\x1b[2K\x1b[36m⠙ \x1b[0mshop\x1b[?2026l" +
		"\x1b[?2026h\r\x1b[1A\x1b[J\x1b[32m✓\x1b[0m all done\x1b[?2026l"
	var picture strings.Builder
	if err := draw(strings.NewReader(recording), &picture, "runner up"); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		`class="b" fill="#d7dce2" textLength="92.4">$ runner up</text>`, `>up &lt;dev&gt;</text>`, `fill="#56d4dd" textLength="8.4">⠙</text>`, `>network  1/2</text>`,
	} {
		if !strings.Contains(picture.String(), want) {
			t.Errorf("the picture has no %s:\n%s", want, picture.String())
		}
	}
	for _, other := range []string{"all done", "·"} {
		if strings.Contains(picture.String(), other) {
			t.Errorf("the picture shows %q, which is of another moment:\n%s", other, picture.String())
		}
	}
}

func TestDrawRefuses(t *testing.T) {
	t.Parallel()
	for recording, want := range map[string]string{
		"⠋ network\x1b[5;1H":          "unexpected control sequence",
		"⠋ network\x1b]11;?":          "unexpected control sequence",
		"\x1b[41m⠋ network":           "unexpected style",
		"up succeeded\x1b[?2026l\r\n": "no project at work",
	} {
		var picture strings.Builder
		if err := draw(strings.NewReader(recording), &picture, "runner up"); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want an error that says %q", recording, err, want)
		}
	}
}
