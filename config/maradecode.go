package config

import (
	"fmt"
	"math"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/google/shlex"
	"gopkg.in/yaml.v3"
)

// maraDecoder decodes the YAML nodes of mara.yaml and collects the problems.
type maraDecoder struct {
	stackDecoder
	doubts   []Problem
	accepted map[int]bool // lines
}

// readAccepted finds the lines with values that are right whatever a check says: those with a comment that names
// AcceptKey.
func (d *maraDecoder) readAccepted(node *yaml.Node) {
	if strings.Contains(node.LineComment, AcceptKey) {
		if d.accepted == nil {
			d.accepted = map[int]bool{}
		}
		d.accepted[node.Line] = true
	}
	for _, child := range node.Content {
		d.readAccepted(child)
	}
}

// doubt warns of a value that may be right.
func (d *maraDecoder) doubt(line int, key, format string, args ...any) {
	if !d.accepted[line] {
		d.doubts = append(d.doubts, Problem{File: d.file, Line: line, Key: key, Text: fmt.Sprintf(format, args...)})
	}
}

// refuse reports a value of the right type, which a comment can accept.
func (d *maraDecoder) refuse(line int, key, format string, args ...any) {
	if !d.accepted[line] {
		d.problem(line, key, "%s; if it is right, end the line with  # %s", fmt.Sprintf(format, args...), AcceptKey)
	}
}

// field is a key of a map and the function that reads its value; the function's first
// argument names the value in messages.
type field struct {
	name string
	read func(key string, value *yaml.Node)
}

// fields reads a map that may have these keys and no others.
func (d *maraDecoder) fields(key string, node *yaml.Node, fields ...field) {
	d.entries(key, node, func(key string, name Word, value *yaml.Node) {
		i := slices.IndexFunc(fields, func(f field) bool { return f.name == name.Text })
		if i < 0 {
			d.unknownField(key, name, fields)
			return
		}
		fields[i].read(key, value)
	})
}

func (d *maraDecoder) unknownField(key string, name Word, fields []field) {
	var known []string
	for _, f := range fields {
		known = append(known, f.name)
	}
	allowed := strings.Join(known, ", ")
	if len(known) > 10 {
		allowed = few(nearest(name.Text, known), 3)
	}
	d.problem(name.Line, key, "is not a known key; allowed: %s%s", allowed, DidYouMean(name.Text, known))
}

// items reads a list.
func (d *maraDecoder) items(key string, node *yaml.Node, read func(key string, item *yaml.Node)) {
	if isNull(node) {
		return
	}
	if node.Kind != yaml.SequenceNode {
		d.problem(node.Line, key, "must be a list, not %s", nodeKind(node))
		return
	}
	for i, item := range node.Content {
		read(fmt.Sprintf("%s[%d]", key, i), item)
	}
}

// entries reads a map whose keys are names chosen by the user.
func (d *maraDecoder) entries(key string, node *yaml.Node, read func(key string, name Word, value *yaml.Node)) {
	if isNull(node) {
		return
	}
	if node.Kind != yaml.MappingNode {
		d.problem(node.Line, key, "must be a map, not %s", nodeKind(node))
		return
	}
	d.eachPair(node, key, func(name, value *yaml.Node) {
		read(join(key, name.Value), Word{name.Value, name.Line}, value)
	})
}

// named reads a map like entries, and appends what it makes of each entry.
func named[T any](d *maraDecoder, to *[]T, read func(string, Word, *yaml.Node) T) func(string, *yaml.Node) {
	return func(key string, node *yaml.Node) {
		d.entries(key, node, func(key string, name Word, value *yaml.Node) { *to = append(*to, read(key, name, value)) })
	}
}

func (d *maraDecoder) word(to *Word) func(string, *yaml.Node) {
	return func(key string, node *yaml.Node) {
		if node.Kind != yaml.ScalarNode || node.Value == "" {
			d.problem(node.Line, key, "must be a string, not %s", describeNode(node))
			return
		}
		*to = Word{node.Value, node.Line}
	}
}

// describeNode describes a node like nodeKind, but says "nothing" for an empty value.
func describeNode(node *yaml.Node) string {
	if node.Kind == yaml.ScalarNode && node.Value == "" {
		return "nothing"
	}
	return nodeKind(node)
}

