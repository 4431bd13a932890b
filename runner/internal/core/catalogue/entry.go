package catalogue

import (
	"cmp"
	"errors"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"mara/config"
	"mara/config/files"
	"mara/config/lists"
	"mara/projects/model"
	"mara/runner/internal/core/event"
	"mara/runner/internal/core/gitsource"
)

// entries returns the valid projects of a list, and reports the others.
func (b *builder) entries(list []config.MaraProject) []entry {
	var entries []entry
	for _, declared := range list {
		if e, ok := b.entry(declared); ok {
			entries = append(entries, e)
		}
	}
	return entries
}

func (b *builder) entry(declared config.MaraProject) (entry, bool) {
	e := entry{MaraProject: declared}
	var ok bool
	if declared.Project.Text != "" {
		e.project, ok = b.catalogued(declared.Project)
	} else {
		e.project, ok = b.own(declared)
	}
	if !ok {
		return e, false
	}
	if e.project.Name == event.RunProject {
		b.problem(e.Line, "a project cannot be named %q: hooks of the run go by that name", e.project.Name)
	}
	b.adorn(&e)
	return e, true
}

// catalogued finds a project of the built-in catalogue.
func (b *builder) catalogued(name config.Word) (model.Project, bool) {
	project, ok := b.builtIn.Project(name.Text)
	if !ok {
		names := lists.Map(Of(b.builtIn).Projects, projectName)
		b.problem(name.Line, "project names %q, which does not come with the runner%s; for a project of your own write  "+
			"path: DIR",
			name.Text, config.DidYouMean(name.Text, names))
	}
	return project, ok
}

// own reads an own project from its directory.
func (b *builder) own(declared config.MaraProject) (model.Project, bool) {
	dir, shown, ok := b.directory(declared)
	if !ok {
		return model.Project{}, false
	}
	manifest, err := config.ReadManifest(dir, shown)
	var broken []config.Problem
	if invalid, ok := errors.AsType[*config.Error](err); ok {
		broken = invalid.Problems
		manifest = config.Manifest{Name: cmp.Or(manifest.Name, nameIn(dir), filepath.Base(dir)), Runtime: manifest.Runtime}
	} else if err != nil {
		return model.Project{}, false
	}
	project := model.Project{
		Name: manifest.Name, Path: shown, Title: manifest.Name, Summary: cmp.Or(manifest.Description,
			"a project of your own"), Keys: manifest.Keys,
		Own: &model.Own{Dir: dir, Runtime: manifest.Runtime, Built: manifest.Binary != "", Timeout: declared.Timeout,
			When: declared.When.Text, WhenLine: declared.When.Line, Line: declared.Line,
			Git: declared.Git.Text, Ref: declared.Ref.Text, Path: declared.Path.Text,
			Inputs: config.Words(declared.Inputs), Broken: broken, Env: declared.Env, Retry: declared.Retry},
	}
	for i := range project.Keys { // only Pulumi YAML has to declare what it reads
		project.Keys[i].Open = manifest.Runtime != "yaml"
	}
	if len(declared.Inputs) == 0 {
		project.Own.Inputs = nil
	}
	project.Secrets = lists.Map(manifest.Secrets, func(key config.Key) model.Secret {
		return model.Secret{Key: key.Name, Prompt: key.Name, Doc: key.Doc, Own: true, Optional: !key.Required}
	})
	project.Own.Stack = b.stackNames(declared)
	b.checkEnvironmentsOf(declared.Env)
	project.Own.Backend = b.backendOf(declared, manifest, dir, shown)
	if declared.StackFile.Text == config.OwnStackFile {
		project.Own.StackFiles = filepath.Join(dir, filepath.FromSlash(manifest.StackConfigDir))
	}
	return project, true
}

// checkEnvironmentsOf reports variables with a value for an environment that the list of mara.yaml does not have.
func (b *builder) checkEnvironmentsOf(variables []config.MaraVariable) {
	known := config.Words(b.mara.Environments)
	for _, v := range variables {
		for _, environment := range slices.Sorted(maps.Keys(v.Of)) {
			if b.mara.Environments != nil && !slices.Contains(known, environment) {
				b.problem(v.Name.Line, "env: %s has a value for %s, which environments does not list%s", v.Name.Text, environment,
					config.DidYouMean(environment, known))
			}
		}
	}
}

// nameIn returns the name in a Pulumi.yaml that is not valid, "" if no line has it.
func nameIn(dir string) string {
	content, err := files.ReadCommitted(filepath.Join(dir, config.ManifestFile), files.Text)
	if err != nil {
		return ""
	}
	match := regexp.MustCompile(`(?m)^name:[ \t]*["']?([A-Za-z0-9_.-]{1,100})["']?[ \t]*(#.*)?$`).FindSubmatch(content)
	if match == nil {
		return ""
	}
	return string(match[1])
}

