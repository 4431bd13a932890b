package catalogue

import (
	"cmp"
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/pulumi/pulumi/sdk/v3/go/common/slice"

	"mara/config"
	"mara/projects"
	"mara/providers"
	"mara/providers/needs"
)

// builder makes the catalogue of one mara.yaml and collects what is wrong.
type builder struct {
	mara     config.Mara
	root     string
	path     string // on which commands are
	problems []config.Problem
}

func (b *builder) problem(line int, format string, args ...any) {
	b.problems = append(b.problems, b.mara.Problem(line, fmt.Sprintf(format, args...)))
}

// entry is a project of mara.yaml, with its declaration.
type entry struct {
	config.MaraProject
	project projects.Project
}

func (b *builder) build() Catalogue {
	b.checkProviders()
	common := b.entries(b.mara.Projects)
	runHooks := b.hooks(b.mara.Hooks, b.root, false)
	c := Catalogue{File: b.mara.File}
	for _, declared := range b.declared() {
		p, ok := b.provider(declared, common)
		if !ok {
			continue
		}
		p.Hooks = runHooks
		c.Providers = append(c.Providers, p)
		c.add(p)
	}
	return c
}

// add adds the projects of a provider that are not known yet.
func (c *Catalogue) add(p providers.Provider) {
	for _, step := range p.Steps {
		if _, ok := c.Project(step.Project.Name); !ok {
			c.Projects = append(c.Projects, step.Project)
		}
	}
}

// declared returns the providers that mara.yaml declares; without any there is one
// for all its projects.
func (b *builder) declared() []config.MaraProvider {
	if len(b.mara.Providers) == 0 {
		return []config.MaraProvider{{Name: config.Word{Text: OwnProvider}, Title: "Own projects"}}
	}
	return b.mara.Providers
}

// checkProviders reports providers that are named and not declared.
func (b *builder) checkProviders() {
	names := slice.Map(b.declared(), func(p config.MaraProvider) string { return p.Name.Text })
	for _, project := range b.mara.Projects {
		for _, word := range project.Providers {
			if !slices.Contains(names, word.Text) {
				b.problem(word.Line, "providers names %q, which is not a provider of this file; known: %s%s",
					word.Text, strings.Join(names, ", "), config.DidYouMean(word.Text, names))
			}
		}
	}
}

// provider makes a provider; ok is false when it is not known what it is based
// on.
func (b *builder) provider(declared config.MaraProvider, common []entry) (p providers.Provider, ok bool) {
	p, ok = b.base(declared)
	if !ok {
		return p, false
	}
	l := &list{builder: b, provider: p.Name, steps: p.Steps, declared: map[string]entry{}}
	if declared.Listed {
		l.steps = nil
		for _, e := range b.entries(declared.Projects) {
			l.use(e, p.Steps)
		}
	}
	for _, e := range common {
		if e.Providers == nil || slices.Contains(config.Words(e.Providers), p.Name) {
			l.use(e, p.Steps)
		}
	}
	l.leaveOut(declared.Without)
	l.order(declared.After)
	l.check()
	p.Steps = l.sorted()
	p.Questions = questions(p, l.declared)
	p.ClusterProject = cmp.Or(p.ClusterProject, clusterOf(p.Steps))
	return p, true
}

// base returns what a provider begins with: a built-in one, or nothing.
func (b *builder) base(declared config.MaraProvider) (providers.Provider, bool) {
	name, extends := declared.Name, declared.Extends
	builtIn, err := providers.ByName(name.Text)
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
	p := providers.Provider{}
	if extends.Text != "" {
		if p, err = providers.ByName(extends.Text); err != nil {
			b.problem(extends.Line, "extends names an %v", err)
			return p, false
		}
		p.Extends = p.Name
	}
	p.Name, p.Title = name.Text, cmp.Or(declared.Title, name.Text)
	return p, true
}

// isName reports whether a text can stand in names of files and contexts.
func isName(text string) bool {
	return text != "" && strings.Trim(text, "abcdefghijklmnopqrstuvwxyz0123456789-") == "" && !strings.HasPrefix(text, "-")
}

// clusterOf returns the project whose kubeconfig is merged; "" where there is none.
func clusterOf(steps []providers.Step) string {
	for _, step := range steps {
		if step.Project.HasHook(projects.HookKubeconfig) {
			return step.Project.Name
		}
	}
	return ""
}

// list is the projects of a provider while they are put together.
type list struct {
	*builder
	provider string
	steps    []providers.Step
	declared map[string]entry // those of mara.yaml, by name
}

func (l *list) find(name string) int {
	return slices.IndexFunc(l.steps, func(s providers.Step) bool { return s.Project.Name == name })
}

func (l *list) names() []string {
	return slice.Map(l.steps, func(step providers.Step) string { return step.Project.Name })
}

// use puts a project into the list: in the place of another, over its own entry,
// or at the end. The edges of a project that the base has are those of the base,
// unless there are others.
func (l *list) use(e entry, base []providers.Step) {
	name := e.project.Name
	step := providers.Step{Project: e.project, Phase: e.Phase, Needs: needs.Needs{Reads: config.Words(e.Reads), After: config.Words(e.After)}}
	at := l.find(name)
	if earlier, twice := l.declared[name]; twice || at >= 0 && e.project.Own != nil && e.Replaces.Text != name {
		l.told(e, earlier)
		return
	}
	model := name
	if e.Replaces.Text != "" {
		if model = e.Replaces.Text; l.find(model) < 0 {
			l.problem(e.Replaces.Line, "replaces names %q, which %s does not have%s", model, l.provider, config.DidYouMean(model, l.names()))
			return
		}
		at = l.find(model)
	}
	if i := slices.IndexFunc(base, func(s providers.Step) bool { return s.Project.Name == model }); i >= 0 && !e.Edges {
		step.Needs = base[i].Needs
	}
	l.declared[name] = e
	if at < 0 {
		l.steps = append(l.steps, step)
		return
	}
	l.steps = slices.Clone(l.steps)
	l.steps[at] = step
	if model != name {
		l.redirect(e, model)
	}
}

