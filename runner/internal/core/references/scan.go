package references

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// kind is the kind of a token.
type kind byte

const (
	word  kind = iota // an identifier, a keyword or a number
	text              // a string
	punct             // one of the signs of the language
)

// token is a piece of a source without comments.
type token struct {
	kind   kind
	text   string // of a string: without its quotes
	pieces []piece
	line   int
	column int  // of the first token of a line, or -1
	quoted byte // the quote of a string
}

// piece is a part of a string: text, or an expression between signs of interpolation.
type piece struct {
	literal    string
	expression []token
	isExpr     bool
}

// is reports whether a token is one of some words or signs.
func (t token) is(texts ...string) bool {
	return t.kind != text && slices.Contains(texts, t.text)
}

// language is what the scanner has to know of a language.
type language struct {
	hash, slashes, ml bool   // comments: # to the end of the line; // and /* */; (* *)
	quotes            string // that begin strings
	triple            bool   // """ and '''
	raw               string // quotes of strings without escapes
	indented          bool   // blocks by indentation
}

// languageOf returns the language of a file by its ending.
func languageOf(ending string) (language, bool) {
	switch ending {
	case ".py":
		return language{hash: true, quotes: `"'`, triple: true, indented: true}, true
	case ".ts", ".mts", ".cts", ".js", ".mjs", ".cjs", ".tsx", ".jsx":
		return language{slashes: true, quotes: "\"'`"}, true
	case ".go":
		return language{slashes: true, quotes: "\"'`", raw: "`"}, true
	case ".cs", ".java", ".kt", ".kts", ".scala", ".groovy":
		return language{slashes: true, quotes: `"'`, triple: true}, true
	case ".fs", ".fsx":
		return language{slashes: true, ml: true, quotes: `"`, triple: true, indented: true}, true
	case ".vb":
		return language{quotes: `"`}, true
	}
	return language{}, false
}

// scanner makes the tokens of a source.
type scanner struct {
	language
	ending string
	in     string
	at     int
	line   int
	fresh  bool // nothing but blanks since the line began
	begin  int  // of the line
	tokens []token
}

// scan returns the tokens of a source without its comments.
func scan(ending, content string, line int) []token {
	l, _ := languageOf(ending)
	s := &scanner{language: l, ending: ending, in: content, line: line, fresh: true}
	for s.at < len(s.in) {
		s.next()
	}
	return s.tokens
}

func (s *scanner) has(prefix string) bool { return strings.HasPrefix(s.in[s.at:], prefix) }

func (s *scanner) next() {
	c := s.in[s.at]
	switch {
	case c == '\n':
		s.at++
		s.line++
		s.fresh, s.begin = true, s.at
	case c == ' ' || c == '\t' || c == '\r':
		s.at++
	case s.hash && c == '#', s.slashes && s.has("//"), s.ending == ".vb" && c == '\'':
		s.skipTo("\n", false)
	case s.slashes && s.has("/*"):
		s.skipTo("*/", true)
	case s.ml && s.has("(*") && !s.has("(*)"):
		s.skipTo("*)", true)
	default:
		s.token(c)
	}
}

// skipTo skips to the next occurrence of an end, or past it.
func (s *scanner) skipTo(end string, past bool) {
	n := strings.Index(s.in[s.at:], end)
	switch {
	case n < 0:
		n = len(s.in) - s.at
	case past:
		n += len(end)
	}
	s.line += strings.Count(s.in[s.at:s.at+n], "\n")
	s.at += n
}

func (s *scanner) token(c byte) {
	t := token{line: s.line, column: -1}
	if s.fresh {
		t.column = s.at - s.begin
	}
	s.fresh = false
	start := s.at
	r, _ := utf8.DecodeRuneInString(s.in[s.at:])
	switch {
	case isNamePart(r) || r == '$' && s.ending != ".cs" && s.ending != ".fs":
		t.text = s.in[start:]
		if end := strings.IndexFunc(t.text, func(r rune) bool { return !isNamePart(r) && r != '$' }); end >= 0 {
			t.text = t.text[:end]
		}
		s.at += len(t.text)
		if s.at < len(s.in) && len(t.text) <= 2 && s.isPrefix(t.text) && strings.IndexByte(s.quotes, s.in[s.at]) >= 0 {
			s.text(&t, strings.ToLower(t.text))
		}
	case strings.IndexByte(s.quotes, c) >= 0:
		s.text(&t, "")
	case (c == '$' || c == '@') && s.quotesFollow():
		for s.in[s.at] == '$' || s.in[s.at] == '@' {
			s.at++
		}
		s.text(&t, s.in[start:s.at])
	default:
		t.kind = punct
		t.text = string(r)
		for _, long := range []string{":=", "=>", "->", "==", "!=", "<=", ">=", "??", "||", "&&", "?.", "::", "+=", "..."} {
			if s.has(long) {
				t.text = long
				break
			}
		}
		s.at += len(t.text)
	}
	s.tokens = append(s.tokens, t)
}

