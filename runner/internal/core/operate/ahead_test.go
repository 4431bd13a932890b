package operate

import "testing"

// TestAheadBound: how many programs start at once, one after the other, each of which takes its memory only later.
func TestAheadBound(t *testing.T) {
	t.Parallel()
	const gigabyte = 1 << 30
	for name, test := range map[string]struct {
		limit, parallel int
		free            int64 // negative if it is not known
		waiting         int   // programs that wait already
		want            int   // more
	}{
		"as many as run at once":         {-1, 4, 64 * gigabyte, 0, 4},
		"some wait":                      {-1, 4, 64 * gigabyte, 3, 1},
		"little memory":                  {-1, 15, 700 << 20, 0, 0},
		"memory for one":                 {-1, 15, gigabyte, 0, 1},
		"memory for some":                {-1, 15, 4 * gigabyte, 0, 9},
		"memory for some, others wait":   {-1, 15, 4 * gigabyte, 10, 5},
		"memory is not known":            {-1, 15, -1, 0, 15},
		"said how many":                  {2, 4, 64 * gigabyte, 0, 2},
		"said how many, little memory":   {2, 4, 0, 0, 2},
		"said none, where others waited": {0, 4, 64 * gigabyte, 0, 0},
	} {
		bound := aheadBound{test.limit, test.parallel, func() (int64, bool) { return test.free, test.free >= 0 }}
		started := 0
		for started < 100 && bound.allows(test.waiting+started, started) {
			started++
		}
		if started != test.want {
			t.Errorf("%s: %d start, want %d", name, started, test.want)
		}
	}
}
