package catalogue

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"mara/config"
	"mara/config/lists"
	"mara/projects/model"
	"mara/projects/model/needs"
	"mara/runner/internal/machine/typeset"
)

// builder builds the catalogue of a mara.yaml and collects problems.
type builder struct {
	builtIn  *model.Catalogue
	mara     config.Mara
	root     string
	path     string // PATH of commands
	problems []config.Problem
	doubts   []config.Problem
}

func (b *builder) problem(line int, format string, args ...any) {
	b.problems = append(b.problems, b.mara.Problem(line, fmt.Sprintf(format, args...)))
}

// refuse reports something that a comment at the end of the line can accept.
func (b *builder) refuse(line int, format string, args ...any) {
	if !b.mara.Accepts(line) {
		b.problem(line, format+"; if it is right, end the line with  # "+config.AcceptKey, args...)
	}
}

// doubt warns of something that may be right.
func (b *builder) doubt(line int, format string, args ...any) {
	if !b.mara.Accepts(line) {
		b.doubts = append(b.doubts, b.mara.Problem(line, fmt.Sprintf(format, args...)))
	}
}

// entry is a project of mara.yaml, with its declaration.
type entry struct {
	config.MaraProject
	project     model.Project
	application bool // of applications in mara.yaml
	routed      bool // it needs no ingress controller: its host is that of a Gateway
}

func (b *builder) build() Catalogue {
	b.checkProviders()
	common := append(b.entries(b.mara.Projects), b.applications()...)
	runHooks := b.hooks(b.mara.Hooks, b.root, false)
	c := Catalogue{
		File: b.mara.File, Environments: b.mara.Environments, Home: b.mara.NamedBackend(), BuiltIn: b.builtIn,
		HidesValues: b.mara.HidesValues,
	}
	for _, declared := range b.declared() {
		p, ok := b.provider(declared, common)
		if !ok {
			continue
		}
		p.Hooks = runHooks
		c.Providers = append(c.Providers, p)
		for _, step := range p.Steps {
			if _, ok := c.Project(step.Project.Name); !ok {
				c.Projects = append(c.Projects, step.Project)
			}
		}
	}
	return c
}

// declared returns the providers of mara.yaml or, if it declares none, one for all its projects.
func (b *builder) declared() []config.MaraProvider {
	if len(b.mara.Providers) == 0 {
		return []config.MaraProvider{{Name: config.Word{Text: model.OwnProvider}, Title: "Own projects"}}
	}
	return b.mara.Providers
}

// checkProviders reports references to undeclared providers.
func (b *builder) checkProviders() {
	names := lists.Map(b.declared(), func(p config.MaraProvider) string { return p.Name.Text })
	var words []config.Word
	for _, project := range b.mara.Projects {
		words = append(words, project.Providers...)
	}
	for _, application := range b.mara.Applications {
		words = append(words, application.Where.Providers...)
	}
	for _, word := range words {
		if !slices.Contains(names, word.Text) {
			b.problem(word.Line, "providers names %q, which is not a provider of this file; known: %s%s",
				word.Text, strings.Join(names, ", "), config.DidYouMean(word.Text, names))
		}
	}
}

