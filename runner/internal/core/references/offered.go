package references

import (
	"fmt"
	"slices"
	"strings"
)

// use says how the program uses something that an imported file offers.
type use int

// The uses, from the weakest.
const (
	unused use = iota // the program does not name it
	named             // it has the word, but not as a member of the import
	used              // it calls it, accesses it as a member of the import, or imports it by its name
)

// offer is how a program uses what a library offers, and where.
type offer struct {
	use  use
	file *source
	line int
}

// readOffered reads a reference in a file that the program imports. What the file only offers, and the program does not
// use, is no edge. alone says that the file has no other reference.
func (s *search) readOffered(f *source, at int, alone bool) {
	through := fmt.Sprintf(", through %s:%d", s.repository.shown(f.path), f.tokens[at].line)
	name := f.referenceName(at)
	enclosing := f.functionAt(at)
	if enclosing == nil {
		found := s.useOfHolder(f, at)
		if found.use != used && alone {
			found.use = used
		}
		if found.use != used { // importing the file may make the reference, whatever the program names
			found.use = named
		}
		s.settleOffered(found, f, at, s.evaluate(f, name, frame{}), through)
		return
	}
	calls := s.callsOf(f, enclosing)
	for _, c := range calls {
		values := s.evaluate(f, name, frame{function: enclosing, bound: c.bound, depth: 1})
		found := offer{used, c.file, c.line}
		if !slices.Contains(s.own, c.file) {
			found = s.useAround(c.file, c.at, map[string]bool{})
		}
		s.settleOffered(found, f, at, values, through)
	}
	if len(calls) == 0 { // a getter, or a property with a decorator
		found := s.useOf(f, enclosing.name)
		s.settleOffered(found, f, at, s.evaluate(f, name, frame{function: enclosing}), through)
	}
}

// settleOffered records a reference of an imported file as the program uses it.
func (s *search) settleOffered(found offer, f *source, at int, values []value, through string) {
	if found.use == unused {
		return
	}
	file, line := found.file, found.line
	if file == nil {
		file, line, through = f, f.tokens[at].line, ""
	}
	if found.use == used {
		s.settle(file, line, values, through)
		return
	}
	place := fmt.Sprintf("%s:%d", s.repository.shown(file.path), line)
	s.found.Sites++
	resolved := false
	for _, v := range values {
		segment, ok := projectSegment(v.text)
		if !ok || strings.Contains(segment, unknown) || !s.repository.isProject(segment) {
			continue
		}
		resolved = true
		if segment != s.project.Name {
			s.add(Edge{segment, place + through + v.shownOrigins() + ": the program may not use it", Doubtful})
		}
	}
	if !resolved && !slices.Contains(s.found.Computed, place) {
		s.found.Computed = append(s.found.Computed, place)
	}
}

// useAround returns how the program uses what contains a token of an imported file: the function, or the property.
func (s *search) useAround(f *source, at int, seen map[string]bool) offer {
	enclosing := f.functionAt(at)
	if enclosing == nil {
		return s.useOfHolder(f, at)
	}
	key := fmt.Sprintf("%s:%d", f.path, enclosing.start)
	if seen[key] {
		return offer{}
	}
	seen[key] = true
	best := s.useOf(f, enclosing.name)
	for _, c := range s.callsOf(f, enclosing) {
		if best.use == used {
			break
		}
		if slices.Contains(s.own, c.file) {
			return offer{used, c.file, c.line}
		}
		if found := s.useAround(c.file, c.at, seen); found.use > best.use {
			best = found
		}
	}
	return best
}

// useOfHolder returns how the program uses the property or the constant that holds a token. A member of a class counts
// only if the program uses that class.
func (s *search) useOfHolder(f *source, at int) offer {
	name, begin := "", -1
	for _, a := range f.assignments { // the innermost one
		if a.expression <= at && at < max(f.expressionEnd(a.expression), a.expression+1) && a.expression > begin {
			name, begin = a.name, a.expression
		}
	}
	for i := at; i > max(0, at-12) && !f.tokens[i].is(";", "{", "}"); i-- {
		if f.tokens[i].is("=>") && f.token(i-1).kind == word && i > begin { // a property of C#
			name, begin = f.tokens[i-1].text, i
		}
	}
	if i := f.keyOfLambda(at); i > begin {
		name, begin = f.tokens[i].text, i
	}
	if i := f.accessorAround(at); i > begin {
		name = f.tokens[i].text
	}
	if class := f.classAround(at); class != "" && s.useOf(f, class).use != used {
		return offer{}
	}
	return s.useOf(f, name)
}

// keyOfLambda returns the text before the function that makes the reference, as in Map.of("net", () -> ...), or -1.
func (f *source) keyOfLambda(at int) int {
	if f.token(at - 1).is("new") {
		at--
	}
	if f.token(at-1).is("->", "=>") && f.token(at-2).is(")") && f.token(at-3).is("(") && f.token(at-4).is(",") && f.token(at-5).kind == text {
		return at - 5
	}
	return -1
}

