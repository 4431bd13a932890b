package pulumicli

import (
	"bytes"
	"fmt"
	"log/slog"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"mara/runner/internal/core/pulumicli/wire"
)

// TestForesight: only a preview with foresight is given outputs and says what it has
// found.
func TestForesight(t *testing.T) {
	t.Parallel()
	pool := newTestPool(t)
	f := &Foresight{Foreseen: map[string]wire.Values{"a": wire.Values("hunter2")}}
	if _, _, _, err := pool.WithForesight(f).Run(t.Context(), t.TempDir(), nil, nil, nil, nil, "echo"); err != nil || f.Found != nil {
		t.Errorf("another command: %+v, %v", f, err)
	}
	if stdout, _, _, err := run(t, pool, "preview"); stdout != "without foresight" || err != nil {
		t.Errorf("a preview of the pool itself: %q, %v", stdout, err)
	}
	if _, _, _, err := pool.WithForesight(f).Run(t.Context(), t.TempDir(), nil, nil, nil, nil, "preview"); err != nil {
		t.Error(err)
	}
	if diff := cmp.Diff(&wire.Found{Values: wire.Values("after hunter2"), Reads: []string{"a"}}, f.Found); diff != "" {
		t.Error(diff)
	}
}

// TestValuesAreNotPrinted, whatever prints them.
func TestValuesAreNotPrinted(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	f := &Foresight{Foreseen: map[string]wire.Values{"a": wire.Values("hunter2")}, Found: &wire.Found{Values: wire.Values("hunter2")}}
	for _, format := range []string{"%v", "%+v", "%#v", "%s", "%q", "%x", "%d"} {
		fmt.Fprintf(&out, format+"\n", *f.Found)
		fmt.Fprintf(&out, format+"\n", f.Foreseen)
		fmt.Fprintf(&out, format+"\n", f.Found.Values)
	}
	slog.New(slog.NewTextHandler(&out, nil)).Info("x", "found", *f.Found, "values", f.Found.Values)
	bytesAsNumbers := fmt.Sprintf("%v", []byte("hunter2"))
	for _, leak := range []string{"hunter2", fmt.Sprintf("%x", "hunter2"), bytesAsNumbers, strings.Trim(bytesAsNumbers, "[]")} {
		if strings.Contains(out.String(), leak) {
			t.Errorf("%s is printed:\n%s", leak, &out)
		}
	}
}
