package references

import (
	"fmt"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"mara/config/lists"
)

// frame is where an expression is evaluated.
type frame struct {
	function *function
	bound    map[string][]value // parameters with the values of a call
	depth    int
}

// parser evaluates the expression at a token.
type parser struct {
	*search
	f      *source
	tokens []token // those of the file, or of an interpolation
	at     int
	frame
	brackets int
	position int // in the file, for names
}

// result is what an expression may be: texts, or a list of them.
type result struct {
	values []value
	list   [][]value
}

var unknownResult = result{values: []value{{text: unknown}}}

func literal(s string) result { return result{values: []value{{text: s}}} }

// orUnknown returns a result with some values, or the unknown one if there are none.
func orUnknown(values []value) result {
	if len(values) == 0 {
		return unknownResult
	}
	return result{values: values}
}

// evaluate returns the values of the expression at a token of a file.
func (s *search) evaluate(f *source, at int, in frame) []value {
	if in.depth > maxDepth {
		return unknownResult.values
	}
	f.scan()
	p := &parser{search: s, f: f, tokens: f.tokens, at: at, frame: in, position: at}
	return distinct(p.ternary().values)
}

func (p *parser) peek() token { return tokenAt(p.tokens, p.at) }

func (p *parser) second() token { return tokenAt(p.tokens, p.at+1) }

// accept skips a sign or word, if it is next.
func (p *parser) accept(texts ...string) bool {
	if !p.peek().is(texts...) {
		return false
	}
	p.at++
	return true
}

// continues reports whether the next token may continue the expression on its line.
func (p *parser) continues() bool {
	return p.at < len(p.tokens) && (p.brackets > 0 || p.peek().column < 0 || p.f.ending != ".py")
}

func (p *parser) ternary() result {
	r := p.either()
	switch {
	case !p.continues():
	case p.peek().is("?") && !p.second().is(")", ",", ";"):
		p.at++
		if p.accept(":") { // Kotlin's default
			return either(r, p.ternary())
		}
		r = p.ternary()
		if p.accept(":") {
			r = either(r, p.ternary())
		}
	case p.f.ending == ".py" && p.peek().is("if"):
		p.skipUntil("else", ")", "]", "}")
		if p.peek().is(")", "]", "}") {
			return r
		}
		p.at++
		r = either(r, p.ternary())
	}
	return r
}

// either returns a result that is one or the other.
func either(a, b result) result {
	return result{values: slices.Concat(a.values, b.values)}
}

func (p *parser) either() result {
	r := p.sum()
	for p.continues() {
		switch {
		case p.accept("||", "??", "or"):
			r = either(r, p.sum())
		case p.accept("&&", "and"):
			r = p.sum()
		case p.peek().is("==", "!=", "<=", ">=", ">") && p.peek().column < 0:
			p.at++
			p.sum()
			r = unknownResult
		default:
			return r
		}
	}
	return r
}

func (p *parser) sum() result {
	r := p.operand()
	for p.continues() {
		switch {
		case p.accept("+"), p.f.ending == ".vb" && p.accept("&"):
			r = result{values: combine(r.values, p.operand().values)}
		case p.peek().is("/") && (p.f.ending == ".py" || p.f.ending == ".kt" || p.f.ending == ".scala"):
			p.at++
			r = joined("/", []result{r, p.operand()}, true)
		case p.f.ending == ".py" && p.peek().is("%"):
			p.at++
			args := []result{}
			if p.peek().is("(") {
				args = lists.Map(p.arguments(), func(a argument) result { return a.result })
			} else {
				args = append(args, p.operand())
			}
			r = formatted(r, args, nil)
		case p.peek().is("-", "*", "%") && p.peek().column < 0:
			p.at++
			p.operand()
			r = unknownResult
		case p.f.ending == ".py" && p.peek().kind == text && len(r.values) > 0:
			r = result{values: combine(r.values, p.operand().values)}
		default:
			return r
		}
	}
	return r
}

// operand evaluates a literal, a name, a call or an expression in brackets, and what is done with it.
func (p *parser) operand() result {
	for p.accept("!", "await", "new", "&", "not", "typeof", "...", "*") {
		continue
	}
	t := p.peek()
	switch {
	case t.kind == text:
		p.at++
		return p.chain(p.textValue(t), nil)
	case t.is("("):
		if end := closing(p.tokens, p.at); tokenAt(p.tokens, end+1).is("=>") {
			p.at = end
			return unknownResult
		}
		p.at++
		p.brackets++
		r := p.ternary()
		p.brackets--
		p.skipTo(")")
		return p.chain(r, nil)
	case t.is("["):
		return p.chain(p.list(), nil)
	case t.is("{"):
		p.at = closing(p.tokens, p.at) + 1
		return unknownResult
	case t.kind == word && !t.is("lambda", "function", "func", "async"):
		return p.named(t)
	}
	if t.kind == word {
		p.at++
	}
	return unknownResult
}