func (d *maraDecoder) text(to *string) func(string, *yaml.Node) {
	return func(key string, node *yaml.Node) {
		var word Word
		d.word(&word)(key, node)
		*to = word.Text
	}
}

// words reads a list of strings, or a single string.
func (d *maraDecoder) words(to *[]Word) func(string, *yaml.Node) {
	return func(key string, node *yaml.Node) {
		add := func(key string, item *yaml.Node) {
			var word Word
			if d.word(&word)(key, item); word.Text != "" {
				*to = append(*to, word)
			}
		}
		if node.Kind == yaml.ScalarNode && !isNull(node) {
			add(key, node)
			return
		}
		d.items(key, node, add)
	}
}

func (d *maraDecoder) texts(to *[]string) func(string, *yaml.Node) {
	return func(key string, node *yaml.Node) {
		var words []Word
		d.words(&words)(key, node)
		*to = Words(words)
	}
}

// choice reads a string that is one of those allowed.
func (d *maraDecoder) choice(to *Word, allowed ...string) func(string, *yaml.Node) {
	return func(key string, node *yaml.Node) {
		d.word(to)(key, node)
		if to.Text != "" && !slices.Contains(allowed, to.Text) {
			d.problem(node.Line, key, "is %q; allowed: %s%s", to.Text, strings.Join(allowed, ", "), DidYouMean(to.Text, allowed))
		}
	}
}

func (d *maraDecoder) duration(to *time.Duration) func(string, *yaml.Node) {
	return func(key string, node *yaml.Node) {
		var err error
		if *to, err = time.ParseDuration(node.Value); err != nil || *to <= 0 {
			said := describeNode(node)
			if node.Tag == "!!int" {
				said = fmt.Sprintf("%s; did you mean %ss?", node.Value, node.Value)
			}
			d.problem(node.Line, key, "must be a time such as 90s or 10m, not %s", said)
		}
	}
}

// number reads a whole number within limits, which limits says in words.
func (d *maraDecoder) number(limits string, least, most int, set func(number int)) func(string, *yaml.Node) {
	return func(key string, node *yaml.Node) {
		if number, ok := d.scalarOf(key, node).(int); ok && number >= least && number <= most {
			set(number)
			return
		}
		text := describeNode(node)
		if _, err := strconv.Atoi(node.Value); err == nil && node.Style&(yaml.DoubleQuotedStyle|yaml.SingleQuotedStyle) == 0 {
			text = node.Value
		}
		d.problem(node.Line, key, "must be a whole number%s, not %s", limits, text)
	}
}

func (d *maraDecoder) bound(to **int) func(string, *yaml.Node) {
	return d.number("", math.MinInt, math.MaxInt, func(number int) { *to = &number })
}

func (d *maraDecoder) flag(to *bool) func(string, *yaml.Node) {
	return func(key string, node *yaml.Node) {
		var ok bool
		if *to, ok = d.scalarOf(key, node).(bool); !ok {
			d.problem(node.Line, key, "must be true or false, not %s", describeNode(node))
		}
	}
}

// scalarOf returns the value of a scalar node, or nil for other nodes.
func (d *maraDecoder) scalarOf(key string, node *yaml.Node) any {
	if node.Kind != yaml.ScalarNode {
		return nil
	}
	return d.scalar(key, node)
}

// document reads the root.
func (d *maraDecoder) document(root *yaml.Node, m *Mara) {
	d.fields("", root,
		field{"backend", d.backend(&m.Backend)},
		field{"environments", d.environments(&m.Environments)},
		field{"projects", func(key string, node *yaml.Node) { m.Projects = d.projects(key, node) }},
		field{"providers", named(d, &m.Providers, d.provider)},
		field{"applications", named(d, &m.Applications, applicationDecoder{d}.application)},
		field{"hooks", func(key string, node *yaml.Node) { m.Hooks = d.hooks(key, node) }},
		field{"harmless", d.formedWords(&m.Harmless, resourceType.MatchString,
			"%q is not a type of resources such as aws:ec2/route:Route, or its beginning up to a colon or slash")},
		field{"preview", func(key string, node *yaml.Node) {
			var values Word
			d.fields(key, node, field{"values", d.choice(&values, "on", "off")})
			m.HidesValues = values.Text == "off"
		}},
		field{"fingerprint", func(key string, node *yaml.Node) {
			const wrong = "%q is not the name of an environment variable, or its beginning and *"
			d.fields(key, node,
				field{"ignore", d.formedWords(&m.Fingerprint.Ignore, variablePattern.MatchString, wrong)},
				field{"only", d.formedWords(&m.Fingerprint.Only, variablePattern.MatchString, wrong)},
			)
		}},
	)
}

