// Package catalogue has the projects and providers of a root: the built-in ones, and additions
// and changes in mara.yaml. Both become the same kinds of values, so that other packages treat
// them alike. The package executes nothing.
package catalogue

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"strings"

	"mara/config"
	"mara/config/files"
	"mara/config/lists"
	"mara/projects/model"
)

// Catalogue has the projects and providers of a root.
type Catalogue struct {
	Providers []model.Provider
	Projects  []model.Project  // of the providers, each once
	File      string           // "mara.yaml"; "" when there is none
	Doubts    []config.Problem // what may be right in it

	Environments []config.Word // the complete list in mara.yaml; nil if it has none
	Home         config.Value  // the backend that mara.yaml names; not set without one
	HidesValues  bool          // mara.yaml keeps the values that differ out of what is shown
	// BuiltIn is what comes with the runner, of which mara.yaml may list a part; nil for nothing.
	BuiltIn *model.Catalogue
}

// Of returns the catalogue of a root without mara.yaml: all that comes with the runner.
func Of(builtIn *model.Catalogue) Catalogue {
	if builtIn == nil {
		return Catalogue{}
	}
	return Catalogue{Providers: builtIn.Providers, Projects: builtIn.Projects, BuiltIn: builtIn}
}

// Load reads the catalogue of a root. The error lists all problems in mara.yaml and in the files
// that it names. path is the PATH for commands of hooks.
func Load(builtIn *model.Catalogue, root, path string) (Catalogue, error) {
	mara, err := config.ReadMara(root)
	if err != nil {
		return Catalogue{}, config.WithProblems(err, missingDirs(mara, root))
	}
	if mara.File == "" {
		return Of(builtIn), nil
	}
	return LoadMara(builtIn, mara, root, path)
}

// LoadMara builds the catalogue of a parsed mara.yaml.
func LoadMara(builtIn *model.Catalogue, mara config.Mara, root, path string) (Catalogue, error) {
	b := &builder{builtIn: builtIn, mara: mara, root: root, path: path}
	c := b.build()
	c.Doubts = append(mara.Doubts, b.doubts...)
	if len(b.problems) > 0 {
		return Catalogue{}, &config.Error{Problems: b.problems}
	}
	return c, nil
}

// Names returns the names of the providers.
func (c Catalogue) Names() []string {
	return lists.Map(c.Providers, func(p model.Provider) string { return p.Name })
}

// Default returns the only provider of mara.yaml, or "" if there are several.
func (c Catalogue) Default() string {
	if c.File == "" || len(c.Providers) != 1 {
		return ""
	}
	return c.Providers[0].Name
}

// ByName finds a provider. The error for an unknown name lists the known ones.
func (c Catalogue) ByName(name string) (model.Provider, error) {
	if p, ok := lists.Find(c.Providers, func(p model.Provider) bool { return p.Name == name }); ok {
		return p, nil
	}
	known := strings.Join(c.Names(), ", ")
	if _, err := c.BuiltIn.Provider(name); err == nil {
		return model.Provider{}, fmt.Errorf("the provider %q is not listed in %s; known: %s; to use it, write there "+
			"below providers:  %s: {}",
			name, c.File, known, name)
	}
	return model.Provider{}, fmt.Errorf("unknown provider %q; known: %s%s", name, known,
		config.DidYouMean(name, c.Names()))
}

// Project finds a project by its Pulumi name.
func (c Catalogue) Project(name string) (model.Project, bool) {
	return lists.Find(c.Projects, func(project model.Project) bool { return project.Name == name })
}

// Named finds a project by its name, title or directory.
func (c Catalogue) Named(word string) (model.Project, bool) {
	if names := model.Resolve(c.Projects, word); len(names) == 1 {
		return c.Project(names[0])
	}
	return model.Project{}, false
}

// Broken returns what is wrong with the Pulumi.yaml of own projects.
func (c Catalogue) Broken() (problems []config.Problem) {
	for _, project := range c.Projects {
		if project.Own != nil {
			problems = append(problems, project.Own.Broken...)
		}
	}
	return problems
}

// StackNames returns the patterns of the names of stacks.
func (c Catalogue) StackNames() model.StackNames { return model.StackNamesOf(c.Projects) }

// Keys returns the distinct configuration keys of all projects.
func (c Catalogue) Keys() []config.Key {
	var keys []config.Key
	seen := map[string]bool{}
	for _, project := range c.Projects {
		for _, key := range project.Keys {
			if seen[key.Name] {
				continue
			}
			seen[key.Name] = true
			if key.Name == config.InfraType {
				key.Allowed = c.Names()
			}
			keys = append(keys, key)
		}
	}
	return keys
}

// Secrets returns the distinct secrets of all projects.
func (c Catalogue) Secrets() []model.Secret { return model.SecretsOf(c.Projects) }

// Secret finds a secret by its key.
func (c Catalogue) Secret(key string) (model.Secret, bool) {
	return lists.Find(c.Secrets(), func(secret model.Secret) bool { return secret.Key == key })
}

// Beside reads the stack file in a project's directory, which may be missing. It returns an empty
// file for projects without their own stack files.
func Beside(root, environment string, project model.Project) (config.StackFile, error) {
	if project.Own == nil || project.Own.StackFiles == "" {
		return config.StackFile{}, nil
	}
	stack := model.StackNamesOf([]model.Project{project}).Of(project.Name, environment)
	file := filepath.Join(project.Own.StackFiles, "Pulumi."+stack+".yaml")
	shown := file
	if relative, err := filepath.Rel(root, file); err == nil && filepath.IsLocal(relative) {
		shown = filepath.ToSlash(relative)
	}
	content, err := files.ReadCommitted(file, files.Text)
	if errors.Is(err, fs.ErrNotExist) {
		return config.StackFile{File: shown}, config.NearlyStackFile(file, shown)
	}
	if err != nil {
		return config.StackFile{}, &config.Error{Problems: []config.Problem{{File: shown,
			Text: fmt.Sprintf("cannot be read: %v", err)}}}
	}
	parsed, err := config.ParseStack(shown, config.Qualified(content, project.Name))
	parsed.Exists = true
	return parsed, err
}
