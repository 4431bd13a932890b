package references

import (
	"iter"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"mara/config/lists"
)

// lookup returns the values of a name in a file, in the files it imports, or in other files of the project.
func (s *search) lookup(f *source, name string, at int, in frame, property bool) []value {
	if in.depth > maxDepth {
		return nil
	}
	in.depth++
	if values := s.inFile(f, name, at, in, property); len(values) > 0 {
		return values
	}
	for other := range f.alike(s.imports[f], s.own) {
		if other == f {
			continue
		}
		if values := s.inFile(other, name, len(other.tokens), frame{depth: in.depth}, true); len(values) > 0 {
			return values
		}
	}
	return nil
}

// alike yields the files in the language of this one, scanned.
func (f *source) alike(lists ...[]*source) iter.Seq[*source] {
	return func(yield func(*source) bool) {
		for _, list := range lists {
			for _, other := range list {
				if other.ending != f.ending {
					continue
				}
				if other.scan(); !yield(other) {
					return
				}
			}
		}
	}
}

// inFile returns the values of a name before a token of a file: those of the last assignment, and of earlier ones if it
// is in a branch.
func (s *search) inFile(f *source, name string, at int, in frame, property bool) []value {
	f.scan()
	var values []value
	for _, scope := range []*function{in.function, nil} {
		for _, a := range slices.Backward(f.assignments) {
			if a.name != name || a.property && !property || a.at <= at && at < f.expressionEnd(a.expression) {
				continue
			}
			inner := f.functionAt(a.at)
			if inner != scope && (!property || scope != nil) || scope == in.function && a.at > at {
				continue
			}
			where := frame{function: inner, depth: in.depth}
			if inner == in.function {
				where.bound = in.bound
			}
			values = append(values, s.evaluate(f, a.expression, where)...)
			if at >= len(f.tokens) || f.indentation(a.at) <= f.indentation(at) {
				break
			}
		}
		if len(values) > 0 || in.function == nil {
			break
		}
	}
	return distinct(values)
}

// property returns the values of a member of an object, a module or a class.
func (p *parser) property(object, member string) []value {
	if _, ok := p.bound[object]; ok || p.depth > maxDepth {
		return nil
	}
	in := frame{depth: p.depth + 1}
	if slices.Contains([]string{"self", "this", "cls"}, object) {
		return p.inFile(p.f, member, len(p.f.tokens), in, true)
	}
	var assigned bool
	for f := range p.f.alike([]*source{p.f}, p.imports[p.f], p.own) {
		for _, a := range f.assignments {
			if a.name != object || a.property {
				continue
			}
			assigned = true
			if values := p.inLiteral(f, a.expression, member, in); len(values) > 0 {
				return values
			}
		}
	}
	if assigned {
		return nil
	}
	for f := range p.f.alike(p.imports[p.f], p.own) { // a constant of a module or class
		if values := p.inFile(f, member, len(f.tokens), in, false); len(values) > 0 {
			return values
		}
	}
	return nil
}

// inLiteral returns the values of a member of the object that an expression makes.
func (p *parser) inLiteral(f *source, expression int, member string, in frame) []value {
	open := expression
	for open < min(expression+6, len(f.tokens)) && !f.tokens[open].is("{") {
		if f.tokens[open].kind != word && !f.tokens[open].is(".", "[", "]", "&") {
			return nil
		}
		open++
	}
	end := closing(f.tokens, open)
	for _, a := range f.assignments {
		if open < a.at && a.at < end && a.property && a.name == member {
			return p.evaluate(f, a.expression, in)
		}
	}
	return nil
}

// functionNamed returns the definition of a function that a file calls.
func (s *search) functionNamed(f *source, name string) (*source, *function) {
	for other := range f.alike([]*source{f}, s.imports[f], s.own, s.files) {
		if fn, ok := lists.Find(other.functions, func(fn *function) bool { return fn.name == name }); ok {
			return other, fn
		}
	}
	return nil, nil
}

