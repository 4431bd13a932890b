package plan

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"mara/providers"
)

func TestOutline(t *testing.T) {
	t.Parallel()
	p := mustNew(t, provider("a", "b", "c a", "d c b", "e"))
	p.Estimates = Estimates{Known: map[string]time.Duration{"b": 2 * time.Hour, "d": 90 * time.Second}, Default: 10 * time.Second}
	p, err := Select(p, Selection{Skip: []string{"e"}})
	if err != nil {
		t.Fatal(err)
	}
	want := "\nLevels, what can run side by side:\n  1  a, b\n  2  c\n  3  d\n" +
		"\nCritical path, about 122m:\n  b > d\n\nSkipped:\n  e (--skip e)\n"
	if diff := cmp.Diff(want, renderOutline(p, 0)); diff != "" {
		t.Error(diff)
	}
	if got := renderOutline(Plan{}, 0); got != "" {
		t.Errorf("the outline of nothing is %q", got)
	}
}

// TestUnknownTimes: a default estimate is no data, and is not shown as if it were.
func TestUnknownTimes(t *testing.T) {
	t.Parallel()
	p := mustNew(t, provider("a", "b a"))
	p.Estimates = Estimates{Known: map[string]time.Duration{"a": time.Hour}, Default: time.Minute}
	if got := renderOutline(p, 0); !strings.Contains(got, "\nLongest chain:\n  a > b\n") {
		t.Errorf("outline %q", got)
	}
	page, err := renderHTML(p)
	document, jsonErr := renderJSON(p)
	table := renderTable(p, 0)
	if err != nil || jsonErr != nil || strings.Count(document, "estimate_ms") != 1 {
		t.Errorf("errors %v, %v; document %s; want one estimate", err, jsonErr, document)
	}
	for _, text := range []string{page, document, table, picture(p).SVG()} {
		if strings.Contains(text, "1m") || strings.Contains(text, "takes longest") {
			t.Errorf("the default is shown in %s", text)
		}
	}
}

func TestAbout(t *testing.T) {
	t.Parallel()
	for in, want := range map[time.Duration]string{
		0: "0s", 5400 * time.Millisecond: "5s", time.Minute: "1m", 80 * time.Second: "1m30s", 100 * time.Second: "1m30s",
		9*time.Minute + 31*time.Second: "9m30s", 19*time.Minute + 40*time.Second: "20m",
	} {
		if got := about(in); got != want {
			t.Errorf("%s: got %s, want %s", in, got, want)
		}
	}
}

func TestEveryProjectIsDeclared(t *testing.T) {
	t.Parallel()
	for _, p := range providers.All() {
		declared := mustNew(t, p).Declared()
		for _, step := range p.Steps {
			if declared.Known[step.Project.Name] <= 0 {
				t.Errorf("there is no estimate for %s", step.Project.Name)
			}
		}
	}
}

func TestEstimatesOr(t *testing.T) {
	t.Parallel()
	got := Estimates{Known: map[string]time.Duration{"a": 1}, Default: 9}.Or(Estimates{Known: map[string]time.Duration{"a": 2, "b": 3}, Default: 4})
	if diff := cmp.Diff(Estimates{Known: map[string]time.Duration{"a": 1, "b": 3}, Default: 4}, got); diff != "" {
		t.Error(diff)
	}
}

func TestMatch(t *testing.T) {
	t.Parallel()
	p := mustNew(t, provider("a", "b a", "c b"))
	got, err := p.Match("--timeout", "b+")
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"b", "c"}, got); diff != "" {
		t.Error(diff)
	}
	if _, err := p.Match("--timeout", "x"); err == nil || !strings.HasPrefix(err.Error(), "--timeout: no project") {
		t.Errorf("got %v", err)
	}
}

func TestUnordered(t *testing.T) {
	t.Parallel()
	p := mustNew(t, provider("a", "b a")).Unordered()
	if levels := p.Levels(); len(levels) != 1 {
		t.Errorf("levels: %v", levels)
	}
	if diff := cmp.Diff([]string{"a"}, p.Steps[1].Outside); diff != "" {
		t.Error(diff)
	}
}