func isNamePart(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) || r == '_' }

// isPrefix reports whether a word before a quote belongs to the string.
func (s *scanner) isPrefix(prefix string) bool {
	switch s.ending {
	case ".py":
		return strings.Trim(strings.ToLower(prefix), "rfbu") == ""
	case ".scala":
		return prefix == "s" || prefix == "f"
	}
	return false
}

// quotesFollow reports whether a sign such as $ or @ begins a string of C# or F#.
func (s *scanner) quotesFollow() bool {
	rest := strings.TrimLeft(s.in[s.at:], "$@")
	return (s.ending == ".cs" || s.ending == ".fs" || s.ending == ".fsx" || s.ending == ".vb") && strings.HasPrefix(rest, `"`)
}

// text scans a string with its interpolations.
func (s *scanner) text(t *token, prefix string) {
	t.kind, t.quoted = text, s.in[s.at]
	end := string(t.quoted)
	if s.triple && s.has(strings.Repeat(end, 3)) {
		end = strings.Repeat(end, 3)
	}
	s.at += len(end)
	isRaw := strings.ContainsAny(prefix, "r@") || strings.IndexByte(s.raw, t.quoted) >= 0
	long := len(end) == 3 || t.quoted == '`' || strings.Contains(prefix, "@")
	var literal strings.Builder
	for s.at < len(s.in) && !s.has(end) {
		open := s.interpolation(prefix, t.quoted)
		switch {
		case open != "":
			t.pieces = append(t.pieces, piece{literal: literal.String()})
			literal.Reset()
			t.pieces = append(t.pieces, piece{isExpr: true, expression: s.expression(open)})
			continue
		case s.in[s.at] == '\\' && !isRaw && s.at+1 < len(s.in):
			s.at++
			literal.WriteByte(s.in[s.at])
		case (strings.Contains(prefix, "f") || strings.Contains(prefix, "$")) && (s.has("{{") || s.has("}}")):
			s.at++
			literal.WriteByte(s.in[s.at])
		case s.in[s.at] == '\n' && !long:
			end = "" // not closed: not a string of this language, such as a regular expression
		default:
			literal.WriteByte(s.in[s.at])
		}
		if end == "" {
			break
		}
		if s.in[s.at] == '\n' {
			s.line++
		}
		s.at++
	}
	if s.at < len(s.in) {
		s.at += len(end)
	}
	t.pieces = append(t.pieces, piece{literal: literal.String()})
	t.text = ""
	for _, p := range t.pieces {
		if p.isExpr {
			t.text += unknown
		}
		t.text += p.literal
	}
}

// interpolation returns the signs that begin an expression in a string here, or "".
func (s *scanner) interpolation(prefix string, quote byte) string {
	switch s.ending {
	case ".py":
		if strings.Contains(prefix, "f") && s.has("{") && !s.has("{{") {
			return "{"
		}
	case ".cs", ".fs", ".fsx", ".vb":
		if strings.Contains(prefix, "$") && s.has("{") && !s.has("{{") {
			return "{"
		}
	case ".kt", ".kts", ".scala", ".groovy":
		if s.has("${") {
			return "${"
		}
		if s.has("$") && s.at+1 < len(s.in) && unicode.IsLetter(rune(s.in[s.at+1])) {
			return "$"
		}
	case ".go", ".java":
	default:
		if quote == '`' && s.has("${") {
			return "${"
		}
	}
	return ""
}

// expression scans the expression of an interpolation.
func (s *scanner) expression(open string) []token {
	s.at += len(open)
	start := s.at
	if open == "$" {
		for s.at < len(s.in) && isNamePart(rune(s.in[s.at])) {
			s.at++
		}
		return scan(s.ending, s.in[start:s.at], s.line)
	}
	depth := 1
	for ; s.at < len(s.in); s.at++ {
		switch s.in[s.at] {
		case '{':
			depth++
		case '}':
			depth--
		case '\n':
			s.line++
		}
		if depth == 0 {
			break
		}
	}
	inner := scan(s.ending, s.in[start:min(s.at, len(s.in))], s.line)
	s.at = min(s.at+1, len(s.in))
	return inner
}