// backend reads the address of a backend.
func (d *maraDecoder) backend(to *Word) func(string, *yaml.Node) {
	return func(key string, node *yaml.Node) {
		d.word(to)(key, node)
		if to.Text != "" && !isBackend(to.Text) {
			d.problem(node.Line, key, "%q is not the address of a backend; %s", to.Text, backendForms)
		}
		if withPassword.MatchString(to.Text) {
			d.doubt(node.Line, key, "has a password, which everybody reads who has the file; give the address in the variable PULUMI_BACKEND_URL instead")
		}
	}
}

// environments reads names of environments, which stacks are named after.
func (d *maraDecoder) environments(to *[]Word) func(string, *yaml.Node) {
	return func(key string, node *yaml.Node) {
		d.words(to)(key, node)
		for i, name := range *to {
			if err := CheckStackName(name.Text); err != nil {
				d.problem(name.Line, key, "%v", err)
			}
			if slices.ContainsFunc((*to)[:i], func(other Word) bool { return other.Text == name.Text }) {
				d.problem(name.Line, key, "has %s twice", name.Text)
			}
		}
	}
}

// variable reads an environment variable: its value, or a map of values by environment, with "default" for the others.
func (d *maraDecoder) variable(key string, name Word, node *yaml.Node) MaraVariable {
	v := MaraVariable{Name: name}
	if text := refusedVariable(name.Text); text != "" {
		d.problem(name.Line, key, "%s", text)
	}
	if isNull(node) {
		empty := ""
		v.Default = &empty
		return v
	}
	if node.Kind == yaml.ScalarNode {
		d.placeholders(key, node)
		v.Default = &node.Value
		return v
	}
	v.Of = map[string]string{}
	d.entries(key, node, func(key string, environment Word, value *yaml.Node) {
		switch {
		case value.Kind != yaml.ScalarNode:
			d.problem(value.Line, key, "must be a string, not %s", nodeKind(value))
		case environment.Text == "default":
			d.placeholders(key, value)
			v.Default = &value.Value
		default:
			v.Of[environment.Text] = value.Value
		}
	})
	return v
}

// placeholder matches what may be meant as the place of the environment's name.
var placeholder = regexp.MustCompile(`\$\{?stack\b\}?|\$?\{+ *([A-Za-z_.]+) *\}+|<stack>`)

// placeholders doubts words in the value of a variable that stand for nothing, and are nearly {stack}.
func (d *maraDecoder) placeholders(key string, node *yaml.Node) {
	for _, found := range placeholder.FindAllStringSubmatch(node.Value, -1) {
		meant := found[1] == "" || Suggest(found[1], []string{"stack"}) != "" ||
			slices.Contains([]string{"env", "environment", "pulumi.stack", "ENV", "ENVIRONMENT"}, found[1])
		if found[0] != "{stack}" && meant {
			d.doubt(node.Line, key, "has %s, which nothing replaces; the name of the environment is {stack}", found[0])
		}
	}
}

// refusedVariable returns why a project cannot set a variable, "" if it can.
func refusedVariable(name string) string {
	secret := func(word string) bool { return strings.HasSuffix(strings.ToUpper(name), word) }
	switch {
	case !variableName.MatchString(name):
		return "is not the name of an environment variable"
	case name == BackendVariable:
		return "cannot be set here; write  backend: URL  in the entry of the project, or at the top for all"
	case strings.HasPrefix(name, "RUNNER_") || slices.Contains([]string{StackVariable, "PATH", "HOME", "PULUMI_HOME"}, name):
		return "cannot be set for one project: the runner needs it"
	case strings.HasPrefix(name, "PULUMI_CONFIG_PASSPHRASE"),
		slices.ContainsFunc([]string{"SECRET", "TOKEN", "PASSWORD", "PASSPHRASE", "_KEY"}, secret):
		return "looks like a secret, which does not belong into this file; set it in the environment of the runner"
	}
	return ""
}

