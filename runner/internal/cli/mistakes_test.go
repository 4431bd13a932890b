package cli_test

import (
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"mara/runner/internal/cli/cmd"
	"mara/runner/internal/testing/cmdtest"
	"mara/runner/internal/testing/mistakes"
)

// checkOf returns what `runner check` says of an input.
func checkOf(t *testing.T, in mistakes.Input) (said string, code int) {
	t.Helper()
	root := cmdtest.Root(t, nil)
	in.Write(func(name, content string) { cmdtest.WriteFile(t, filepath.Join(root, name), content) })
	stdout, stderr, code := runFleet(t, root, "check")
	return mistakes.Plain(stdout + stderr), code
}

// withLine matches a message that begins with a file and a line.
var withLine = regexp.MustCompile(`^[^ ]+:[0-9]+: `)

// TestMistakesInFiles: `runner check` names each mistake that the table says it names, and with file and line where it says so.
func TestMistakesInFiles(t *testing.T) {
	t.Parallel()
	for _, row := range mistakes.All(t) {
		if row.Outcome != mistakes.Check && row.Outcome != mistakes.File {
			continue
		}
		t.Run(row.Name, func(t *testing.T) {
			t.Parallel()
			said, _ := checkOf(t, row)
			lines := slices.DeleteFunc(strings.Split(said, "\n"), func(line string) bool { return !strings.Contains(line, row.Want) })
			switch {
			case row.Want == "" || len(lines) == 0:
				t.Errorf("want %q in\n%s", row.Want, said)
			case (row.Outcome == mistakes.Check) != withLine.MatchString(lines[0]):
				t.Errorf("the outcome %s is not that of %s", row.Outcome, lines[0])
			}
		})
	}
}

// TestShareOfMistakes: nine of ten mistakes are named before anything is created, and three of four by `runner check` with file
// and line.
func TestShareOfMistakes(t *testing.T) {
	t.Parallel()
	counts, rows, names := map[mistakes.Outcome]int{}, mistakes.All(t), map[string]bool{}
	for _, row := range rows {
		counts[row.Outcome]++
		if names[row.Name] {
			t.Errorf("%s is there twice", row.Name)
		}
		names[row.Name] = true
		if row.Outcome == mistakes.Late && row.Why == "" {
			t.Errorf("%s: why is it late?", row.Name)
		}
	}
	known := 0
	for _, outcome := range []mistakes.Outcome{mistakes.Check, mistakes.File, mistakes.Preview, mistakes.Rule, mistakes.Late} {
		known += counts[outcome]
		t.Logf("%s: %d of %d mistakes", outcome, counts[outcome], len(rows))
	}
	if known != len(rows) {
		t.Errorf("outcomes that there are not: %v", counts)
	}
	if early := len(rows) - counts[mistakes.Late]; early*100 < 90*len(rows) || counts[mistakes.Check]*100 < 75*len(rows) {
		t.Errorf("too few are named early: %v", counts)
	}
}

// TestValid: `runner check` refuses no valid input, and warns only where the table says so.
func TestValid(t *testing.T) {
	t.Parallel()
	for _, row := range mistakes.Valid(t) {
		t.Run(row.Name, func(t *testing.T) {
			t.Parallel()
			said, code := checkOf(t, row)
			if code != cmd.ExitDone {
				t.Errorf("refused, exit code %d:\n%s", code, said)
			}
			hasWarnings := !strings.Contains(said, ", no problems\n") && strings.Contains(said, "warning")
			if row.Warns == "" && hasWarnings || row.Warns != "" && !strings.Contains(said, row.Warns) {
				t.Errorf("want the warning %q:\n%s", row.Warns, said)
			}
		})
	}
}