// backendOf returns the backend that mara.yaml gives to a project, or else the one that its Pulumi.yaml names. A
// relative directory there begins at the project's directory: plain Pulumi takes it from the working directory, and
// works only there.
func (b *builder) backendOf(declared config.MaraProject, manifest config.Manifest, dir, shown string) config.Value {
	backend := config.Value{Text: declared.Backend.Text, Origin: config.Origin{
		Source: config.FromMara, Name: "backend", File: b.mara.File, Line: declared.Backend.Line,
	}}
	from := b.root
	if backend.Text == "" {
		from = dir
		backend = config.Value{Text: manifest.Backend.Text, Origin: config.Origin{Source: config.FromProject,
			Name: "backend.url", File: path.Join(shown, config.ManifestFile), Line: manifest.Backend.Line}}
	}
	if backend.Text == "" {
		return config.Value{}
	}
	backend, err := config.AbsoluteBackend(backend, from)
	if err == nil {
		err = config.CheckBackend(backend)
	}
	if invalid, ok := errors.AsType[*config.Error](err); ok {
		b.problems = append(b.problems, invalid.Problems...)
	}
	return backend
}

// directory returns the directory of a project, and its printable form.
func (b *builder) directory(declared config.MaraProject) (dir, shown string, ok bool) {
	place := declared.Path
	dir, shown = filepath.FromSlash(place.Text), filepath.ToSlash(filepath.Clean(place.Text))
	if declared.Git.Text != "" {
		if declared.Ref.Text == "" {
			return "", "", false // another check reports it
		}
		source := gitsource.Source{URL: declared.Git.Text, Ref: declared.Ref.Text}
		if _, ok := source.Commit(b.root); !ok {
			b.problem(declared.Git.Line, "the project is in %s, which is not here yet; fetch it with `runner fetch`", source)
			return "", "", false
		}
		dir, shown = filepath.Join(source.Directory(b.root), dir), path.Join(source.String(), shown)
		place.Line = cmp.Or(place.Line, declared.Git.Line)
	}
	if !filepath.IsAbs(dir) {
		dir = filepath.Join(b.root, dir)
	}
	if info, err := os.Stat(dir); err != nil || !info.IsDir() {
		b.problem(place.Line, "path names %s, and there is no such directory", shown)
		return "", "", false
	}
	if _, err := os.Stat(filepath.Join(dir, config.ManifestFile)); err != nil {
		b.problem(place.Line, "path names %s, and there is no %s in it", shown, config.ManifestFile)
		return "", "", false
	}
	return dir, shown, true
}

// missingDirs returns the problems of directories in a mara.yaml that has other problems, too.
func missingDirs(mara config.Mara, root string) []config.Problem {
	b := &builder{mara: mara, root: root}
	for _, declared := range mara.AllProjects() {
		if declared.Path.Text != "" && declared.Project.Text == "" {
			b.directory(declared)
		}
	}
	return b.problems
}

// stackNames checks the pattern of a project's stack names. Pulumi names stack files after
// stacks, so a project with other stack names cannot use the shared file.
func (b *builder) stackNames(declared config.MaraProject) string {
	pattern := declared.Stack
	if pattern.Text == "" || pattern.Text == model.StackPlaceholder {
		return ""
	}
	before, after, found := strings.Cut(pattern.Text, model.StackPlaceholder)
	err := config.CheckStackName(before + "x" + after)
	switch {
	case !found:
		b.problem(pattern.Line, "stack is %q; write %s where the name of the environment comes, as in  stack: \"%s-%[2]s\"",
			pattern.Text, model.StackPlaceholder, pattern.Text)
	case err != nil:
		b.problem(pattern.Line, "stack is %q: %v", pattern.Text, err)
	case declared.StackFile.Text != config.OwnStackFile:
		b.problem(pattern.Line, "stack needs  stackFile: %s, since stack files are named by their stacks",
			config.OwnStackFile)
	}
	return pattern.Text
}

// adorn adds the settings in mara.yaml to a project.
func (b *builder) adorn(e *entry) {
	p := &e.project
	p.Title, p.Estimate = cmp.Or(e.Title, p.Title), cmp.Or(e.Estimate, p.Estimate)
	if strings.Trim(strings.ToLower(e.Phase), "abcdefghijklmnopqrstuvwxyz0123456789-_") != "" {
		b.problem(e.Line, "phase is %q; write letters, digits and hyphens", e.Phase)
	}
	for _, word := range e.Outputs {
		p.Outputs = append(slices.Clone(p.Outputs), model.Output{Name: word.Text, Line: word.Line, Highlight: true,
			Doc: "output of your own project"})
	}
	if p.Own == nil {
		b.refuseForBuiltIn(e)
		return
	}
	if p.Own.Broken != nil {
		p.Hooks = b.hooks(e.Hooks, p.Own.Dir, true)
		return
	}
	if _, err := compile(e.When.Text); err != nil && e.When.Text != "" {
		b.problem(e.When.Line, "when is not a jq expression: %v", err)
	} else if match := configAsMap.FindStringSubmatch(e.When.Text); match != nil {
		b.problem(e.When.Line, "when has %s, which is always null: a key is one name; write  .config[\"%s:%s\"]", match[0], match[1], match[2])
	}
	for _, word := range e.Inputs {
		if !strings.ContainsAny(word.Text, "*?[") {
			if _, err := os.Stat(filepath.Join(b.root, filepath.FromSlash(word.Text))); errors.Is(err, fs.ErrNotExist) {
				b.doubt(word.Line, "inputs names %s, and there is no such file or directory below the root", word.Text)
			}
		}
	}
	b.addRules(e)
	p.Hooks = b.hooks(e.Hooks, p.Own.Dir, true)
}

