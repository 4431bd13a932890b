package password_test

import (
	"strings"
	"testing"

	"mara/projects/model/password"
)

func TestDraw(t *testing.T) {
	t.Parallel()
	const letters, digits, special = "abcXYZ", "789", "-_."
	seen := map[string]bool{}
	for range 500 {
		got, err := password.Draw(24, letters, digits, special)
		if err != nil {
			t.Fatal(err)
		}
		for _, class := range []string{letters, digits, special} {
			if !strings.ContainsAny(got, class) {
				t.Errorf("%q has none of %q", got, class)
			}
		}
		if len(got) != 24 || !strings.ContainsAny(got[:1], letters) || !strings.ContainsAny(got[23:], letters+digits) || strings.Trim(got, letters+digits+special) != "" || seen[got] {
			t.Errorf("drew %q", got)
		}
		seen[got] = true
	}
	if _, err := password.Draw(7, letters); err == nil {
		t.Error("a password of 7 characters was drawn")
	}
}
