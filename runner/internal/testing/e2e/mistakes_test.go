package e2e

import (
	"strings"
	"testing"

	"mara/runner/internal/testing/mistakes"
)

// TestMistakes: previews, rules and operations name the mistakes that `runner check` cannot, before anything is created.
// cli.TestMistakesInFiles has the others.
func TestMistakes(t *testing.T) {
	t.Parallel()
	long(t)
	for _, m := range mistakes.Table() {
		if m.Outcome != mistakes.Preview && m.Outcome != mistakes.Rule {
			continue
		}
		t.Run(m.Name, func(t *testing.T) {
			e := newEnvironment(t, embedded)
			m.Write(e.write)
			args := strings.Fields(m.Args)
			if args[0] == "preview" {
				args = append(args, "--simulate", "--simulate-speed", "100000")
			}
			r := e.run(args...)
			said := mistakes.Plain(r.stdout + r.stderr)
			if r.code == 0 || !strings.Contains(said, m.Want) {
				t.Errorf("exit code %d, want %q in\n%s", r.code, m.Want, said)
			}
		})
	}
}