// skipTo skips the rest of what is in brackets, and the closing one.
func (p *parser) skipTo(end string) {
	p.skipUntil(end)
	p.at++
}

// skipUntil skips to the next of some words and signs that is not in further brackets.
func (p *parser) skipUntil(texts ...string) {
	for p.at < len(p.tokens) && !p.peek().is(texts...) {
		if p.peek().is("(", "[", "{") {
			p.at = closing(p.tokens, p.at)
		}
		p.at++
	}
}

// textValue returns the values of a string with its interpolations.
func (p *parser) textValue(t token) result {
	values := []value{{}}
	for _, piece := range t.pieces {
		if !piece.isExpr {
			values = combine(values, literal(piece.literal).values)
			continue
		}
		inner := *p
		inner.tokens, inner.at, inner.brackets = piece.expression, 0, 1
		values = combine(values, distinct(inner.ternary().values))
	}
	return result{values: values}
}

// list evaluates a list in square brackets, also Go's and C#'s.
func (p *parser) list() result {
	open, end := p.at, "]"
	if closes := closing(p.tokens, p.at); closes == p.at+1 { // []string{...}
		p.at = closes + 1
		for p.at < len(p.tokens) && p.peek().kind == word || p.peek().is(".") {
			p.at++
		}
		if !p.peek().is("{") {
			p.at = open + 2
			return unknownResult
		}
		end = "}"
	}
	p.at++
	p.brackets++
	r := result{values: unknownResult.values, list: [][]value{}}
	for p.at < len(p.tokens) && !p.peek().is(end) {
		before := p.at
		r.list = append(r.list, p.ternary().values)
		if !p.accept(",") && !p.peek().is(end) || p.at == before {
			break
		}
	}
	p.brackets--
	p.skipTo(end)
	return r
}

// argument is one of a call, with its name if it has one.
type argument struct {
	name string
	result
}

// arguments evaluates the arguments of the call whose parenthesis is next.
func (p *parser) arguments() []argument {
	p.at++
	p.brackets++
	var all []argument
	for p.at < len(p.tokens) && !p.peek().is(")") {
		a := argument{}
		if p.peek().kind == word && p.second().is("=", ":") {
			a.name = p.peek().text
			p.at += 2
		}
		a.result = p.ternary()
		all = append(all, a)
		p.skipUntil(",", ")")
		p.accept(",")
	}
	p.brackets--
	p.at++
	return all
}

// named evaluates an expression that begins with a name.
func (p *parser) named(t token) result {
	p.at++
	switch t.text {
	case "__file__", "__filename":
		return p.chain(literal(p.f.path), nil)
	case "__dirname":
		return p.chain(literal(p.f.dir()), nil)
	}
	if p.callFollows() {
		return p.chain(p.call(nil, result{}, t.text), []string{t.text})
	}
	return p.chain(p.variable(t.text), []string{t.text})
}

// callFollows reports whether the arguments of a call are next, and skips their types.
func (p *parser) callFollows() bool {
	at := p.at
	if p.peek().is("<") && len(p.tokens) == len(p.f.tokens) {
		at = p.f.skipGenerics(p.at)
	}
	if at >= len(p.tokens) || !p.tokens[at].is("(") || p.tokens[at].column >= 0 && p.brackets == 0 {
		return false
	}
	p.at = at
	return true
}

// chain evaluates members, calls and indexes of a value.
func (p *parser) chain(r result, names []string) result {
	for p.at < len(p.tokens) {
		next := p.peek()
		switch {
		case next.is(".", "?.", "::", "!.") && p.second().kind == word:
			member := p.second().text
			p.at += 2
			if p.callFollows() {
				r = p.call(names, r, member)
			} else {
				r = p.member(r, names, member)
			}
			names = append(names, member)
		case next.kind == text && next.quoted == '`' && len(names) > 0: // a tagged template
			p.at++
			r = p.textValue(next)
		case next.is("[") && next.column < 0:
			key := p.second()
			p.at = closing(p.tokens, p.at) + 1
			if r = unknownResult; key.kind == text && key.text != "" {
				r = p.member(r, names, key.text)
			}
		case next.is("!") && p.f.ending != ".py":
			p.at++
		case next.is("as") && p.f.ending == ".ts":
			p.at += 2
		default:
			return r
		}
	}
	return r
}

// member returns a property of a value.
func (p *parser) member(r result, names []string, member string) result {
	switch plain(member) {
	case "parent", "parentfile":
		return mapped(r, path.Dir)
	case "projectname":
		return literal(p.project.Name)
	case "stackname":
		return unknownResult
	}
	if len(names) == 0 || slices.Contains(names, "process") || slices.Contains(names, "environ") {
		return unknownResult
	}
	return orUnknown(p.property(names[len(names)-1], member))
}

