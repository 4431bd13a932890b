package e2e

import (
	"bytes"
	"encoding/json"
	"io"
	"os"
	"strings"
	"testing"

	"mara/runner/internal/core/event"
)

// TestReaderGoesAway runs `runner up | head -1`: the run continues to its end.
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

// TestOutputIsForOtherPrograms runs the commands that look, and the operations that find
// nothing to do, into a pipe: as text without any control sequence, and as JSON
// with nothing else beside it.
func TestOutputIsForOtherPrograms(t *testing.T) {
	t.Parallel()
	e := newEnvironment(t, embedded)
	e.env = append(e.env, "TERM=xterm-256color", "COLORTERM=truecolor")
	e.simulate(0, "up", "-p", "kind", "--only", few)
	for _, line := range []string{
		"providers", "plan -p kind", "config list -p kind", "config get kind:workers -p kind", "config explain kind:workers -p kind", "config schema",
		"doctor -p kind --simulate", "preview --simulate --only " + few, "refresh --simulate", "drift --simulate", "stacks --simulate", "status --simulate",
		"outputs --simulate", "secrets list -p kind", "unlock --simulate", "repair --simulate", "history --simulate", "show --simulate",
		"logs --simulate", "report --simulate", "env -p kind", "schema events", "version", "up --help",
	} {
		args := strings.Fields(line)
		if r := e.run(args...); r.code != 0 || strings.ContainsAny(r.stdout+r.stderr, "\x1b\r") {
			t.Errorf("%s: exit code %d, or control sequences:\n%q%q", line, r.code, r.stdout, r.stderr)
		}
		if line == "up --help" {
			continue
		}
		r := e.run(append(args, "-o", "json")...)
		documents := json.NewDecoder(strings.NewReader(r.stdout))
		for {
			var document any
			err := documents.Decode(&document)
			if err == io.EOF {
				break
			}
			if err != nil {
				t.Errorf("%s: exit code %d, not only JSON (%v):\n%s%s", line, r.code, err, r.stdout, r.stderr)
				break
			}
		}
	}
}
