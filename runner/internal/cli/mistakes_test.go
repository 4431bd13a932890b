package cli_test

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"mara/runner/internal/cli/cmd"
	"mara/runner/internal/testing/cmdtest"
	"mara/runner/internal/testing/mistakes"
	"mara/runner/internal/wire"
)

// checkOf returns what `runner check` says of an input, without the words that tell errors from warnings.
func checkOf(t *testing.T, in mistakes.Input) (said string, code int) {
	t.Helper()
	said, code = saidOf(t, in)
	return mistakes.Plain(said), code
}

func saidOf(t *testing.T, in mistakes.Input) (said string, code int) {
	t.Helper()
	root := cmdtest.Root(t, nil)
	in.Write(func(name, content string) { cmdtest.WriteFile(t, filepath.Join(root, name), content) })
	d, out, errs := cmdtest.Deps(t)
	d.Dir, d.Environ = root, append(d.Environ, "PATH="+programs(t))
	code = wire.Run(t.Context(), d, []string{"check"})
	return out.String() + errs.String(), code
}

// programs returns a directory with the programs that hooks of the tables name, which nothing runs.
func programs(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	for _, name := range []string{"curl", "date", "echo", "grep", "sh"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte{0}, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// withLine matches a message that begins with a file and a line.
var withLine = regexp.MustCompile(`^[^ /][^ ]*:[0-9]+: `)

// TestMistakesInFiles: `runner check` names each mistake that the table says it names, and with file and line where it says so.
func TestMistakesInFiles(t *testing.T) {
	t.Parallel()
	for _, row := range mistakes.Table() {
		if row.Outcome != mistakes.Check && row.Outcome != mistakes.File {
			continue
		}
		t.Run(row.Name, func(t *testing.T) {
			t.Parallel()
			said, _ := checkOf(t, row)
			readable(t, row, said)
			overridable(t, row, said)
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

var (
	inGo     = regexp.MustCompile(`map\[|<nil>|%!|\{<|\(0x|interface \{\}|unmarshal`)
	proposed = regexp.MustCompile("`runner ([^`]+)`")
	accepts  = regexp.MustCompile(`write  (runner:accept: \["([^"]+)"\])`)
)

// readable holds messages against what users can read and do: nothing is printed as Go prints it, no message begins with a
// flag, none is endless, and the commands that it proposes are commands with those flags and arguments.
func readable(t *testing.T, row mistakes.Input, said string) {
	t.Helper()
	for line := range strings.Lines(said) {
		switch isSummary := strings.HasPrefix(line, "not checked:"); {
		case inGo.MatchString(line):
			t.Errorf("printed as Go prints it: %s", line)
		case strings.HasPrefix(line, "--") || strings.Contains(line, ": --") && !strings.Contains(row.Args, "--"):
			t.Errorf("begins with a flag: %s", line)
		case len(line) > 500 && !isSummary:
			t.Errorf("%d letters: %s", len(line), line)
		}
	}
	for _, command := range proposed.FindAllStringSubmatch(said, -1) {
		if strings.Contains(said, "write it below secrets, and store it with `runner "+command[1]+"`") {
			continue // it works once that is written
		}
		root := cmdtest.Root(t, nil)
		row.Write(func(name, content string) { cmdtest.WriteFile(t, filepath.Join(root, name), content) })
		if stdout, stderr, code := runFleet(t, root, command[1]); code == cmd.ExitUsage {
			t.Errorf("what is proposed is wrong: runner %s\n%s%s", command[1], stdout, stderr)
		}
	}
}

// overridable holds that a value that is refused is accepted with the line that the message names.
func overridable(t *testing.T, row mistakes.Input, said string) {
	t.Helper()
	line := accepts.FindStringSubmatch(said)
	if line == nil || row.Config == "" || strings.Count(said, "write  runner:accept") > 1 {
		return
	}
	row.Config = strings.TrimRight(row.Config, "\n") + "\n  " + line[1]
	accepted, _ := checkOf(t, row)
	for again := range strings.Lines(accepted) {
		if strings.Contains(again, line[2]) && !strings.HasPrefix(again, "not checked:") && strings.Contains(said, again) {
			t.Errorf("with %s it is still refused: %s", line[1], again)
		}
	}
}

// ofSyntax matches errors about how something is written, about types and about secrets in plain text: nothing makes them right.
var ofSyntax = regexp.MustCompile(`^\S+ (belongs below|is set a second time|must be (a|true)|is a (secret|credential))`)

// TestRefusalsAreAccepted: each error about the value of a key, in any row of the table, names the line that accepts it, or is
// one of syntax.
func TestRefusalsAreAccepted(t *testing.T) {
	t.Parallel()
	ofValue := regexp.MustCompile(`(?m)^config/pulumi/Pulumi\.dev\.yaml:\d+: error: ([a-z-]+:[A-Za-z_]+ .*)$`)
	accepted := 0
	for _, row := range mistakes.Table() {
		if row.Config == "" || row.Args != "" {
			continue
		}
		said, _ := saidOf(t, row)
		for _, refused := range ofValue.FindAllStringSubmatch(said, -1) {
			switch {
			case strings.Contains(refused[1], "if it is right, write  runner:accept: ["):
				accepted++
			case !ofSyntax.MatchString(refused[1]):
				t.Errorf("%s: nothing overrides  %s", row.Name, refused[1])
			}
		}
	}
	if accepted < 50 {
		t.Errorf("only %d refusals were seen", accepted)
	}
}

// TestShareOfMistakes: nine of ten mistakes are named before anything is created, and three of four by `runner check` with file
// and line.
func TestShareOfMistakes(t *testing.T) {
	t.Parallel()
	counts, rows, names := map[mistakes.Outcome]int{}, mistakes.Table(), map[string]bool{}
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
	documented, err := os.ReadFile("../../../docs/configuration.md")
	if err != nil {
		t.Fatal(err)
	}
	page := strings.Join(strings.Fields(string(documented)), " ")
	for _, figure := range []string{
		fmt.Sprintf("own table of %d mistakes**", len(rows)),
		fmt.Sprintf("%d (%.0f %%) are named by `runner check` with file and line, %d by `runner check` without", counts[mistakes.Check],
			100*float64(counts[mistakes.Check])/float64(len(rows)), counts[mistakes.File]),
		fmt.Sprintf("%d by a preview, %d by a rule, and %d only when", counts[mistakes.Preview], counts[mistakes.Rule], counts[mistakes.Late]),
		fmt.Sprintf("has %d valid but unusual inputs", len(mistakes.ValidTable())),
	} {
		if !strings.Contains(page, figure) {
			t.Errorf("docs/configuration.md does not say: %s", figure)
		}
	}
	if early := len(rows) - counts[mistakes.Late]; early*100 < 90*len(rows) || counts[mistakes.Check]*100 < 75*len(rows) {
		t.Errorf("too few are named early: %v", counts)
	}
}

// TestValid: `runner check` refuses no valid input, and warns only where the table says so.
func TestValid(t *testing.T) {
	t.Parallel()
	for _, row := range mistakes.ValidTable() {
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