// mapped returns a result with each known text changed.
func mapped(r result, change func(string) string) result {
	values := slices.Clone(r.values)
	for i := range values {
		if !strings.HasPrefix(values[i].text, unknown) {
			values[i].text = change(values[i].text)
		}
	}
	return result{values: values}
}

// plain returns a name without underscores, in small letters.
func plain(name string) string { return strings.ToLower(strings.ReplaceAll(name, "_", "")) }

// variable returns the values of a name.
func (p *parser) variable(name string) result {
	if values, ok := p.bound[name]; ok {
		return result{values: values}
	}
	if p.function != nil && slices.ContainsFunc(p.function.params, func(q parameter) bool { return q.name == name }) {
		return unknownResult
	}
	return orUnknown(p.lookup(p.f, name, p.position, p.frame, false))
}

// call returns the values that a call of a function or method returns.
func (p *parser) call(names []string, receiver result, name string) result {
	at := p.at
	args := p.arguments()
	if r, ok := p.known(names, receiver, name, args); ok {
		return r
	}
	if p.depth < maxDepth {
		if file, fn := p.functionNamed(p.f, name); fn != nil && (file != p.f || fn.start != at) {
			return p.returned(file, fn, args)
		}
	}
	return p.notUnderstood(name, args, receiver)
}

// known evaluates functions of the languages and of Pulumi.
func (p *parser) known(names []string, receiver result, name string, args []argument) (result, bool) {
	values := lists.Map(args, func(a argument) result { return a.result })
	first := unknownResult
	if len(values) > 0 {
		first = values[0]
	}
	switch plain(name) {
	case "getproject", "project":
		return literal(p.project.Name), len(args) == 0
	case "getstack", "stack", "getorganization", "organization", "getenv", "getcwd", "cwd":
		return unknownResult, len(args) <= 1
	case "dirname", "getdirectoryname", "dir":
		return mapped(first, path.Dir), len(args) == 1
	case "abspath", "realpath", "normpath", "path", "file", "fileurltopath", "str", "string", "tostringoutput", "output",
		"of", "create", "fspath", "secret", "fromjson", "getfullpath", "abs", "clean":
		return first, len(args) == 1
	case "tostring", "trim", "strip", "tolower", "toupper", "lower", "upper", "resolve", "asposix", "normalize",
		"toabsolutepath":
		if len(args) == 0 && len(receiver.values) > 0 {
			return receiver, true
		}
		return joined("/", values, true), len(args) > 0 && plain(name) == "resolve"
	case "joinpath":
		return joined("/", append([]result{receiver}, values...), true), true
	case "join":
		return p.join(names, receiver, values)
	case "combine", "get", "require", "getsecret", "requiresecret", "requireobject", "getobject", "try", "trysecret":
		if plain(name) == "combine" || plain(name) == "get" && slices.Contains(names, "Paths") {
			return joined("/", values, true), true
		}
		return p.setting(names, values)
	case "format", "sprintf", "interpolate", "formatstring":
		named := map[string][]value{}
		for _, a := range args {
			if a.name != "" {
				named[a.name] = a.values
			}
		}
		if p.f.ending == ".py" && plain(name) == "format" && len(receiver.values) > 0 && !slices.Contains(names, "Output") {
			return formatted(receiver, values, named), true
		}
		if len(values) > 0 {
			return formatted(first, values[1:], named), true
		}
	case "concat":
		return joined("", values, false), true
	}
	return result{}, false
}

// join evaluates joins of paths and of lists.
func (p *parser) join(names []string, receiver result, values []result) (result, bool) {
	switch {
	case receiver.list != nil && len(values) == 1 && len(values[0].values) == 1: // [a, b].join("/")
		return joined(values[0].values[0].text, asLists(receiver.list), false), true
	case len(values) == 1 && values[0].list != nil && len(receiver.values) == 1: // "/".join([a, b])
		return joined(receiver.values[0].text, asLists(values[0].list), false), true
	case len(values) == 2 && values[0].list != nil && len(values[1].values) == 1: // strings.Join([]string{a, b}, "/")
		return joined(values[1].values[0].text, asLists(values[0].list), false), true
	case plain(strings.Join(names, "")) == "string" && len(values) > 1 && len(values[0].values) == 1:
		// String.join("/", a, b)
		return joined(values[0].values[0].text, values[1:], false), true
	}
	return joined("/", values, true), len(values) > 0
}

func asLists(list [][]value) []result {
	return lists.Map(list, func(values []value) result { return result{values: values} })
}

