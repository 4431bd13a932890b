// Command style lists what in the Go code and documents of this repository
// does not follow the rules of style that a program can check.
//
//	go run ./scripts/style [PATH...]
//
// Without paths it looks at everything that git tracks. It ends with 1 if it
// finds anything.
package main

import (
	"bytes"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"unicode/utf8"
)

// columns is the length of the longest line of Go outside of tests.
const columns = 120

// A finding is a place that does not follow a rule.
type finding struct {
	path    string
	line    int
	message string
}

func (f finding) String() string { return fmt.Sprintf("%s:%d: %s", f.path, f.line, f.message) }

// check applies all rules to the tracked files below root, or to those of them
// at or below paths.
func check(root string, paths ...string) ([]finding, error) {
	command := exec.Command("git", append([]string{"ls-files", "-z", "--cached", "--others", "--exclude-standard", "--"}, paths...)...)
	command.Dir = root
	out, err := command.Output()
	if err != nil {
		return nil, fmt.Errorf("listing files with git: %w", err)
	}
	var findings []finding
	for path := range strings.SplitSeq(string(out), "\x00") {
		if path == "" || isExempt(path) {
			continue
		}
		content, err := os.ReadFile(filepath.Join(root, path))
		if os.IsNotExist(err) { // deleted, and not committed yet
			continue
		}
		if err != nil {
			return nil, err
		}
		found, err := checkFile(path, content)
		if err != nil {
			return nil, err
		}
		findings = append(findings, found...)
	}
	return findings, nil
}

// isExempt reports whether a file quotes other people's words, or the words
// that the rules forbid.
func isExempt(path string) bool {
	return strings.HasPrefix(path, "scripts/style/") || path == "LICENSE" ||
		strings.HasPrefix(path, "scripts/release/materials/")
}

// checkFile applies the rules for the kind of file that path names.
func checkFile(path string, content []byte) ([]finding, error) {
	switch filepath.Ext(path) {
	case ".go":
		comments, err := checkComments(path, content)
		if err != nil {
			return nil, err
		}
		findings := append(comments, checkWords(path, content)...)
		if !strings.HasSuffix(path, "_test.go") {
			findings = append(findings, checkColumns(path, content)...)
		}
		return findings, nil
	case ".md", ".sh", ".yaml", ".yml", ".jq", ".golden", ".txtar", ".txt":
		return checkWords(path, content), nil
	}
	return nil, nil
}

// nounForm matches what follows the name of a function in a comment that
// describes a function as a noun.
var nounForm = regexp.MustCompile(`^(is|are|was|were)\b`)

// checkComments finds comments of functions that do not begin with the name of
// the function and a verb. Tests may begin with anything but a noun form.
func checkComments(path string, content []byte) ([]finding, error) {
	files := token.NewFileSet()
	file, err := parser.ParseFile(files, path, content, parser.ParseComments|parser.SkipObjectResolution)
	if err != nil {
		return nil, err
	}
	var findings []finding
	for _, declaration := range file.Decls {
		function, ok := declaration.(*ast.FuncDecl)
		if !ok || function.Doc == nil {
			continue
		}
		name := function.Name.Name
		rest, named := strings.CutPrefix(strings.TrimSpace(function.Doc.Text()), name+" ")
		line := files.Position(function.Doc.Pos()).Line
		switch {
		case named && nounForm.MatchString(rest):
			findings = append(findings, finding{path, line, "the comment of " + name + " describes a noun: begin with a verb (returns, reports whether, writes)"})
		case !named && !strings.HasSuffix(path, "_test.go"):
			findings = append(findings, finding{path, line, "the comment of " + name + " does not begin with its name and a verb"})
		}
	}
	return findings, nil
}

// words are the words that have a better one, or a term of art.
var words = []struct{ pattern, instead string }{
	{`told`, "printed, reported, listed, said"},
	{`nobody`, "no user, no process, nothing"},
	{`somebody`, "a user, another process"},
	{`those that`, "the noun"},
	{`what there is`, "the noun"},
	{`(held|hold|holds|holding) against`, "compared with, checked against"},
	{`made[ -]up`, "generated, fake, placeholder"},
	{`puts? right|putting right`, "fix, repair"},
	{`left out|leaves out|leave out|leaving out`, "skipped, omitted"},
	{`(carry|carries|carried|carrying) on`, "continue, resume"},
	{`begins? anew|began anew`, "restart"},
	{`folders?`, "directory"},
	{`ended well|ends well|went wrong|goes wrong`, "succeeded, failed"},
}

// lineEnd matches the end of a line and the mark of a comment on the next.
var lineEnd = regexp.MustCompile(`\n\s*(?://|#)? ?`)

// forbidden matches each of words, even with a line end inside.
var forbidden = regexp.MustCompile(`(?i)\b(` + alternatives() + `)\b`)

// alternatives joins the patterns of words into one, in which a space may be
// the end of a line of a comment.
func alternatives() string {
	var patterns []string
	for _, w := range words {
		patterns = append(patterns, strings.ReplaceAll(w.pattern, " ", `(?: |`+lineEnd.String()+`)`))
	}
	return strings.Join(patterns, "|")
}

// checkWords finds the words that have a better one.
func checkWords(path string, content []byte) []finding {
	var findings []finding
	for _, place := range forbidden.FindAllIndex(content, -1) {
		word := lineEnd.ReplaceAllString(string(content[place[0]:place[1]]), " ")
		line := 1 + bytes.Count(content[:place[0]], []byte("\n"))
		findings = append(findings, finding{path, line, fmt.Sprintf("%q: write %s", word, instead(word))})
	}
	return findings
}

// instead returns what to write in place of a forbidden word.
func instead(word string) string {
	for _, w := range words {
		if regexp.MustCompile(`(?i)^(` + w.pattern + `)$`).MatchString(word) {
			return w.instead
		}
	}
	return "another word"
}

// rawString matches a string between backquotes, which cannot be broken: the tag
// of a field, or a regular expression.
var rawString = regexp.MustCompile("`[^`]*`")

// checkColumns finds lines that are too long even without their raw strings. A
// tab counts as one column, as gofmt leaves the width of tabs to the reader.
func checkColumns(path string, content []byte) []finding {
	var findings []finding
	for i, line := range strings.Split(string(content), "\n") {
		n := utf8.RuneCountInString(rawString.ReplaceAllString(line, ""))
		if n > columns && !strings.HasPrefix(line, "//go:") {
			findings = append(findings, finding{path, i + 1, fmt.Sprintf("%d columns; a line ends before column %d", n, columns+1)})
		}
	}
	return findings
}

func main() {
	findings, err := check(".", os.Args[1:]...)
	if err != nil {
		fmt.Fprintln(os.Stderr, "style:", err)
		os.Exit(2)
	}
	for _, f := range findings {
		fmt.Println(f)
	}
	if len(findings) > 0 {
		os.Exit(1)
	}
}
