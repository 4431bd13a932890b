package config

import (
	"bytes"
	"fmt"
	"regexp"
	"strings"
	"unicode/utf8"
)

// statement is NAME=value as written, quotes included, without a comment.
type statement struct {
	name, value string
	line        int
}

// scanner walks the lines of an environment file.
type scanner struct {
	file       string
	lines      []string
	next       int // index of the next line
	statements []statement
	problems   []Problem
	seen       map[string]int // line of each name
}

// scanEnvironment splits a file into statements and finds everything that godotenv reads in
// another way than the user means.
func scanEnvironment(file string, data []byte) ([]statement, []Problem) {
	data = bytes.TrimPrefix(data, []byte("\uFEFF"))
	if !utf8.Valid(data) || bytes.ContainsRune(data, 0) {
		return nil, []Problem{{File: file, Text: "is not a text file in UTF-8"}}
	}
	text := strings.ReplaceAll(string(data), "\r\n", "\n")
	s := &scanner{file: file, lines: strings.Split(text, "\n"), seen: map[string]int{}}
	for s.next < len(s.lines) {
		s.statement()
	}
	return s.statements, s.problems
}

func (s *scanner) statement() {
	number := s.next + 1
	line := strings.TrimLeft(s.lines[s.next], " \t\v\f") // spaces at the end may belong to an open quote
	s.next++
	if strings.TrimSpace(line) == "" || line[0] == '#' {
		return
	}
	if strings.Contains(line, "\r") {
		s.problem(number, "", "has a carriage return inside the line")
		return
	}
	name, value, ok := strings.Cut(line, "=")
	if !ok {
		s.problem(number, "", "has no =; write NAME=value")
		return
	}
	name = trimExport(strings.TrimRight(name, " \t"))
	if !variableName.MatchString(name) {
		s.problem(number, "", "does not start with a variable name and =; names have letters, digits and underscores")
		return
	}
	if first := s.seen[name]; first > 0 {
		s.problem(number, name, fmt.Sprintf("is set a second time; the first time is line %d", first))
	}
	value = s.value(number, name, value)
	s.seen[name] = number
	s.statements = append(s.statements, statement{name: name, value: value, line: number})
}

// value returns the value after the =, without a comment. An open quote continues on the next
// lines.
func (s *scanner) value(number int, name, text string) string {
	value := strings.TrimLeft(text, " \t")
	if value == "" || value != text && value[0] == '#' {
		return ""
	}
	if value[0] != '"' && value[0] != '\'' {
		value = cutComment(value)
		s.checkDollars(number, name, value)
		return value
	}
	return s.quoted(number, name, value)
}

func (s *scanner) quoted(number int, name, value string) string {
	quote, first := value[0], value
	end := closing(value, quote)
	for end < 0 && s.next < len(s.lines) {
		value += "\n" + s.lines[s.next]
		s.next++
		end = closing(value, quote)
	}
	if end < 0 {
		s.next = number // the lines after it are read as usual
		text := "has no closing quote"
		if strings.HasSuffix(first, `\`+string(quote)) {
			text += ": a quote after a backslash does not count; write a value that ends with a backslash without quotes"
		}
		s.problem(number, name, text)
		return ""
	}
	content, rest := value[1:end], strings.TrimSpace(value[end+1:])
	if rest != "" && rest[0] != '#' {
		s.problem(number, name, "has text after the closing quote; a quote inside is written \\\" and only in double quotes")
	}
	misread := strings.HasPrefix(content, `\"`) || strings.HasSuffix(content, `\"`)
	if misread || strings.Contains(content, `\'`) && quote == '\'' {
		s.problem(number, name, "has a quote where it cannot be read; use the other kind of quotes around the value")
	}
	if quote == '"' {
		s.checkDollars(number, name, content)
		s.checkBackslashes(number, name, content)
	}
	return value[:end+1]
}

// closing returns the index of the quote that ends a value, the first one without a backslash
// before it, or -1.
func closing(value string, quote byte) int {
	for i := 1; i < len(value); i++ {
		if value[i] == quote && value[i-1] != '\\' {
			return i
		}
	}
	return -1
}

var (
	// reference matches what godotenv reads as a reference to a variable.
	reference    = regexp.MustCompile(`\\?\$\(?\{?([A-Za-z0-9_]*)\}?`)
	variableName = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*$`)
	comment      = regexp.MustCompile(`[ \t]#`) // begins a comment
)

// checkDollars allows $NAME and ${NAME} of a line above and no other $, which godotenv would
// replace by an empty string.
func (s *scanner) checkDollars(number int, name, value string) {
	if !strings.Contains(value, "$") {
		return
	}
	for _, match := range reference.FindAllStringSubmatch(value, -1) {
		whole, other := match[0], match[1]
		switch {
		case whole[0] == '\\', other == "" && whole == "$":
			continue
		case s.seen[other] == 0 || whole != "$"+other && whole != "${"+other+"}":
			s.problem(number, name, "has a $ that refers to no line above; put the value in single quotes to keep the $")
			return
		case strings.ToUpper(other) != other:
			s.problem(number, name, fmt.Sprintf("refers to %s; only names in capitals can be referred to", other))
			return
		}
	}
}

// checkBackslashes allows the escapes that godotenv knows; it would drop the
// backslash of any other, as in "C:\temp".
func (s *scanner) checkBackslashes(number int, name, content string) {
	for i := 0; i < len(content); i++ {
		if content[i] != '\\' {
			continue
		}
		i++
		if i == len(content) || !strings.ContainsRune(`nr\"$`, rune(content[i])) {
			s.problem(number, name, "has a backslash that escapes nothing; write two, or put the value in single quotes")
			return
		}
	}
}

func (s *scanner) problem(line int, name, text string) {
	s.problems = append(s.problems, Problem{File: s.file, Line: line, Key: name, Text: text})
}

// trimExport removes the word export, which lets a shell source the file.
func trimExport(name string) string {
	rest, ok := strings.CutPrefix(name, "export")
	if trimmed := strings.TrimLeft(rest, " \t"); ok && trimmed != rest {
		return trimmed
	}
	return name
}

// cutComment removes a comment.
func cutComment(value string) string { return strings.TrimRight(comment.Split(value, 2)[0], " \t") }
