package config

import (
	"strings"
	"testing"
)

// TestNames: which names are taken, with their lengths.
func TestNames(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		is      func(string) bool
		longest int
		wrong   []string
	}{
		"application": {isApplicationName, 40, []string{"", "-a", "a-", "1a", "A", "a.b", "a\n"}},
		"object":      {isObjectName, 253, []string{"", "-a", "a-", ".a", "a.", "A", "a_b", "a\n"}},
		"project":     {isProjectName, 100, []string{"", "a b", "ä", "a\n"}},
	} {
		for _, right := range []string{"a", "ab", "a-b", "a1", strings.Repeat("a", test.longest)} {
			if !test.is(right) {
				t.Errorf("%s: %q is refused", name, right)
			}
		}
		for _, wrong := range append(test.wrong, strings.Repeat("a", test.longest+1)) {
			if test.is(wrong) {
				t.Errorf("%s: %q is taken", name, wrong)
			}
		}
	}
}
