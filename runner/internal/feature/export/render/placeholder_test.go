package render

import "testing"

// TestSourceOf: of values that are equally long, as of any, a text always names the same output.
func TestSourceOf(t *testing.T) {
	t.Parallel()
	made := map[string]string{"aaaa": "output a of one", "bbbb": "output b of two", "cccc": "output c of two", "aa": "output short of one"}
	for text, want := range map[string]string{
		"aaaa bbbb cccc": "output a of one", "cccc-bbbb": "output b of two", "xaax": "output short of one", "none": "",
	} {
		for range 50 {
			if got := sourceOf(text, made); got != want {
				t.Fatalf("%s: %q, want %q", text, got, want)
			}
		}
	}
}