// functionCall is a call of a function, with the values of its arguments.
type functionCall struct {
	file  *source
	at    int // the token
	line  int
	bound map[string][]value
}

// callsOf returns the calls of a function in the files of the search.
func (s *search) callsOf(f *source, fn *function) []functionCall {
	var calls []functionCall
	for _, other := range s.files {
		if other.ending != f.ending || !strings.Contains(other.content, fn.name) || fn.name == "" {
			continue
		}
		other.scan()
		for i, t := range other.tokens {
			if t.kind != word || t.text != fn.name || other.token(i-1).is("def", "func", "function", "fun", "class") {
				continue
			}
			open := other.skipGenerics(i + 1)
			if !other.token(open).is("(") || other == f && open < fn.start && closing(other.tokens, open) >= fn.start-8 &&
				other.functionAt(fn.start) == fn && other.functionAt(i) != fn && fn.start-closing(other.tokens, open) <= 3 {
				continue
			}
			p := &parser{search: s, f: other, tokens: other.tokens, at: open,
				frame: frame{function: other.functionAt(i), depth: 1}, position: i}
			calls = append(calls, functionCall{other, i, t.line, s.bind(f, fn, p.arguments(), 1)})
		}
	}
	return calls
}

// importsOf returns the files of the repository that a file imports, except those of its own project.
func (r *Repository) importsOf(f *source, p Project) []*source {
	var all []*source
	add := func(files ...*source) {
		for _, other := range files {
			if other != f && other.ending == f.ending && !slices.Contains(all, other) {
				all = append(all, other)
			}
		}
	}
	if f.isYAML() {
		return nil
	}
	f.scan()
	switch f.ending {
	case ".py":
		for _, module := range pythonImports(f.tokens) {
			add(r.pythonModule(f, module)...)
		}
	case ".cs", ".fs", ".vb":
		for _, dir := range r.projectReferences[p.Dir] {
			add(r.under(dir)...)
		}
	case ".java", ".kt", ".kts", ".scala", ".groovy":
		for _, name := range javaImports(f.tokens) {
			add(r.javaClass(f, name)...)
		}
	default:
		for i, t := range f.tokens {
			if t.kind != text || len(t.text) < 2 || strings.ContainsAny(t.text, " \n"+unknown) {
				continue
			}
			if f.ending == ".go" || f.token(i-1).is("from", "import", "(") {
				add(r.imported(f, t.text)...)
			}
		}
	}
	return all
}

// imported returns the files of an import of TypeScript or Go.
func (r *Repository) imported(f *source, name string) []*source {
	if f.ending == ".go" {
		return r.goPackage(name)
	}
	base := filepath.Join(f.dir(), filepath.FromSlash(name))
	if !strings.HasPrefix(name, ".") {
		parts := strings.SplitN(name, "/", 3)
		pkg := parts[0]
		if strings.HasPrefix(pkg, "@") && len(parts) > 1 {
			pkg += "/" + parts[1]
		}
		dir, ok := r.packages[pkg]
		if !ok {
			return nil
		}
		if name == pkg {
			return r.under(dir)
		}
		base = filepath.Join(dir, strings.TrimPrefix(name, pkg))
	}
	var files []*source
	for _, candidate := range []string{base, strings.TrimSuffix(base, ".js"), filepath.Join(base, "index")} {
		for _, ending := range []string{"", ".ts", ".js", ".mts", ".mjs", ".tsx"} {
			if file := r.byPath[candidate+ending]; file != nil && !slices.Contains(files, file) {
				files = append(files, file)
			}
		}
	}
	return files
}

// goPackage returns the files of the directory whose path is the end of an import.
func (r *Repository) goPackage(name string) []*source {
	for more := strings.Contains(name, "/"); more; _, name, more = strings.Cut(name, "/") {
		if files := r.goDirs[name]; len(files) > 0 {
			return files
		}
	}
	return nil
}