// joined joins texts by a separator; paths are cleaned.
func joined(separator string, parts []result, isPath bool) result {
	values := []value{{}}
	for i, part := range parts {
		if i > 0 {
			values = combine(values, literal(separator).values)
		}
		values = combine(values, part.values)
	}
	if isPath {
		for i := range values {
			values[i].text = path.Clean(values[i].text)
		}
	}
	return result{values: values}
}

// placeholder matches those of all languages: {}, {0}, {name}, %s and %v.
var placeholder = regexp.MustCompile(`\{(\w*)(?::[^}]*)?\}|%[svdq]`)

// formatted puts arguments in place of the placeholders of a text.
func formatted(format result, args []result, named map[string][]value) result {
	var all []value
	for _, f := range format.values {
		next, text := 0, f.text
		f.text = ""
		all = append(all, replaced(placeholder, text, f, func(key string) []value {
			index := next
			if key == "" {
				next++
			} else if _, err := fmt.Sscanf(key, "%d", &index); err != nil {
				index = -1
			}
			if by, ok := named[key]; ok {
				return by
			}
			if index >= 0 && index < len(args) {
				return args[index].values
			}
			return unknownResult.values
		})...)
	}
	return result{values: all}
}

// replaced returns a value followed by a text with the values of the first group in place of each match of a pattern.
func replaced(pattern *regexp.Regexp, text string, begin value, by func(key string) []value) []value {
	values := []value{begin}
	for at := pattern.FindStringSubmatchIndex(text); at != nil; at = pattern.FindStringSubmatchIndex(text) {
		key := ""
		if at[2] >= 0 {
			key = text[at[2]:at[3]]
		}
		values = combine(combine(values, literal(text[:at[0]]).values), by(key))
		text = text[at[1]:]
	}
	return combine(values, literal(text).values)
}

// returned evaluates what a function of the repository returns.
func (p *parser) returned(file *source, fn *function, args []argument) result {
	in := frame{function: fn, bound: p.search.bind(file, fn, args, p.depth), depth: p.depth + 1}
	var values []value
	if fn.returns >= 0 {
		values = p.evaluate(file, fn.returns, in)
	}
	for i := fn.start; i < fn.end && fn.returns < 0; i++ {
		if file.tokens[i].is("return") && file.functionAt(i) == fn && i+1 < fn.end {
			values = append(values, p.evaluate(file, i+1, in)...)
		}
	}
	if !slices.ContainsFunc(values, func(v value) bool { return v.text != unknown }) {
		return p.notUnderstood(fn.name, args, result{})
	}
	return result{values: distinct(values)}
}

// bind gives the parameters of a function the arguments of a call.
func (s *search) bind(file *source, fn *function, args []argument, depth int) map[string][]value {
	bound := map[string][]value{}
	for i, q := range fn.params {
		switch at := slices.IndexFunc(args, func(a argument) bool { return a.name == q.name }); {
		case at >= 0:
			bound[q.name] = args[at].values
		case i < len(args) && args[i].name == "":
			bound[q.name] = args[i].values
		case q.value >= 0:
			bound[q.name] = s.evaluate(file, q.value, frame{depth: depth + 1})
		default:
			bound[q.name] = unknownResult.values
		}
	}
	return bound
}

// notUnderstood returns the result of a function whose sources are not here. Given the directory of a project, it most
// likely returns the name of the project.
func (p *parser) notUnderstood(name string, args []argument, receiver result) result {
	var values []value
	var hints []hint
	for _, a := range args {
		for _, v := range a.values {
			hints = append(hints, v.hints...)
			if strings.Contains(v.text, unknown) || v.text == "" {
				continue
			}
			if project := p.directoryProject(v.text); project != "" {
				why := fmt.Sprintf("%s of %s", name, p.repository.shown(p.absolute(v.text)))
				values = append(values, value{text: project, origins: append(slices.Clone(v.origins), why), weak: true})
			} else if p.repository.isProject(v.text) && v.text != p.project.Name {
				hints = append(hints, hint{v.text, fmt.Sprintf("%s is called with %q", name, v.text)})
			}
		}
	}
	for _, v := range receiver.values {
		hints = append(hints, v.hints...)
	}
	if len(values) > 0 {
		return result{values: values}
	}
	return result{values: []value{{text: unknown, hints: hints}}}
}

func (p *parser) absolute(dir string) string {
	if filepath.IsAbs(dir) {
		return filepath.Clean(dir)
	}
	return filepath.Join(p.f.dir(), dir)
}

// directoryProject returns the project in a directory that a text names, relative to the file or to the project.
func (p *parser) directoryProject(text string) string {
	if !strings.Contains(text, "/") {
		return ""
	}
	if name := p.repository.projectIn(p.absolute(text)); name != "" && name != p.project.Name {
		return name
	}
	name := p.repository.projectIn(filepath.Join(p.project.Dir, text))
	if filepath.IsAbs(text) || name == p.project.Name {
		return ""
	}
	return name
}
