package refusal

import (
	"bytes"
	"errors"
	"flag"
	"fmt"
	"os"
	"regexp"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "write the tables of docs/guards.md")

// page is the page on guards.
const page = "../../../../docs/guards.md"

// TestPage holds the tables of the page on guards against the list.
func TestPage(t *testing.T) {
	t.Parallel()
	content, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	tables := 0
	part := regexp.MustCompile(`(?s)<!-- guards (\S+) -->\n.*?<!-- end -->\n`)
	want := part.ReplaceAllFunc(content, func(old []byte) []byte {
		tables++
		stage := Stage(part.FindSubmatch(old)[1])
		return fmt.Appendf(nil, "<!-- guards %s -->\n%s<!-- end -->\n", stage, table(stage))
	})
	if tables != 3 {
		t.Errorf("the page has %d tables, want one for each stage", tables)
	}
	if *update {
		if err := os.WriteFile(page, want, 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	if !bytes.Equal(content, want) {
		t.Error("docs/guards.md differs from the list of guards: run `make golden`, and look at the difference")
	}
}

func table(stage Stage) string {
	var b strings.Builder
	b.WriteString("| guard | what it refuses | when it cannot decide | override |\n|---|---|---|---|\n")
	for _, e := range All() {
		if e.Stage == stage {
			fmt.Fprintf(&b, "| %s<br>`%s` | %s | %s | %s |\n", e.Name, e.Guard, e.Refuses, e.Undecided, e.Override)
		}
	}
	return b.String()
}

// TestList: an entry is one guard at one stage, and its text names the flags that override it.
func TestList(t *testing.T) {
	t.Parallel()
	type key struct {
		Guard
		Stage
	}
	seen := map[key]bool{}
	for _, e := range All() {
		if seen[key{e.Guard, e.Stage}] {
			t.Errorf("%s has two entries for %s", e.Guard, e.Stage)
		}
		seen[key{e.Guard, e.Stage}] = true
		if e.Name == "" || e.Refuses == "" || e.Override == "" {
			t.Errorf("%s: an entry lacks a text: %+v", e.Guard, e)
		}
		for _, name := range e.Flags {
			if !strings.Contains(e.Override, "--"+name) {
				t.Errorf("%s: %q does not name --%s", e.Guard, e.Override, name)
			}
		}
	}
}

func TestOf(t *testing.T) {
	t.Parallel()
	cause := errors.New("no")
	err := fmt.Errorf("wrapped: %w", By(Lock, cause))
	if got := Of(err); got != Lock {
		t.Errorf("Of() = %q, want %q", got, Lock)
	}
	if !errors.Is(err, cause) || err.Error() != "wrapped: no" {
		t.Errorf("the mark changes the error: %v", err)
	}
	if got := Of(cause); got != "" {
		t.Errorf("Of(an error without a mark) = %q", got)
	}
	if By(Lock, nil) != nil {
		t.Error("By(nil) is an error")
	}
}