// refuseForBuiltIn reports settings that only own projects can have, and adds hooks to the
// hooks of the project.
func (b *builder) refuseForBuiltIn(e *entry) {
	for _, option := range []struct {
		name  string
		given bool
	}{
		{"when", e.When.Text != ""},
		{"stackFile", e.StackFile.Text != ""},
		{"stack", e.Stack.Text != ""},
		{"config", len(e.Config) > 0},
		{"replaces", e.Replaces.Text != ""},
		{"timeout", e.Timeout > 0},
		{"inputs", len(e.Inputs) > 0},
		{"backend", e.Backend.Text != ""},
		{"env", len(e.Env) > 0},
		{"retry", e.Retry != nil},
	} {
		if option.given {
			b.problem(e.Line, "%s is for projects of your own; %s comes with the runner", option.name, e.project.Name)
		}
	}
	for _, hook := range b.hooks(e.Hooks, b.root, true) {
		if !e.project.HasHook(hook.Name) {
			e.project.Hooks = append(slices.Clone(e.project.Hooks), hook)
		}
	}
}

// addRules adds allowed values, limits and examples to the keys of a project.
func (b *builder) addRules(e *entry) {
	for _, rule := range e.Config {
		name := ownKey(rule.Key.Text, e.project.Name)
		key := slices.IndexFunc(e.project.Keys, func(k config.Key) bool { return k.Name == name })
		secret := slices.IndexFunc(e.project.Secrets, func(s model.Secret) bool { return s.Key == name })
		switch {
		case key >= 0:
			b.addRule(&e.project.Keys[key], rule)
		case secret >= 0:
			b.addSecretRule(&e.project.Secrets[secret], rule)
		default:
			b.problem(rule.Key.Line, "config names %q, which the section config of %s/%s does not declare%s",
				name, e.project.Path, config.ManifestFile, config.DidYouMean(name, keysOf(e.project)))
		}
	}
}

func keysOf(p model.Project) []string {
	return slices.Concat(lists.Map(p.Keys, func(key config.Key) string { return key.Name }),
		model.SecretKeys(p.Secrets))
}

func (b *builder) addRule(key *config.Key, rule config.MaraKey) {
	line := rule.Key.Line
	if len(rule.Allowed) > 0 && !slices.Contains([]config.Kind{config.String, config.Int, config.List}, key.Kind) {
		b.problem(line, "%s is of the type %s; only a string, an integer and a list of strings have allowed values", key.Name,
			key.Kind)
	}
	for _, allowed := range rule.Allowed {
		if _, ok := config.Number(allowed); !ok && key.Kind == config.Int {
			b.problem(line, "%s is of the type %s, but allowed has %q", key.Name, key.Kind, allowed)
		}
	}
	if (rule.Min != nil || rule.Max != nil) && key.Kind != config.Int {
		b.problem(line, "%s is of the type %s; only an integer has min and max", key.Name, key.Kind)
	}
	if rule.Generate.Text != "" {
		b.problem(rule.Generate.Line, "%s is not secret; only secrets are generated", key.Name)
	}
	key.Allowed, key.Min, key.Max, key.Example = rule.Allowed, rule.Min, rule.Max, rule.Example
	if err := key.Validate(plain(key.Default)); key.Default != nil && err != nil {
		b.problem(line, "the default of %s %v", key.Name, err)
	}
}

// plain returns a default as a value of a stack file.
func plain(value any) any {
	texts, ok := value.([]string)
	if !ok {
		return value
	}
	return lists.Map(texts, func(text string) any { return text })
}

func (b *builder) addSecretRule(secret *model.Secret, rule config.MaraKey) {
	ways := []string{string(model.Password), string(model.AlphanumericPassword), string(model.RSAKey)}
	switch {
	case len(rule.Allowed) > 0 || rule.Min != nil || rule.Max != nil:
		b.problem(rule.Key.Line, "%s is secret; it has no allowed values and no limits", secret.Key)
	case rule.Generate.Text != "" && !slices.Contains(ways, rule.Generate.Text):
		b.problem(rule.Generate.Line, "generate is %q; allowed: %s%s", rule.Generate.Text, strings.Join(ways, ", "),
			config.DidYouMean(rule.Generate.Text, ways))
	}
	secret.Generate = model.Generator(rule.Generate.Text)
	secret.Prompt = cmp.Or(rule.Question, secret.Prompt)
}