// accessorAround returns the name of the property of C# whose accessor has a token: Net { get { ... } }, or -1.
func (f *source) accessorAround(at int) int {
	if f.ending != ".cs" {
		return -1
	}
	depth, isAccessor := 0, false
	for i := at; i > 0; i-- {
		switch {
		case f.tokens[i].is("}"):
			depth++
		case !f.tokens[i].is("{"):
		case depth > 0:
			depth--
		case f.token(i - 1).is("get"):
			isAccessor = true
		case isAccessor && f.token(i-1).kind == word:
			return i - 1
		case isAccessor:
			return -1
		}
	}
	return -1
}

// classAround returns the class whose body has a token, "" for none, and in Python, where the import makes its members.
func (f *source) classAround(at int) (class string) {
	for i, t := range f.tokens[:at] {
		if !t.is("class") || f.token(i+1).kind != word || f.ending == ".py" {
			continue
		}
		open := i + 2
		for open < at && !f.tokens[open].is("{") {
			open++
		}
		if open < at && closing(f.tokens, open) > at {
			class = f.tokens[i+1].text
		}
	}
	return class
}

// useOf returns how the program's own files use a name of an imported file.
func (s *search) useOf(f *source, name string) offer {
	var best offer
	if name == "" {
		return best
	}
	for _, own := range s.own {
		if own.ending != f.ending || !strings.Contains(own.content, name) {
			continue
		}
		own.scan()
		for i, t := range own.tokens {
			if t.text != name || t.kind != word && t.kind != text {
				continue
			}
			how := named
			switch {
			case t.kind == text: // refs["net"], or refs.get("net")
				isKey := own.token(i-1).is("[") && own.token(i+1).is("]") && s.isOfImport(own, f, i-2)
				if !isKey && !(own.token(i-1).is("(") && own.token(i-2).is("get") && s.isOfImport(own, f, i-4)) {
					continue
				}
				how = used
			case own.token(i-1).is("def", "func", "function", "fun", "class"):
				continue
			case own.isImportedAt(i), f.hasClass(name) && (own.token(i+1).is(".", "(") || own.token(i-1).is("new")):
				how = used
			case own.token(i-1).is(".") && s.isOfImport(own, f, i-2):
				how = used
			}
			if how > best.use {
				best = offer{how, own, t.line}
			}
		}
	}
	return best
}

// hasClass reports whether a file defines a class.
func (f *source) hasClass(name string) bool {
	f.scan()
	for i, t := range f.tokens {
		if t.is("class", "object", "record", "struct") && f.token(i+1).kind == word && f.tokens[i+1].text == name {
			return true
		}
	}
	return false
}

// isImportedAt reports whether a word is one that an import names.
func (f *source) isImportedAt(at int) bool {
	for i := at; i >= max(0, at-60); i-- {
		t := f.tokens[i]
		switch {
		case i < at && t.is("import"):
			return true
		case i < at && t.kind != word && !t.is(",", "{", "(", "."):
			return false
		case t.column >= 0 && !f.token(i-1).is(",", "{", "("): // another statement
			return false
		}
	}
	return false
}

// isOfImport reports whether the object that ends at a token comes from an import of the file: an imported module or
// class, something made of one, or a variable with such a value.
func (s *search) isOfImport(own, library *source, at int) bool {
	imported := s.importedWords(own, library)
	for i := at; i >= 0; i-- {
		t := own.tokens[i]
		switch {
		case t.is(")", "]"):
			depth := 0
			for ; i >= 0; i-- {
				if own.tokens[i].is(")", "]") {
					depth++
				} else if own.tokens[i].is("(", "[") {
					if depth--; depth == 0 {
						break
					}
				}
			}
		case t.kind == word && imported[t.text]:
			return true
		case t.kind != word && !t.is(".", "?", "!"):
			return false
		case t.kind == word && !own.token(i-1).is(".", "?", "!", "new", "await"):
			return false
		}
	}
	return false
}

// importedWords returns the words of a file that stand for what a library has: imported names, classes and modules of
// it, and variables and parameters made of those.
func (s *search) importedWords(own, library *source) map[string]bool {
	key := [2]*source{own, library}
	if words, ok := s.words[key]; ok {
		return words
	}
	words := map[string]bool{}
	if s.words == nil {
		s.words = map[[2]*source]map[string]bool{}
	}
	s.words[key] = words
	for i, t := range own.tokens {
		if t.kind == word && own.isImportedAt(i) {
			words[t.text] = true
		}
		if t.kind == text && own.ending == ".go" { // the last part of an import's path
			words[t.text[strings.LastIndex(t.text, "/")+1:]] = true
		}
	}
	library.scan()
	for i, t := range library.tokens {
		if t.kind == word && library.token(i-1).is("class", "object", "record", "struct", "module", "namespace") {
			words[t.text] = true
		}
	}
	for range 2 { // through a variable, and one more
		for _, a := range own.assignments {
			end := min(max(own.expressionEnd(a.expression), a.expression+1), len(own.tokens))
			if slices.ContainsFunc(own.tokens[min(a.expression, end):end], func(t token) bool {
				return t.kind == word && words[t.text]
			}) {
				words[a.name] = true
			}
		}
		for i, t := range own.tokens { // name: Class, of a parameter or a field
			if t.kind == word && own.token(i+1).is(":") && words[own.token(i+2).text] {
				words[t.text] = true
			}
		}
	}
	return words
}
