package ui

import (
	"net/url"
	"path/filepath"
	"strings"

	"mara/runner/internal/core/event"
)

// Mode is a way to show a run.
type Mode string

// The modes. Auto is for asking only: it stands for live where a terminal can
// show it and for plain elsewhere.
const (
	AutoMode  Mode = "auto"
	LiveMode  Mode = "live"
	PlainMode Mode = "plain"
)

// Modes returns what may be asked for.
func Modes() []string { return []string{string(AutoMode), string(LiveMode), string(PlainMode)} }

// LogOrder says when plain output prints what the engine reports.
type LogOrder string

// The orders.
const (
	// Stream prints warnings as they come, and errors at the end.
	Stream LogOrder = "stream"
	// Grouped prints everything about a project together when it ends.
	Grouped LogOrder = "grouped"
)

// LogOrders returns the orders.
func LogOrders() []string { return []string{string(Stream), string(Grouped)} }

// Facts is what the look of the output depends on.
type Facts struct {
	Asked    Mode     // empty means auto
	Order    LogOrder // that was asked for; empty leaves it open
	Terminal bool     // the output goes to one
	NoColour bool     // colours were declined by a flag
	// Logging says that other lines come to the same terminal, through which a
	// live view would draw.
	Logging bool
	Getenv  func(name string) string
	OS      string // as runtime.GOOS has it
}

// Look is how a run is shown.
type Look struct {
	Mode   Mode // LiveMode or PlainMode
	Colour bool
	ASCII  bool     // the terminal may not show other characters
	Order  LogOrder // of PlainMode
	GitHub bool     // GitHub Actions reads the output
	// StepSummary is the file for the Markdown report in GitHub Actions; empty
	// if there is none.
	StepSummary string
}

// Decide chooses the look. It never chooses a live view that cannot work: without a terminal,
// or on a dumb one, even if the user asked for it.
func Decide(f Facts) Look {
	look := Look{
		Mode:   PlainMode,
		Colour: f.Terminal && !f.dumb() && !f.NoColour && f.Getenv("NO_COLOR") == "",
		ASCII:  !f.utf8(),
		Order:  f.Order,
		GitHub: f.Getenv("GITHUB_ACTIONS") == "true",
	}
	if look.GitHub {
		look.StepSummary = f.Getenv("GITHUB_STEP_SUMMARY")
	}
	if look.Order == "" {
		look.Order = Stream
		if look.GitHub {
			look.Order = Grouped
		}
	}
	if f.live() {
		look.Mode = LiveMode
	}
	return look
}

// Link returns the path of a file, as a link that terminals open (OSC 8) where they understand control sequences
// and the path is absolute.
func (l Look) Link(path string) string {
	if !l.Colour || !filepath.IsAbs(path) {
		return path
	}
	address := url.URL{Scheme: "file", Path: filepath.ToSlash(path)}
	return "\x1b]8;;" + address.String() + "\x1b\\" + path + "\x1b]8;;\x1b\\"
}

// live says whether the live view is wanted and possible. Windows' console
// would need a mode that must be restored.
func (f Facts) live() bool {
	if !f.Terminal || f.dumb() || f.OS == "windows" || f.Asked == PlainMode {
		return false
	}
	return f.Asked == LiveMode || f.Getenv("CI") == "" && !f.Logging
}

// dumb says that the terminal understands no control sequences.
func (f Facts) dumb() bool {
	term := f.Getenv("TERM")
	return term == "dumb" || term == "" && f.OS != "windows"
}

// utf8 says that the locale has more than ASCII. The console of Linux has a
// font without most of what the live view draws with.
func (f Facts) utf8() bool {
	if f.Getenv("TERM") == "linux" {
		return false
	}
	for _, name := range []string{"LC_ALL", "LC_CTYPE", "LANG"} {
		if locale := strings.ToLower(f.Getenv(name)); locale != "" {
			return strings.Contains(locale, "utf-8") || strings.Contains(locale, "utf8")
		}
	}
	return f.OS == "darwin" || f.OS == "windows"
}

// Width returns the width of a terminal by its size; 0 if there is none.
func Width(size func() (width, height int)) int {
	if size == nil {
		return 0
	}
	width, _ := size()
	return width
}

// Screen shows a run while it runs, and its summary at the end.
type Screen interface {
	event.Sink
	Close() error
}