// formedWords reads strings of a form; wrong is the format of what is wrong with another string.
func (d *maraDecoder) formedWords(to *[]Word, fits func(string) bool, wrong string) func(string, *yaml.Node) {
	return func(key string, node *yaml.Node) {
		d.words(to)(key, node)
		for _, word := range *to {
			if !fits(word.Text) {
				d.problem(word.Line, key, wrong, word.Text)
			}
		}
	}
}

// variablePattern matches the name of an environment variable, or its beginning and *.
var variablePattern = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*\*?$`)

// resourceType matches a type of resources or a prefix, at least the package.
var resourceType = regexp.MustCompile(`^[A-Za-z0-9-]+:([A-Za-z0-9._-]+[:/])*[A-Za-z0-9._-]*$`)

func (d *maraDecoder) provider(key string, name Word, node *yaml.Node) MaraProvider {
	p := MaraProvider{Name: name}
	d.fields(key, node,
		field{"title", d.text(&p.Title)},
		field{"extends", d.word(&p.Extends)},
		field{"without", d.words(&p.Without)},
		field{"only", d.words(&p.Only)},
		field{"with", d.words(&p.With)},
		field{"after", named(d, &p.After, func(key string, name Word, value *yaml.Node) MaraOrder {
			order := MaraOrder{Project: name}
			d.words(&order.After)(key, value)
			return order
		})},
		field{"projects", func(key string, node *yaml.Node) { p.Projects, p.Listed = d.projects(key, node), true }},
	)
	return p
}

func (d *maraDecoder) projects(key string, node *yaml.Node) []MaraProject {
	var all []MaraProject
	d.items(key, node, func(key string, item *yaml.Node) {
		all = append(all, d.project(key, item))
	})
	return all
}

func (d *maraDecoder) project(key string, node *yaml.Node) MaraProject {
	p := MaraProject{Line: node.Line}
	if node.Kind == yaml.ScalarNode && node.Value != "" {
		d.problem(node.Line, key, "must be a map, not %s: write {path: %s} for a directory, or {project: %[2]s} for a project that comes "+
			"with the runner", nodeKind(node), node.Value)
		return p
	}
	before := len(d.problems)
	edges := func(to *[]Word) func(string, *yaml.Node) {
		return func(key string, node *yaml.Node) { d.words(to)(key, node); p.Edges = true }
	}
	d.fields(key, node,
		field{"path", d.word(&p.Path)},
		field{"git", d.word(&p.Git)},
		field{"ref", d.word(&p.Ref)},
		field{"project", d.word(&p.Project)},
		field{"title", d.text(&p.Title)},
		field{"phase", d.text(&p.Phase)},
		field{"reads", edges(&p.Reads)},
		field{"after", edges(&p.After)},
		field{"providers", d.words(&p.Providers)},
		field{"replaces", d.word(&p.Replaces)},
		field{"when", d.word(&p.When)},
		field{"stack", d.word(&p.Stack)},
		field{"stackFile", d.choice(&p.StackFile, SharedStackFile, OwnStackFile)},
		field{"outputs", d.words(&p.Outputs)},
		field{"inputs", d.words(&p.Inputs)},
		field{"backend", d.backend(&p.Backend)},
		field{"env", named(d, &p.Env, d.variable)},
		field{"retry", d.number(" from 0 to 10", 0, 10, func(number int) { p.Retry = &number })},
		field{"timeout", d.duration(&p.Timeout)},
		field{"estimate", d.duration(&p.Estimate)},
		field{"config", named(d, &p.Config, d.key)},
		field{"hooks", func(key string, node *yaml.Node) { p.Hooks = d.hooks(key, node) }},
	)
	if len(d.problems) == before {
		d.checkPlace(key, p)
	}
	return p
}

// checkPlace reports a project with no location, or several.
func (d *maraDecoder) checkPlace(key string, p MaraProject) {
	switch {
	case p.Project.Text != "" && p.Path.Text != "":
		d.problem(p.Line, key, "has both path and project; a project of the catalogue has no path")
	case p.Project.Text != "" && p.Git.Text != "":
		d.problem(p.Line, key, "has both git and project; a project of the catalogue comes with the runner")
	case p.Git.Text != "" && p.Ref.Text == "":
		d.problem(p.Git.Line, key, "has git and no ref; write ref: with a tag, a branch or a commit")
	case p.Git.Text == "" && p.Ref.Text != "":
		d.problem(p.Ref.Line, key, "has ref and no git; write git: with the URL of a repository")
	case strings.HasPrefix(p.Git.Text, "-") || strings.HasPrefix(p.Ref.Text, "-"):
		d.problem(p.Git.Line, key, "has a git or ref that begins with a hyphen")
	case p.Git.Text != "" && p.Path.Text != "" && !filepath.IsLocal(filepath.FromSlash(p.Path.Text)):
		d.problem(p.Path.Line, key, "has the path %s, which is not in the repository", p.Path.Text)
	case p.Git.Text == "" && p.Path.Text != "" && !filepath.IsLocal(filepath.FromSlash(p.Path.Text)):
		d.problem(p.Path.Line, key,
			"has the path %s, which is not below the root; use git: for projects of other repositories", p.Path.Text)
	case p.Project.Text == "" && p.Path.Text == "" && p.Git.Text == "":
		d.problem(p.Line, key,
			"has no path; write path: DIR for a project of your own, or project: NAME for one that comes with the runner")
	}
}

func (d *maraDecoder) key(key string, name Word, node *yaml.Node) MaraKey {
	k := MaraKey{Key: name}
	d.fields(key, node,
		field{"allowed", d.texts(&k.Allowed)},
		field{"min", d.bound(&k.Min)},
		field{"max", d.bound(&k.Max)},
		field{"example", d.text(&k.Example)},
		field{"question", d.text(&k.Question)},
		field{"generate", d.word(&k.Generate)},
	)
	return k
}

func (d *maraDecoder) hooks(key string, node *yaml.Node) []MaraHook {
	var hooks []MaraHook
	d.items(key, node, func(key string, item *yaml.Node) {
		if hook, ok := d.hook(key, item); ok {
			hooks = append(hooks, hook)
		}
	})
	return hooks
}

// hook reads one hook; ok is false if the hook runs nothing or has a problem.
func (d *maraDecoder) hook(key string, node *yaml.Node) (hook MaraHook, ok bool) {
	h := MaraHook{Line: node.Line}
	if node.Kind == yaml.ScalarNode {
		d.word(&h.BuiltIn)(key, node)
		return h, h.BuiltIn.Text != ""
	}
	before := len(d.problems)
	d.fields(key, node,
		field{"name", d.word(&h.Name)},
		field{"on", d.choice(&h.On, HookMoments()...)},
		field{"operations", d.words(&h.Operations)},
		field{"run", func(key string, node *yaml.Node) { h.Run, h.RunLine = d.command(key, node, false), node.Line }},
		field{"timeout", d.duration(&h.Timeout)},
		field{"retry", d.number(" of 0 or more", 0, math.MaxInt, func(number int) { h.Retry = number })},
		field{"simulate", d.flag(&h.Simulate)},
	)
	if len(h.Run) == 0 && len(d.problems) == before {
		d.problem(node.Line, key, "runs nothing; write run: COMMAND, or the name of a built-in hook")
	}
	return h, len(h.Run) > 0
}

// command reads a command: a list of words, or a string that is split as a shell would. No shell runs it, so that
// what only a shell understands would silently become an argument. kubernetes says that Kubernetes runs it.
func (d *maraDecoder) command(key string, node *yaml.Node, kubernetes bool) []string {
	if node.Kind != yaml.ScalarNode {
		var words []string
		d.texts(&words)(key, node)
		if found := joined(words); found != "" {
			d.refuse(node.Line, key, "has %s, and no shell runs it: it would be an argument of %s; write [sh, -c, \"...\"]",
				found, words[0])
		}
		if len(words) == 1 && strings.Contains(strings.TrimSpace(words[0]), " ") && !strings.HasPrefix(words[0], "/") {
			d.doubt(node.Line, key, "has one word %q, which would be the name of a program; write [%s]", words[0],
				strings.Join(strings.Fields(words[0]), ", "))
		}
		return words
	}
	words, err := shlex.Split(node.Value)
	if err != nil || len(words) == 0 {
		d.problem(node.Line, key, "is not a command: %s", describeNode(node))
		return words
	}
	if found := shellSyntax(node.Value, kubernetes); found != "" {
		d.refuse(node.Line, key, "has %s, and no shell runs it; write %s", found, forShell(node.Value))
	}
	return words
}
