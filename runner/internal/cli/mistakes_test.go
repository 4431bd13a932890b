package cli_test

import (
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"

	"gopkg.in/yaml.v3"

	"mara/runner/internal/cli/cmd"
	"mara/runner/internal/testing/cmdtest"
)

// input is a row of testdata/mistakes.yaml or testdata/valid.yaml.
type input struct {
	Name    string
	Config  string            // of Pulumi.dev.yaml; "" for no such file
	Files   map[string]string // others
	Outcome string
	Want    string
	Why     string // of an outcome that is late
	Warns   string
}

func inputs(t *testing.T, file string) []input {
	t.Helper()
	content, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var rows []input
	if err := yaml.Unmarshal(content, &rows); err != nil {
		t.Fatal(err)
	}
	return rows
}

// check returns what `runner check` says of an input.
func (in input) check(t *testing.T) (said string, code int) {
	t.Helper()
	root := cmdtest.Root(t, nil)
	if in.Config != "" {
		lines := strings.NewReplacer(
			"KIND", "kubernetes:infra_type: kind", "AWS", "kubernetes:infra_type: aws\n  aws:region: us-west-2",
			"LINODE", "kubernetes:infra_type: linode\n  lke:region: us-ord", "DO", "kubernetes:infra_type: digitalocean",
		)
		first, rest, _ := strings.Cut(in.Config, "\n")
		content := "config:\n  " + lines.Replace(first) + "\n" + rest
		cmdtest.WriteFile(t, filepath.Join(root, "config/pulumi/Pulumi.dev.yaml"), strings.TrimRight(content, "\n")+"\n")
	}
	for name, content := range in.Files {
		cmdtest.WriteFile(t, filepath.Join(root, name), content)
	}
	stdout, stderr, code := runFleet(t, root, "check")
	return strings.NewReplacer(": error: ", ": ", ": warning: ", ": ").Replace(stdout + stderr), code
}

// withLine matches a message that begins with a file and a line.
var withLine = regexp.MustCompile(`(?m)^[^ ]+:[0-9]+: `)

// TestMistakesInFiles: `runner check` names each mistake of the table as the table says, and counts are printed.
func TestMistakesInFiles(t *testing.T) {
	t.Parallel()
	var mu sync.Mutex // guards counts
	counts := map[string]int{}
	rows := inputs(t, "testdata/mistakes.yaml")
	t.Run("rows", func(t *testing.T) {
		for _, row := range rows {
			t.Run(row.Name, func(t *testing.T) {
				t.Parallel()
				mu.Lock()
				counts[row.Outcome]++
				mu.Unlock()
				said, _ := row.check(t)
				isNamed := row.Want != "" && strings.Contains(said, row.Want)
				switch row.Outcome {
				case "check":
					lines := slices.DeleteFunc(strings.Split(said, "\n"), func(line string) bool { return !strings.Contains(line, row.Want) })
					if !isNamed || !withLine.MatchString(lines[0]) {
						t.Errorf("want %q, with file and line, in\n%s", row.Want, said)
					}
				case "file":
					if !isNamed {
						t.Errorf("want %q in\n%s", row.Want, said)
					}
				case "late":
					if row.Why == "" {
						t.Error("why is it late?")
					}
				default:
					t.Errorf("unknown outcome %q", row.Outcome)
				}
			})
		}
	})
	for _, outcome := range slices.Sorted(maps.Keys(counts)) {
		t.Logf("%s: %d of %d mistakes", outcome, counts[outcome], len(rows))
	}
}

// TestValid: `runner check` refuses no valid input, and warns only where the table says so.
func TestValid(t *testing.T) {
	t.Parallel()
	for _, row := range inputs(t, "testdata/valid.yaml") {
		t.Run(row.Name, func(t *testing.T) {
			t.Parallel()
			said, code := row.check(t)
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
