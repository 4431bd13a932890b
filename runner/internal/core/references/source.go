package references

import (
	"path/filepath"
	"slices"
	"strings"
)

// source is a file of the repository.
type source struct {
	path    string // absolute
	ending  string
	content string

	scanned     bool
	tokens      []token
	functions   []*function
	assignments []assignment
}

// function is a definition of a function or method.
type function struct {
	name       string // of a constructor: the class
	params     []parameter
	start, end int // of its body, as tokens
	returns    int // the expression that is its body, or -1
}

type parameter struct {
	name  string
	value int // its default as a token, or -1
}

// assignment gives an expression to a name.
type assignment struct {
	name       string
	at         int // the name
	expression int
	property   bool // of an object
}

func (f *source) isYAML() bool { return f.ending == ".yaml" || f.ending == ".yml" }

// mentionsReference reports whether the file may have a StackReference, or a call of stackReference in YAML.
func (f *source) mentionsReference() bool { return strings.Contains(f.content, "tackReference") }

// scan finds the tokens, functions and assignments of the file.
func (f *source) scan() {
	if f.scanned {
		return
	}
	f.scanned = true
	f.tokens = scan(f.ending, f.content, 1)
	depth := 0
	for i, t := range f.tokens {
		switch {
		case t.is("(", "["):
			depth++
		case t.is(")", "]"):
			depth--
		}
		f.findFunction(i)
		if f.ending != ".py" || depth <= 0 || t.kind == text { // not a named argument of Python
			f.findAssignment(i)
		}
	}
}

func (f *source) token(i int) token { return tokenAt(f.tokens, i) }

// tokenAt returns a token of a list, or an empty sign before and after it.
func tokenAt(tokens []token, i int) token {
	if i < 0 || i >= len(tokens) {
		return token{kind: punct}
	}
	return tokens[i]
}

// closing returns the token that closes the bracket at i, or the end of the file.
func closing(tokens []token, i int) int {
	depth := 0
	for ; i < len(tokens); i++ {
		switch {
		case tokens[i].is("(", "[", "{"):
			depth++
		case tokens[i].is(")", "]", "}"):
			if depth--; depth == 0 {
				return i
			}
		}
	}
	return len(tokens)
}

// sites returns the tokens StackReference that make a reference.
func (f *source) sites() []int {
	f.scan()
	var all []int
	for i, t := range f.tokens {
		if t.kind != word || t.text != "StackReference" && t.text != "NewStackReference" {
			continue
		}
		if f.ending == ".cs" {
			all = append(all, f.typedNews(i)...)
		}
		if f.token(i-1).is("def", "func", "function", "class", "extends", "fun") || !f.token(f.skipGenerics(i+1)).is("(") {
			continue
		}
		all = append(all, i)
	}
	return all
}

// typedNews returns the tokens new, without a type, of what a token of C# is the type of: StackReference Net = new("...").
func (f *source) typedNews(at int) []int {
	name := at + 1
	if f.token(name).is("?") {
		name++
	}
	after := name + 1
	if f.token(name).kind != word || f.token(name).is("new") {
		return nil
	}
	if f.token(after).is("(") {
		after = closing(f.tokens, after) + 1
	}
	isNew := func(i int) bool { return f.token(i).is("new") && f.token(i+1).is("(") }
	var all []int
	if f.token(after).is("{") { // of a method or a property
		end := closing(f.tokens, after)
		for i := after; i < end; i++ {
			if f.tokens[i].is("return", "=>") && isNew(i+1) {
				all = append(all, i+1)
			}
		}
		after = end + 1
	}
	if f.token(after).is("=", "=>") && isNew(after+1) {
		all = append(all, after+1)
	}
	return all
}

// skipGenerics returns the token after type parameters at i, if there are any.
func (f *source) skipGenerics(i int) int {
	if !f.token(i).is("<") || f.ending == ".py" { // Python has no types in angle brackets
		return i
	}
	depth := 0
	for j := i; j < min(i+40, len(f.tokens)); j++ {
		switch {
		case f.tokens[j].is("<"):
			depth++
		case f.tokens[j].is(">"):
			if depth--; depth == 0 {
				return j + 1
			}
		}
	}
	return i
}

// referenceName returns the token at which the name of a reference's stack begins.
func (f *source) referenceName(site int) int {
	open := f.skipGenerics(site + 1)
	end := closing(f.tokens, open)
	for i := open + 1; i < end; i++ {
		t := f.tokens[i]
		switch {
		case t.is("stack_name", "stackName", "name", "Name") && f.token(i+1).is("=", ":") && !f.token(i-1).is("?", "."):
			return i + 2
		case t.is("name") && f.token(i-1).is(".") && f.token(i+1).is("(") && !f.token(i+2).is(")") && f.ending != ".py":
			return i + 2
		}
	}
	if f.ending != ".go" {
		return open + 1
	}
	for i := open + 1; i < end; i++ { // after the context
		switch {
		case f.tokens[i].is("(", "[", "{"):
			i = closing(f.tokens, i)
		case f.tokens[i].is(","):
			return i + 1
		}
	}
	return open + 1
}

