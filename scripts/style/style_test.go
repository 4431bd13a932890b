package main

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestRepository applies the rules to the whole repository.
func TestRepository(t *testing.T) {
	findings, err := check("../..")
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range findings {
		t.Error(f)
	}
}

func TestCheckFile(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, path, content string
		want                []string
	}{
		{"verb", "a.go", "package a\n\n// size returns the size.\nfunc size() {}\n", nil},
		{"noun", "a.go", "package a\n\n// size is the size.\nfunc size() {}\n",
			[]string{"a.go:3: the comment of size describes a noun: begin with a verb (returns, reports whether, writes)"}},
		{"noun in a test", "a_test.go", "package a\n\n// size is the size.\nfunc size() {}\n",
			[]string{"a_test.go:3: the comment of size describes a noun: begin with a verb (returns, reports whether, writes)"}},
		{"type", "a.go", "package a\n\n// size is a size.\ntype size int\n", nil},
		{"no name", "a.go", "package a\n\n// Returns the size.\nfunc size() {}\n",
			[]string{"a.go:3: the comment of size does not begin with its name and a verb"}},
		{"no name in a test", "a_test.go", "package a\n\n// Sizes differ.\nfunc TestSize() {}\n", nil},
		{"word", "a.md", "It is\nmade up.\n", []string{`a.md:2: "made up": write generated, fake, placeholder`}},
		{"word over two lines", "a.go", "package a\n\n// It lists those\n// that run.\nvar b int\n",
			[]string{`a.go:3: "those that": write the noun`}},
		{"part of a word", "a.md", "outfolder, retold\n", nil},
		{"long line", "a.go", "package a\n\nvar b = \"" + strings.Repeat("x", 113) + "\"\n",
			[]string{"a.go:3: 123 columns; a line ends before column 121"}},
		{"long raw string", "a.go", "package a\n\nvar b = `" + strings.Repeat("x", 113) + "`\n", nil},
		{"long line in a test", "a_test.go", "package a\n\nvar b = `" + strings.Repeat("x", 113) + "`\n", nil},
		{"other file", "a.json", "told", nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			found, err := checkFile(c.path, []byte(c.content))
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			for _, f := range found {
				got = append(got, f.String())
			}
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}
