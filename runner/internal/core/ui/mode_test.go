package ui_test

import (
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"mara/runner/internal/core/ui"
)

func TestDecide(t *testing.T) {
	t.Parallel()
	type env map[string]string
	terminal := env{"TERM": "xterm-256color", "LANG": "en_GB.UTF-8"}
	with := func(more env) env {
		all := env{}
		for _, e := range []env{terminal, more} {
			for k, v := range e {
				all[k] = v
			}
		}
		return all
	}
	tests := map[string]struct {
		in   ui.Facts
		env  env
		want ui.Look
	}{
		"terminal":        {ui.Facts{Terminal: true}, terminal, ui.Look{Mode: ui.LiveMode, Colour: true, Order: ui.Stream}},
		"pipe":            {ui.Facts{}, terminal, ui.Look{Mode: ui.PlainMode, Order: ui.Stream}},
		"live into pipe":  {ui.Facts{Asked: ui.LiveMode}, terminal, ui.Look{Mode: ui.PlainMode, Order: ui.Stream}},
		"plain asked":     {ui.Facts{Terminal: true, Asked: ui.PlainMode}, terminal, ui.Look{Mode: ui.PlainMode, Colour: true, Order: ui.Stream}},
		"dumb terminal":   {ui.Facts{Terminal: true, Asked: ui.LiveMode}, with(env{"TERM": "dumb"}), ui.Look{Mode: ui.PlainMode, Order: ui.Stream}},
		"no TERM":         {ui.Facts{Terminal: true}, env{"LANG": "C.UTF-8"}, ui.Look{Mode: ui.PlainMode, Order: ui.Stream}},
		"NO_COLOR":        {ui.Facts{Terminal: true}, with(env{"NO_COLOR": "1"}), ui.Look{Mode: ui.LiveMode, Order: ui.Stream}},
		"--no-color":      {ui.Facts{Terminal: true, NoColour: true}, terminal, ui.Look{Mode: ui.LiveMode, Order: ui.Stream}},
		"CI":              {ui.Facts{Terminal: true}, with(env{"CI": "true"}), ui.Look{Mode: ui.PlainMode, Colour: true, Order: ui.Stream}},
		"CI, live asked":  {ui.Facts{Terminal: true, Asked: ui.LiveMode}, with(env{"CI": "true"}), ui.Look{Mode: ui.LiveMode, Colour: true, Order: ui.Stream}},
		"--debug":         {ui.Facts{Terminal: true, Logging: true}, terminal, ui.Look{Mode: ui.PlainMode, Colour: true, Order: ui.Stream}},
		"--debug, live":   {ui.Facts{Terminal: true, Logging: true, Asked: ui.LiveMode}, terminal, ui.Look{Mode: ui.LiveMode, Colour: true, Order: ui.Stream}},
		"C locale":        {ui.Facts{Terminal: true}, with(env{"LC_ALL": "C"}), ui.Look{Mode: ui.LiveMode, Colour: true, ASCII: true, Order: ui.Stream}},
		"no locale":       {ui.Facts{Terminal: true}, env{"TERM": "xterm"}, ui.Look{Mode: ui.LiveMode, Colour: true, ASCII: true, Order: ui.Stream}},
		"macOS, none":     {ui.Facts{Terminal: true, OS: "darwin"}, env{"TERM": "xterm"}, ui.Look{Mode: ui.LiveMode, Colour: true, Order: ui.Stream}},
		"console":         {ui.Facts{Terminal: true}, with(env{"TERM": "linux"}), ui.Look{Mode: ui.LiveMode, Colour: true, ASCII: true, Order: ui.Stream}},
		"Windows":         {ui.Facts{Terminal: true, OS: "windows"}, env{}, ui.Look{Mode: ui.PlainMode, Colour: true, Order: ui.Stream}},
		"grouped":         {ui.Facts{Order: ui.Grouped}, terminal, ui.Look{Mode: ui.PlainMode, Order: ui.Grouped}},
		"GitHub":          {ui.Facts{}, with(env{"GITHUB_ACTIONS": "true", "CI": "true", "GITHUB_STEP_SUMMARY": "/s.md"}), ui.Look{Mode: ui.PlainMode, Order: ui.Grouped, GitHub: true, StepSummary: "/s.md"}},
		"GitHub, stream":  {ui.Facts{Order: ui.Stream}, with(env{"GITHUB_ACTIONS": "true"}), ui.Look{Mode: ui.PlainMode, Order: ui.Stream, GitHub: true}},
		"summary, no one": {ui.Facts{}, with(env{"GITHUB_STEP_SUMMARY": "/s.md"}), ui.Look{Mode: ui.PlainMode, Order: ui.Stream}},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			tt.in.Getenv = func(name string) string { return tt.env[name] }
			if diff := cmp.Diff(tt.want, ui.Decide(tt.in)); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

// TestLink links absolute paths on terminals only.
func TestLink(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "a report.html")
	linked := "\x1b]8;;file://" + filepath.ToSlash(filepath.Dir(file)) + "/a%20report.html\x1b\\" + file + "\x1b]8;;\x1b\\"
	for _, test := range []struct {
		colour     bool
		path, want string
	}{{true, file, linked}, {false, file, file}, {true, "report.html", "report.html"}} {
		if got := (ui.Look{Colour: test.colour}).Link(test.path); got != test.want {
			t.Errorf("colour %v: %q, want %q", test.colour, got, test.want)
		}
	}
}
