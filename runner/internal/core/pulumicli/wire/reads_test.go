package wire

import (
	"strings"
	"testing"
)

func TestReadsOnly(t *testing.T) {
	t.Parallel()
	for line, want := range map[string]bool{
		"stack ls --all --json": true, "stack export --stack x": true, "stack history": true, "whoami": true,
		"stack": false, "stack import": false, "stack rm": false, "up": false, "preview": false, "cancel": false, "": false,
	} {
		if got := ReadsOnly(strings.Fields(line)); got != want {
			t.Errorf("%q: %t, want %t", line, got, want)
		}
	}
}
