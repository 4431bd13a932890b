package e2e

import (
	"bytes"
	"os"
	"testing"

	"mara/runner/internal/event"
)

// TestReaderGoesAway is `runner up | head -1`: the run goes on to its end.
func TestReaderGoesAway(t *testing.T) {
	t.Parallel()
	for _, output := range []string{"text", "json"} {
		e := newEnvironment(t, embedded)
		r, w, err := os.Pipe()
		if err != nil {
			t.Fatal(err)
		}
		cmd := e.command("up", "-p", "kind", "--simulate", "--simulate-speed", "100000", "--yes", "-o", output)
		var stderr bytes.Buffer
		cmd.Stdout, cmd.Stderr = w, &stderr
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		w.Close()
		if _, err := r.Read(make([]byte, 1)); err != nil {
			t.Fatal(err)
		}
		r.Close()
		if err := cmd.Wait(); err != nil || stderr.Len() > 0 {
			t.Errorf("%s: %v, stderr %q", output, err, &stderr)
		}
		last := decode(t, e.output("show", "--simulate", "-o", "json"))
		if end := last[len(last)-1]; end.Type != event.RunFinished || end.Result != event.Succeeded {
			t.Errorf("%s: the run ended with %+v", output, end)
		}
	}
}