// provider builds a provider; ok is false if its base is unknown.
func (b *builder) provider(declared config.MaraProvider, common []entry) (p model.Provider, ok bool) {
	p, ok = b.base(declared)
	if !ok {
		return p, false
	}
	optional := b.optional(declared.With, p)
	base := p.Complete().Steps
	p = p.With(config.Words(optional)...)
	l := &list{builder: b, provider: p.Name, steps: p.Steps, declared: map[string]entry{}}
	var entries []entry
	if declared.Listed {
		l.steps = nil
		entries = b.entries(declared.Projects)
		for _, name := range optional {
			entries = append(entries, b.entries([]config.MaraProject{{Line: name.Line, Project: name}})...)
		}
	}
	for _, e := range common {
		if e.Providers == nil || slices.Contains(config.Words(e.Providers), p.Name) {
			entries = append(entries, e)
		}
	}
	words := naming(append(p.Projects(), lists.Map(entries, func(e entry) model.Project { return e.project })...))
	without := words.names(declared.Without)
	for _, name := range without {
		if slices.Contains(config.Words(words.names(declared.With)), name.Text) {
			b.problem(name.Line, "with and without both name %s; remove one of the two", name.Text)
		}
	}
	for _, e := range entries {
		e.Replaces, e.Reads, e.After = words.name(e.Replaces), words.names(e.Reads), words.names(e.After)
		for _, name := range b.beforeApplications() {
			isOut := slices.Contains(config.Words(without), name)
			isOut = isOut || e.routed && slices.Contains(b.builtIn.Application.Hosts, name)
			if e.application && l.find(name) >= 0 && !isOut {
				e.After = append(slices.Clone(e.After), config.Word{Text: name, Line: e.Line})
			}
		}
		if reason := lacks(p, e.project); reason != "" {
			b.problem(e.Line, "%s", reason)
			continue
		}
		l.use(e, base)
	}
	l.keepOnly(words.names(declared.Only), declared.Without)
	l.leaveOut(without)
	l.order(lists.Map(declared.After, func(o config.MaraOrder) config.MaraOrder {
		return config.MaraOrder{Project: words.name(o.Project), After: words.names(o.After)}
	}))
	l.afterApplications()
	l.check()
	p.Steps = l.sorted()
	p.Questions = questions(p, l.declared)
	for _, step := range p.Steps {
		if p.ClusterProject == "" && step.Project.HasHook(model.HookKubeconfig) {
			p.ClusterProject = step.Project.Name
		}
	}
	return p, true
}

// optional returns the names of optional projects in a provider's list with, and reports the other words in it.
func (b *builder) optional(with []config.Word, p model.Provider) (names []config.Word) {
	all := b.builtIn.Optional()
	known := lists.Map(all, projectName)
	for _, word := range with {
		word := naming(all).name(word)
		project, ok := lists.Find(all, func(o model.Project) bool { return o.Name == word.Text })
		switch {
		case slices.Contains(p.Names(), word.Text):
			b.problem(word.Line, "with names %q, which is part of %s already", word.Text, p.Name)
		case !ok:
			b.problem(word.Line, "with names %q, which is no optional project; known: %s%s", word.Text,
				strings.Join(known, ", "), config.DidYouMean(word.Text, known))
		case slices.Contains(config.Words(names), word.Text):
			b.problem(word.Line, "with names %q twice", word.Text)
		case lacks(p, project) != "":
			b.problem(word.Line, "with: %s", lacks(p, project))
		default:
			names = append(names, word)
		}
	}
	return names
}

// lacks returns why a provider cannot have an optional project; "" if it can.
func lacks(p model.Provider, project model.Project) string {
	if _, ok := p.Optional.Find(project.Name); ok || project.Needs == "" {
		return ""
	}
	reason := cmp.Or(p.Optional.Refused[project.Name], "it needs a cluster; write extends: with a built-in provider")
	return fmt.Sprintf("%s is not there for %s: %s", project.Name, p.Name, reason)
}

// naming is the projects that words of mara.yaml may name.
type naming []model.Project

// name replaces a title or a directory by the name of its project. A word that names no project, or several, stays.
func (n naming) name(word config.Word) config.Word {
	if found := model.Resolve(n, word.Text); word.Text != "" && len(found) == 1 {
		word.Text = found[0]
	}
	return word
}

func (n naming) names(words []config.Word) []config.Word { return lists.Map(words, n.name) }

func projectName(p model.Project) string { return p.Name }

// base returns the built-in provider that a provider extends, or an empty one.
func (b *builder) base(declared config.MaraProvider) (model.Provider, bool) {
	name, extends := declared.Name, declared.Extends
	builtIn, err := b.builtIn.Provider(name.Text)
	switch {
	case err == nil && extends.Text != "":
		b.problem(extends.Line, "%s is a built-in provider, and extends none; give yours another name", name.Text)
		return builtIn, false
	case err == nil:
		builtIn.Title = cmp.Or(declared.Title, builtIn.Title)
		return builtIn, true
	case !isName(name.Text):
		b.problem(name.Line, "%q cannot be the name of a provider: write small letters, digits and hyphens", name.Text)
		return builtIn, false
	}
	p := model.Provider{}
	if extends.Text != "" {
		if p, err = b.builtIn.Provider(extends.Text); err != nil {
			b.problem(extends.Line, "extends names an %v", err)
			return p, false
		}
		p.Extends = p.Name
	} else if b.builtIn != nil {
		p.WithSecrets = b.builtIn.WithSecrets
	}
	p.Name, p.Title = name.Text, cmp.Or(declared.Title, name.Text)
	return p, true
}