// told reports a project that is there twice.
func (l *list) told(e, earlier entry) {
	name := e.project.Name
	if earlier.project.Name != "" {
		l.problem(e.Line, "the project %q is there twice; the first time is line %d", name, earlier.Line)
		return
	}
	l.problem(e.Line, "the project %q has the name of a built-in one of %s; give it another name, or say  replaces: %s", name, l.provider, name)
}

// redirect leads edges to a replaced project to the one that replaces it. A
// program that reads the outputs of the replaced one would still look for that
// by its name.
func (l *list) redirect(e entry, replaced string) {
	for i, step := range l.steps {
		if slices.Contains(step.Reads, replaced) && step.Project.Own == nil {
			l.problem(e.Replaces.Line, "%s reads the outputs of %s by that name; give the project that replaces it the name %s, or leave %s out",
				step.Project.Name, replaced, replaced, step.Project.Name)
		}
		l.steps[i].Needs = needs.Needs{Reads: renamed(step.Reads, replaced, e.project.Name), After: renamed(step.After, replaced, e.project.Name)}
	}
}

func renamed(names []string, from, to string) []string {
	names = slices.Clone(names)
	for i, name := range names {
		if name == from {
			names[i] = to
		}
	}
	return names
}

// leaveOut takes projects out of the list. What only waited for them goes on
// without; what reads them cannot.
func (l *list) leaveOut(without []config.Word) {
	for _, word := range without {
		i := l.find(word.Text)
		if i < 0 {
			l.problem(word.Line, "without names %q, which %s does not have%s", word.Text, l.provider, config.DidYouMean(word.Text, l.names()))
			continue
		}
		l.steps = slices.Delete(slices.Clone(l.steps), i, i+1)
	}
	out := config.Words(without)
	for i, step := range l.steps {
		for _, name := range step.Reads {
			if at := slices.Index(out, name); at >= 0 && step.Project.Own == nil {
				l.problem(without[at].Line, "%s reads the outputs of %s, which is left out; leave it out, too", step.Project.Name, name)
			}
		}
		l.steps[i].After = slices.DeleteFunc(slices.Clone(step.After), func(name string) bool { return slices.Contains(out, name) })
	}
}

// order lets projects wait for others.
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

func (l *list) unknown(word config.Word, key string) {
	hint := config.DidYouMean(word.Text, l.names())
	for _, step := range l.steps {
		if own := step.Project.Own; own != nil && path.Clean(step.Project.Path) == path.Clean(word.Text) {
			hint = fmt.Sprintf("; the project in %s is %q", word.Text, step.Project.Name)
		}
	}
	l.problem(word.Line, "%s names %q, which is not a project of %s%s", key, word.Text, l.provider, hint)
}

// check reports edges to projects that are not there, and circles.
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
		missing("reads", l.declared[name].Reads)
		missing("after", l.declared[name].After)
	}
	if len(l.problems) > before {
		return
	}
	for _, step := range l.steps { // what a list without a project of the base has lost
		for _, name := range step.All() {
			if e, ok := l.declared[step.Project.Name]; ok && !e.Edges && l.find(name) < 0 {
				l.problem(e.Line, "%s needs %s, which is not a project of %s; add it, or write reads and after", step.Project.Name, name, l.provider)
			}
		}
	}
}

// sorted returns the list with everything behind what it needs, and otherwise in the
// order in which it is listed. A circle is reported.
func (l *list) sorted() []providers.Step {
	var sorted []providers.Step
	done := map[string]bool{}
	var path []string
	var visit func(i int)
	visit = func(i int) {
		name := l.steps[i].Project.Name
		if at := slices.Index(path, name); at >= 0 {
			l.circle(append(slices.Clone(path[at:]), name))
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

// circle reports projects that need each other, at the first of them that
// mara.yaml has.
func (l *list) circle(names []string) {
	line := 0
	for _, name := range names {
		line = cmp.Or(line, l.declared[name].Line)
	}
	l.problem(line, "projects need each other in a circle: %s", strings.Join(names, " -> "))
}

// questions returns those of a provider whose keys some project has, and those of
// mara.yaml.
func questions(p providers.Provider, declared map[string]entry) []providers.Question {
	has := func(name string) bool {
		return name == "" || slices.ContainsFunc(p.Steps, func(s providers.Step) bool { _, ok := s.Project.Key(name); return ok })
	}
	kept := slices.DeleteFunc(slices.Clone(p.Questions), func(q providers.Question) bool {
		return !has(q.Key) || !has(q.DefaultKey) || !has(q.AtLeast) || !has(q.AtMost) || q.When != nil && !has(q.When.Key)
	})
	for _, step := range p.Steps {
		e := declared[step.Project.Name]
		for _, key := range step.Project.Keys {
			i := slices.IndexFunc(e.Config, func(k config.MaraKey) bool { return ownKey(k.Key.Text, step.Project.Name) == key.Name })
			switch {
			case step.Project.Own == nil:
			case i >= 0 && e.Config[i].Question != "":
				kept = append(kept, providers.Question{Key: key.Name, Text: e.Config[i].Question})
			case key.Required:
				kept = append(kept, providers.Question{Key: key.Name, Text: key.Name})
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