// functionAt returns the innermost function around a token.
func (f *source) functionAt(at int) *function {
	f.scan()
	var inner *function
	for _, fn := range f.functions {
		if fn.start <= at && at < fn.end && (inner == nil || fn.start >= inner.start) {
			inner = fn
		}
	}
	return inner
}

// keywords are words before a parenthesis and a block that define no function.
var keywords = []string{"if", "for", "while", "switch", "catch", "foreach", "using", "lock", "return", "new", "else",
	"function", "synchronized", "try", "when", "await", "do", "typeof", "with"}

// findFunction records the function that a token begins.
func (f *source) findFunction(i int) {
	t, next := f.tokens[i], f.token(i+1)
	if t.kind != word {
		return
	}
	switch {
	case t.is("def", "function", "fun") && next.kind == word && f.token(i+2).is("("):
		f.addFunction(next.text, i+1, i+2)
	case t.is("func") && f.ending == ".go":
		at := i + 1
		if next.is("(") { // the receiver
			at = closing(f.tokens, i+1) + 1
		}
		if f.token(at).kind == word && f.token(at+1).is("(") {
			f.addFunction(f.tokens[at].text, at, at+1)
		}
	case next.is("=") && (f.token(i+2).is("(") || f.token(i+2).is("async") && f.token(i+3).is("(")):
		open := i + 2
		if f.tokens[open].is("async") {
			open++
		}
		if after := f.skipType(closing(f.tokens, open) + 1); f.token(after).is("=>") {
			f.addArrow(t.text, f.parameters(open), after+1)
		}
	case next.is("=") && f.token(i+2).kind == word && f.token(i+3).is("=>"):
		f.addArrow(t.text, []parameter{{f.tokens[i+2].text, -1}}, i+4)
	case next.is("=") && f.token(i+2).is("function") && f.token(i+3).is("("):
		f.addFunction(t.text, i, i+3)
	case next.is("(") && f.hasMethods() && !slices.Contains(keywords, t.text) && !f.token(i-1).is("new", ".", "function"):
		after := f.skipType(closing(f.tokens, i+1) + 1)
		if f.token(after).is("{") || f.ending == ".cs" && f.token(after).is("=>") && f.token(i-1).kind == word {
			name := t.text
			if name == "constructor" {
				name = f.class(i)
			}
			f.addFunction(name, i, i+1)
		}
	}
}

// hasMethods reports whether the language defines methods without a keyword.
func (f *source) hasMethods() bool {
	return !slices.Contains([]string{".py", ".go", ".kt", ".kts", ".scala", ".fs", ".fsx", ".vb"}, f.ending)
}

// class returns the name of the last class before a token.
func (f *source) class(i int) string {
	for ; i > 0; i-- {
		if f.tokens[i-1].is("class") {
			return f.tokens[i].text
		}
	}
	return ""
}

// skipType returns the token after the type of a result at i, if there is one.
func (f *source) skipType(i int) int {
	if !f.token(i).is(":", "->", "throws") {
		return i
	}
	for i++; i < len(f.tokens); i++ {
		switch t := f.tokens[i]; {
		case t.is("=>", "{", "=", ";", ":"):
			return i
		case t.is("(", "["):
			i = closing(f.tokens, i)
		}
	}
	return i
}

func (f *source) addArrow(name string, params []parameter, body int) {
	if f.token(body).is("{") {
		f.functions = append(f.functions, &function{name, params, body, closing(f.tokens, body), -1})
		return
	}
	f.functions = append(f.functions, &function{name, params, body, f.expressionEnd(body), body})
}

// addFunction adds a function with its name and its parameters' parenthesis.
func (f *source) addFunction(name string, at, open int) {
	params := f.parameters(open)
	after := closing(f.tokens, open) + 1
	if f.ending == ".py" {
		if name == "__init__" {
			name = f.class(at)
		}
		if len(params) > 0 && (params[0].name == "self" || params[0].name == "cls") {
			params = params[1:]
		}
		for after < len(f.tokens) && !f.tokens[after].is(":") {
			after++
		}
		start := after + 1
		f.functions = append(f.functions, &function{name, params, start, f.blockEnd(at, start), -1})
		return
	}
	if f.ending == ".go" {
		for after < len(f.tokens) && !f.tokens[after].is("{") && f.tokens[after].column < 0 {
			after++
		}
	} else {
		after = f.skipType(after)
	}
	switch {
	case f.token(after).is("{"):
		f.functions = append(f.functions, &function{name, params, after, closing(f.tokens, after), -1})
	case f.token(after).is("=>", "="):
		f.functions = append(f.functions, &function{name, params, after + 1, f.expressionEnd(after + 1), after + 1})
	}
}