// isName reports whether a string is valid in names of files and contexts.
func isName(text string) bool {
	return text != "" && strings.Trim(text, "abcdefghijklmnopqrstuvwxyz0123456789-") == "" && !strings.HasPrefix(text, "-")
}

// list is the list of a provider's projects while it is built.
type list struct {
	*builder
	provider string
	steps    []model.Step
	declared map[string]entry // projects of mara.yaml, by name
}

func (l *list) find(name string) int {
	return slices.IndexFunc(l.steps, func(s model.Step) bool { return s.Project.Name == name })
}

// ownerOf returns the built-in project that makes a namespace.
func (l *list) ownerOf(namespace string) (project string, ok bool) {
	step, ok := lists.Find(l.steps, func(s model.Step) bool {
		return s.Project.Own == nil && s.Project.Namespace == namespace
	})
	return step.Project.Name, ok
}

func (l *list) names() []string {
	return lists.Map(l.steps, model.Step.Name)
}

// use adds a project to the list: it replaces another project or its own entry, or comes last.
// A project of the base keeps the edges of the base, unless it declares others.
func (l *list) use(e entry, base []model.Step) {
	name := e.project.Name
	edges := needs.Needs{Reads: config.Words(e.Reads), After: config.Words(e.After)}
	step := model.Step{Project: e.project, Phase: e.Phase, Needs: edges}
	at := l.find(name)
	if earlier, twice := l.declared[name]; twice {
		l.problem(e.Line, "the project %q is there twice; the first time is line %d", name, earlier.Line)
		return
	}
	if at >= 0 && e.application {
		l.problem(e.Line, "the application %q has the name of a built-in project of %s; give it another name", name,
			l.provider)
		return
	}
	if owner, taken := l.ownerOf(name); taken && e.application {
		l.refuse(e.Line, "the application %q would be in the namespace %s, which %s of %s makes; give it another name", name,
			name, owner, l.provider)
		return
	}
	if at >= 0 && e.project.Own != nil && e.Replaces.Text != name {
		l.problem(e.Line, "the project %q has the name of a built-in one of %s; give it another name, or say  replaces: %s",
			name, l.provider, name)
		return
	}
	replaced := name
	if e.Replaces.Text != "" {
		if replaced = e.Replaces.Text; l.find(replaced) < 0 {
			l.problem(e.Replaces.Line, "replaces names %q, which %s does not have%s", replaced, l.provider,
				config.DidYouMean(replaced, l.names()))
			return
		}
		at = l.find(replaced)
	}
	if i := slices.IndexFunc(base, func(s model.Step) bool { return s.Project.Name == replaced }); i >= 0 && !e.Edges {
		step.Needs = base[i].Needs
	}
	if i := slices.IndexFunc(base, func(s model.Step) bool { return s.Project.Name == name }); i >= 0 {
		step.When = base[i].When
	}
	l.declared[name] = e
	if at < 0 {
		l.steps = append(l.steps, step)
		return
	}
	l.steps = slices.Clone(l.steps)
	l.steps[at] = step
	if replaced != name {
		l.redirect(e, replaced)
	}
}

// redirect replaces edges to a replaced project by edges to its replacement. Programs that read
// the outputs of the replaced project would still look for its name.
func (l *list) redirect(e entry, replaced string) {
	for i, step := range l.steps {
		if slices.Contains(step.Reads, replaced) && step.Project.Own == nil {
			l.problem(e.Replaces.Line, "%s reads the outputs of %s by that name; give the project that replaces it the name "+
				"%s, or exclude %s",
				step.Project.Name, replaced, replaced, step.Project.Name)
		}
		l.steps[i].Needs = needs.Needs{Reads: renamed(step.Reads, replaced, e.project.Name),
			After: renamed(step.After, replaced, e.project.Name)}
	}
}