// pythonImports returns the modules that a file of Python imports, with dots.
func pythonImports(tokens []token) []string {
	var all []string
	for i := 0; i < len(tokens); i++ {
		if !tokens[i].is("import", "from") || tokens[i].column < 0 {
			continue
		}
		module := ""
		j := i + 1
		for ; j < len(tokens) && isModulePart(tokens[j]); j++ {
			module += tokens[j].text
		}
		all = append(all, module)
		if !tokens[i].is("from") || !tokenAt(tokens, j).is("import") {
			continue
		}
		for j++; j < len(tokens) && isImportedName(tokens[j]); j++ {
			if tokens[j].kind == word {
				all = append(all, strings.TrimSuffix(module, ".")+"."+tokens[j].text)
			}
		}
	}
	return all
}

// javaImports returns what a file of Java, or of a language like it, imports: classes, their members, and packages with
// "*" as the last part.
func javaImports(tokens []token) [][]string {
	var all [][]string
	for i, t := range tokens {
		if !t.is("import") {
			continue
		}
		var parts []string
		j := i + 1
		if tokenAt(tokens, j).is("static") {
			j++
		}
		for ; j < len(tokens) && (tokens[j].kind == word || tokens[j].is("*")); j += 2 {
			parts = append(parts, tokens[j].text)
			if !tokenAt(tokens, j+1).is(".") {
				break
			}
		}
		all = append(all, parts)
	}
	return all
}

// javaClass returns the file of an imported class, or of the class that has an imported member, or the files of an
// imported package. Of several with its path it takes the nearest ones.
func (r *Repository) javaClass(f *source, parts []string) []*source {
	last := len(parts) - 1
	if last < 1 {
		return nil
	}
	var found []*source
	add := func(key string, suffix []string) {
		for _, file := range r.java[key] {
			if file.ending == f.ending && strings.HasSuffix(filepath.ToSlash(file.dir()), "/"+strings.Join(suffix, "/")) {
				found = append(found, file)
			}
		}
	}
	if parts[last] == "*" {
		add(parts[last-1]+"/", parts[:last])
	} else {
		add(parts[last], parts[:last])
	}
	if last > 1 { // a member of a class
		add(parts[last-1], parts[:last-1])
	}
	nearest := 0
	for _, file := range found {
		nearest = max(nearest, common(file.dir(), f.path))
	}
	return slices.DeleteFunc(found, func(file *source) bool { return common(file.dir(), f.path) < nearest })
}

// isModulePart reports whether a token is a part of a module's name on the same line.
func isModulePart(t token) bool {
	return t.column < 0 && (t.kind == word && !t.is("import", "as") || t.is(".", "..."))
}

// isImportedName reports whether a token belongs to the list of what is imported from a module.
func isImportedName(t token) bool {
	return (t.column < 0 || !t.is("import", "from")) && (t.kind == word || t.is("(", ","))
}

// pythonModule returns the file of a module. Of several with its path it takes the nearest one.
func (r *Repository) pythonModule(f *source, module string) []*source {
	if strings.HasPrefix(module, ".") {
		base := f.dir()
		rest := strings.TrimPrefix(module, ".")
		for strings.HasPrefix(rest, ".") {
			base, rest = filepath.Dir(base), rest[1:]
		}
		base = filepath.Join(base, strings.ReplaceAll(rest, ".", "/"))
		return slices.DeleteFunc([]*source{r.byPath[base+".py"], r.byPath[filepath.Join(base, "__init__.py")]},
			func(s *source) bool { return s == nil })
	}
	suffix := "/" + strings.ReplaceAll(module, ".", "/")
	var best *source
	for _, file := range r.python[path.Base(suffix)] {
		stem := strings.TrimSuffix(strings.TrimSuffix(filepath.ToSlash(file.path), ".py"), "/__init__")
		if strings.HasSuffix(stem, suffix) && (best == nil || common(file.path, f.path) > common(best.path, f.path)) {
			best = file
		}
	}
	if best == nil {
		return nil
	}
	return []*source{best}
}

// common returns how many characters two paths share from the left.
func common(a, b string) int {
	n := 0
	for n < len(a) && n < len(b) && a[n] == b[n] {
		n++
	}
	return n
}