// blockEnd returns the end of an indented block whose head has the token at.
func (f *source) blockEnd(at, start int) int {
	for at > 0 && f.tokens[at].column < 0 {
		at--
	}
	head := f.tokens[at].column
	for i := start; i < len(f.tokens); i++ {
		if c := f.tokens[i].column; c >= 0 && c <= head && !f.tokens[i].is(")", "]", "}") {
			return i
		}
	}
	return len(f.tokens)
}

// expressionEnd returns about where an expression ends.
func (f *source) expressionEnd(i int) int {
	lines := !f.endsWithSemicolons()
	for first := i; i < len(f.tokens); i++ {
		switch {
		case lines && i > first && f.tokens[i].column >= 0:
			return i
		case f.tokens[i].is("(", "[", "{"):
			i = closing(f.tokens, i)
		case f.tokens[i].is(";", ")", "]", "}", ","):
			return i
		}
	}
	return i
}

// parameters returns the parameters of a function.
func (f *source) parameters(open int) []parameter {
	end := closing(f.tokens, open)
	var all []parameter
	last := f.ending == ".cs" || f.ending == ".java" // type before name
	p := parameter{value: -1}
	add := func() {
		if p.name != "" {
			all = append(all, p)
		}
		p = parameter{value: -1}
	}
	inType := false
	for i := open + 1; i < end; i++ {
		t := f.tokens[i]
		switch {
		case t.is(","):
			add()
			inType = false
		case t.is("="):
			p.value = i + 1
			inType = true
		case t.is(":"):
			inType = true
		case t.is("(", "[", "{", "<"):
			if t.is("<") { // of a type, or less than
				i = max(i, f.skipGenerics(i)-1)
				continue
			}
			i = closing(f.tokens, i)
		case t.kind == word && !inType && (last || p.name == "") && !t.is("public", "private", "readonly", "this", "final"):
			p.name = t.text
		}
	}
	add()
	return all
}

// findAssignment records the assignment to a token.
func (f *source) findAssignment(i int) {
	t, next := f.tokens[i], f.token(i+1)
	if t.kind == text {
		if next.is(":") && !f.token(i-1).is("?", "case") || f.token(i-1).is("[") && next.is("]") && f.token(i+2).is("=") {
			at := i + 2
			if next.is("]") {
				at = i + 3
			}
			f.assignments = append(f.assignments, assignment{t.text, i, at, true})
		}
		return
	}
	if t.kind != word {
		return
	}
	switch {
	case next.is("=", ":="):
		property := f.token(i-1).is(".") && !f.token(i-2).is("self", "this") ||
			f.token(i-1).is("{", ",") && (f.ending == ".cs" || f.ending == ".vb")
		f.assignments = append(f.assignments, assignment{t.text, i, i + 2, property})
	case next.is(",") && f.ending == ".go": // name, err := f()
		for j := i + 1; j < min(i+6, len(f.tokens)); j++ {
			if f.tokens[j].is(":=", "=") {
				f.assignments = append(f.assignments, assignment{t.text, i, j + 1, false})
				break
			}
			if !f.tokens[j].is(",") && f.tokens[j].kind != word {
				break
			}
		}
	case next.is(":") && f.token(i-1).is("{", ",") && f.ending != ".py":
		f.assignments = append(f.assignments, assignment{t.text, i, i + 2, true})
	case next.is(":", "?") || f.ending == ".go" && next.kind == word && f.token(i-1).is("var", "const", "("):
		for j := i + 2; j < min(i+14, len(f.tokens)); j++ { // name: type = value
			if f.tokens[j].is("=") {
				f.assignments = append(f.assignments, assignment{t.text, i, j + 1, false})
				break
			}
			if f.tokens[j].is(";", ",", ")", "{", "}", "=>", "(") || f.tokens[j].column >= 0 {
				break
			}
		}
	}
}

// endsWithSemicolons reports whether an expression may continue on the next line.
func (f *source) endsWithSemicolons() bool {
	endings := []string{".ts", ".js", ".mts", ".mjs", ".cts", ".cjs", ".tsx", ".jsx", ".cs", ".java"}
	return slices.Contains(endings, f.ending)
}

// indentation returns the column at which the line of a token begins.
func (f *source) indentation(i int) int {
	for i > 0 && f.tokens[i].column < 0 {
		i--
	}
	return f.token(i).column
}

func (f *source) dir() string { return filepath.Dir(f.path) }