func renamed(names []string, from, to string) []string {
	return lists.Map(names, func(name string) string {
		if name == from {
			return to
		}
		return name
	})
}

// leaveOut removes projects from the list, and edges that only wait for them. It reports
// projects that read them.
func (l *list) leaveOut(without []config.Word) {
	for _, word := range without {
		i := l.find(word.Text)
		if i < 0 {
			l.problem(word.Line, "without names %q, which %s does not have%s", word.Text, l.provider,
				config.DidYouMean(word.Text, l.names()))
			continue
		}
		l.steps = slices.Delete(slices.Clone(l.steps), i, i+1)
	}
	out := config.Words(without)
	for i, step := range l.steps {
		for _, name := range step.Reads {
			if at := slices.Index(out, name); at >= 0 && step.Project.Own == nil {
				l.problem(without[at].Line, "%s reads the outputs of %s, which is excluded by without; exclude it, too",
					step.Project.Name, name)
			}
		}
		l.steps[i].After = slices.DeleteFunc(slices.Clone(step.After),
			func(name string) bool { return slices.Contains(out, name) })
	}
}

// keepOnly removes all projects but these and those that they need: the ones that they read, and for an application with a
// host name what serves it.
func (l *list) keepOnly(only, without []config.Word) {
	if len(only) == 0 {
		return
	}
	if len(without) > 0 {
		l.problem(without[0].Line, "only and without exclude each other: only says which projects there are")
		return
	}
	keep := map[string]bool{}
	var visit func(name string)
	visit = func(name string) {
		i := l.find(name)
		if i < 0 || keep[name] {
			return
		}
		keep[name] = true
		needed := l.steps[i].Reads
		if e := l.declared[name]; e.application && !e.routed && slices.ContainsFunc(e.Outputs, func(o config.Word) bool { return o.Text == "url" }) {
			needed = slices.Concat(needed, l.builtIn.Application.Hosts)
		}
		for _, other := range needed {
			visit(other)
		}
	}
	for _, word := range only {
		if l.find(word.Text) < 0 {
			l.unknown(word, "only")
			continue
		}
		visit(word.Text)
	}
	var out []config.Word
	for _, name := range l.names() {
		if !keep[name] {
			out = append(out, config.Word{Text: name, Line: only[0].Line})
		}
	}
	for name, e := range l.declared {
		e.After = slices.DeleteFunc(slices.Clone(e.After), func(word config.Word) bool { return l.find(word.Text) >= 0 && !keep[word.Text] })
		l.declared[name] = e
	}
	l.leaveOut(out)
}

// order adds edges between projects.
func (l *list) order(orders []config.MaraOrder) {
	for _, order := range orders {
		i := l.find(order.Project.Text)
		if i < 0 {
			l.problem(order.Project.Line, "after names %q, which %s does not have%s",
				order.Project.Text, l.provider, config.DidYouMean(order.Project.Text, l.names()))
			continue
		}
		for _, word := range order.After {
			if l.find(word.Text) < 0 {
				l.unknown(word, "after")
				continue
			}
			l.steps[i].After = append(slices.Clone(l.steps[i].After), word.Text)
		}
	}
}

// afterApplications has projects that give rights in the namespaces of applications wait for those, unless an application
// waits for such a project itself.
func (l *list) afterApplications() {
	var needs func(name, needed string, seen map[string]bool) bool
	needs = func(name, needed string, seen map[string]bool) bool {
		at := l.find(name)
		if at < 0 || seen[name] {
			return false
		}
		seen[name] = true
		return slices.ContainsFunc(l.steps[at].All(), func(other string) bool {
			return other == needed || needs(other, needed, seen)
		})
	}
	for i, step := range l.steps {
		if step.Project.Applications != model.ItWaits {
			continue
		}
		for _, other := range l.steps {
			name := other.Project.Name
			if other.Project.IsApplication() && !needs(name, step.Project.Name, map[string]bool{}) {
				l.steps[i].After = append(slices.Clone(l.steps[i].After), name)
			}
		}
	}
}

