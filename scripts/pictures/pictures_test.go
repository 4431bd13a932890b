package main

import (
	"os"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

// TestDraw draws a recording in which the second frame is the busiest, and the last one shows the end.
func TestDraw(t *testing.T) {
	t.Parallel()
	recording := "\x1b[?2026h\r\n\x1b[1mup <dev>\x1b[0m\r\n\x1b[36m⠋ \x1b[0mnetwork\r\n\x1b[2m· shop\x1b[0m\x1b[?2026l" +
		"\x1b[?2026h\r\x1b[1A\x1b[2K\x1b[36m⠋ \x1b[0mnetwork  1/2\n\r\x1b[2K\x1b[36m⠙ \x1b[0mshop\x1b[?2026l" +
		"\x1b[?2026h\r\x1b[1A\x1b[J\x1b[32m✓\x1b[0m \x1b]8;;file:///r.html\x1b\\all done\x1b]8;;\x1b\\\x1b[?2026l"
	var picture strings.Builder
	if err := draw(strings.NewReader(recording), &picture, "runner up", 100); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		`class="b" fill="#d7dce2" textLength="92.4">$ runner up</text>`, `>up &lt;dev&gt;</text>`,
		`<g class="l a1-2 s"><text x="18.0" y="89" class="" fill="#56d4dd" textLength="8.4">⠋</text>`, // the still frame
		`<g class="l a0-1">`, ">all done<", `<g class="l a2-4">`, ".a1-2{animation:a1-2 5.8s step-end infinite}@keyframes a1-2{0%{opacity:0}4.35%{opacity:1}8.70%{opacity:0}}",
	} {
		if !strings.Contains(picture.String(), want) {
			t.Errorf("the picture has no %s:\n%s", want, picture.String())
		}
	}
}

// TestDrawEnd draws nothing but the end, and nothing that moves.
func TestDrawEnd(t *testing.T) {
	t.Parallel()
	var picture strings.Builder
	recording := "\x1b[?2026h\x1b[36m⠋ \x1b[0mnetwork\x1b[?2026l\x1b[?2026h\r\x1b[J\x1b[1mWould change\x1b[0m: size\x1b[?2026l\r\n"
	if err := drawEnd(strings.NewReader(recording), &picture, "runner preview"); err != nil {
		t.Fatal(err)
	}
	if got := picture.String(); !strings.Contains(got, ">Would change<") || strings.Contains(got, "network") || strings.Contains(got, "@keyframes") {
		t.Errorf("the picture is not that of the end:\n%s", got)
	}
	if err := drawEnd(strings.NewReader("\x1b[1m\r\n"), &picture, "runner preview"); err == nil {
		t.Error("an empty screen is drawn")
	}
}

// TestThin keeps the still frame.
func TestThin(t *testing.T) {
	t.Parallel()
	f := film{still: 61}
	for i := range 200 {
		f.frames = append(f.frames, [][]cell{row(strings.Repeat("x", i), style{})})
	}
	f.thin()
	if len(f.frames) != mostFrames || len(f.frames[f.still][0]) != 61 || len(f.frames[0][0]) != 0 || len(f.frames[mostFrames-1][0]) != 199 {
		t.Errorf("%d frames, the still one is %d", len(f.frames), f.still)
	}
}

// TestCrop breaks lines as a terminal does, and makes all frames as high as the one to show where pictures do not move.
func TestCrop(t *testing.T) {
	t.Parallel()
	lines := func(n int) (all [][]cell) {
		for i := range n {
			all = append(all, row(strings.Repeat("x", i), style{}))
		}
		return all
	}
	f := film{frames: [][][]cell{lines(2), lines(3), lines(9)}, still: 1}
	f.wrap(7)
	f.crop()
	if f.height() != 3 || len(f.frames[0]) != 2 || len(f.frames[2][0]) != 7 || len(f.frames[2][1]) != 7 || len(f.frames[2][2]) != 1 {
		t.Errorf("got %d lines, %v", f.height(), f.frames)
	}
}

// TestPictures holds the pictures of the README: the moving one is small, and the plan can be read where GitHub shows it
// in a column of 830 pixels.
func TestPictures(t *testing.T) {
	t.Parallel()
	run, err := os.ReadFile("../../docs/pictures/run.svg")
	if err != nil || len(run) > 300_000 || strings.Count(string(run), "@keyframes") < mostFrames {
		t.Errorf("the run: %v, %d bytes", err, len(run))
	}
	plan, err := os.ReadFile("../../docs/pictures/plan.svg")
	if err != nil {
		t.Fatal(err)
	}
	width, _ := strconv.Atoi(regexp.MustCompile(`width="(\d+)"`).FindStringSubmatch(string(plan))[1])
	const smallest = 11 // pixels: the font of the second line of a box
	if read := smallest * 830 / float64(width); width == 0 || read < 10 {
		t.Errorf("the plan is %d pixels wide: its smallest text would be %.1f pixels high", width, read)
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
		if err := draw(strings.NewReader(recording), &picture, "runner up", 100); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want an error that says %q", recording, err, want)
		}
	}
}
