package inspect

import (
	"testing"
	"time"
)

// TestFormatSeconds: Pulumi records whole seconds: a tenth of one is not known.
func TestFormatSeconds(t *testing.T) {
	t.Parallel()
	for in, want := range map[time.Duration]string{0: "0s", 2 * time.Second: "2s", 65 * time.Second: "1m05s"} {
		if got := formatSeconds(in); got != want {
			t.Errorf("%s: got %s, want %s", in, got, want)
		}
	}
}