func (l *list) unknown(word config.Word, key string) {
	hint := config.DidYouMean(word.Text, l.names())
	known := model.Provider{Steps: l.steps}.Projects()
	if meant := model.Resolve(known, word.Text); len(meant) > 1 {
		hint = "; it may be " + strings.Join(meant, " or ")
	}
	if hint == "" && len(l.steps) > 0 {
		hint = "; it has " + typeset.Few(l.names(), 6)
	}
	l.problem(word.Line, "%s names %q, which is not a project of %s%s", key, word.Text, l.provider, hint)
}

// check reports edges to missing projects, and cycles.
func (l *list) check() {
	before := len(l.problems)
	missing := func(key string, words []config.Word) {
		for _, word := range words {
			if l.find(word.Text) < 0 {
				l.unknown(word, key)
			}
		}
	}
	for _, name := range l.names() {
		e := l.declared[name]
		if e.application && l.find(l.builtIn.Application.Reads) < 0 { // without a catalogue there is no application
			l.problem(e.Line, "the application %q runs in a Kubernetes cluster, and nothing in %s has one: name a provider, as in  "+
				"providers: {kind: {}}", name, l.provider)
			continue
		}
		missing("reads", e.Reads)
		missing("after", e.After)
	}
	if len(l.problems) > before {
		return
	}
	for _, step := range l.steps { // needs may be missing in a list without all projects of the base
		for _, name := range step.All() {
			if e, ok := l.declared[step.Project.Name]; ok && !e.Edges && l.find(name) < 0 {
				l.problem(e.Line, "%s needs %s, which is not a project of %s; add it, or write reads and after", step.Project.Name,
					name, l.provider)
			}
		}
	}
}

// sorted returns the list sorted by needs, and otherwise in the listed order. It reports cycles.
func (l *list) sorted() []model.Step {
	var sorted []model.Step
	done := map[string]bool{}
	var path []string
	var visit func(i int)
	visit = func(i int) {
		name := l.steps[i].Project.Name
		if at := slices.Index(path, name); at >= 0 {
			circle, line := append(slices.Clone(path[at:]), name), 0
			for _, name := range circle { // the line of the first one in mara.yaml
				line = cmp.Or(line, l.declared[name].Line)
			}
			l.problem(line, "projects form a cycle: %s", strings.Join(circle, " -> "))
			return
		}
		if done[name] {
			return
		}
		path = append(path, name)
		for _, need := range l.steps[i].All() {
			if n := l.find(need); n >= 0 {
				visit(n)
			}
		}
		path = path[:len(path)-1]
		done[name] = true
		sorted = append(sorted, l.steps[i])
	}
	for i := range l.steps {
		visit(i)
	}
	return sorted
}

// questions returns the questions of a provider about keys of its projects, and the questions
// of mara.yaml.
func questions(p model.Provider, declared map[string]entry) []model.Question {
	has := func(name string) bool {
		return name == "" || slices.ContainsFunc(p.Steps, func(s model.Step) bool {
			_, ok := s.Project.Key(name)
			return ok
		})
	}
	kept := slices.DeleteFunc(slices.Clone(p.Questions), func(q model.Question) bool {
		return !has(q.Key) || !has(q.DefaultKey) || !has(q.AtLeast) || !has(q.AtMost) || q.When != nil && !has(q.When.Key)
	})
	for _, step := range p.Steps {
		e := declared[step.Project.Name]
		for _, key := range step.Project.Keys {
			isMeant := func(k config.MaraKey) bool { return ownKey(k.Key.Text, step.Project.Name) == key.Name }
			i := slices.IndexFunc(e.Config, isMeant)
			switch {
			case step.Project.Own == nil:
			case i >= 0 && e.Config[i].Question != "":
				kept = append(kept, model.Question{Key: key.Name, Text: e.Config[i].Question})
			case key.Required:
				kept = append(kept, model.Question{Key: key.Name, Text: key.Name})
			}
		}
	}
	return kept
}

// ownKey returns the full name of a key of a project.
func ownKey(name, project string) string {
	if strings.Contains(name, ":") {
		return name
	}
	return project + ":" + name
}
