package upgrade

import (
	"testing"

	"github.com/Masterminds/semver/v3"
)

// TestCompare: versions are compared as SemVer does, with or without a leading v.
func TestCompare(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		older, newer string
		isSame       bool
	}{
		{"1.20.0", "v1.20.0", true},
		{"1.36", "v1.36.0", true},
		{"1.36.1+a", "1.36.1+b", true},
		{"2.0.0-rc.1", "2.0.0", false},
		{"2.0.0-rc.2", "2.0.0-rc.10", false},
		{"2.0.0-alpha", "2.0.0-beta", false},
		{"2.9.1", "2.10.0", false},
		{"1.9", "1.10", false},
		{"1.35.9", "1.36", false},
		{"1.36.1-do.3", "1.36.1-do.10", false},
		{"latest", "0.0.1", false},
		{"", "latest", false},
	} {
		want := -1
		if test.isSame {
			want = 0
		}
		if got := Compare(test.older, test.newer); got != want {
			t.Errorf("%q and %q: %d", test.older, test.newer, got)
		}
		if got := Compare(test.newer, test.older); got != -want {
			t.Errorf("%q and %q: %d", test.newer, test.older, got)
		}
	}
}

// TestChartSteps: only an older chart is a step, and none leads down.
func TestChartSteps(t *testing.T) {
	t.Parallel()
	for _, test := range []struct{ running, configured, want string }{
		{"v2.10.0", "", ""},
		{"2.10.0-rc.1", "", "chart nginx 2.10.0-rc.1 → 2.10.0 []"},
		{"2.10.0", "2.10.0-rc.1", ""},
	} {
		values := map[string]any{}
		if test.configured != "" {
			values["ingress:chart_version"] = test.configured
		}
		parts := cloud(values, "1.36", "1.36", test.running).Parts()
		if got := words(Steps(parts, "1.36")); got != test.want {
			t.Errorf("running %s, configured %s: %s, want %s", test.running, test.configured, got, test.want)
		}
	}
}

// FuzzCompare: any texts have one order, in which versions stand as SemVer says.
func FuzzCompare(f *testing.F) {
	for _, seed := range [][3]string{{"1.20.0", "v1.20.0", "1.20"}, {"2.0.0-rc.1", "2.0.0", ""}, {"1.36.1-do.3", "latest", "1.36.1-do.10"}, {"1..2", "v", "1.2.3+x"}} {
		f.Add(seed[0], seed[1], seed[2])
	}
	f.Fuzz(func(t *testing.T, a, b, c string) {
		if Compare(a, b) != -Compare(b, a) || Compare(a, a) != 0 {
			t.Errorf("%q and %q: %d and %d", a, b, Compare(a, b), Compare(b, a))
		}
		if Compare(a, b) <= 0 && Compare(b, c) <= 0 && Compare(a, c) > 0 {
			t.Errorf("%q <= %q <= %q", a, b, c)
		}
		left, wrong := semver.NewVersion(a)
		right, alsoWrong := semver.NewVersion(b)
		if wrong == nil && alsoWrong == nil && Compare(a, b) != left.Compare(right) {
			t.Errorf("%q and %q: %d", a, b, Compare(a, b))
		}
	})
}
