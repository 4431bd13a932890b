// Package catalogue knows the projects and providers of a root: the built-in
// ones, and what mara.yaml adds to them and changes about them. What mara.yaml
// says becomes the same values that the built-in catalogue has, so that nothing
// else tells them apart. Nothing is executed here.
package catalogue

import (
	"fmt"
	"slices"
	"strings"

	"github.com/pulumi/pulumi/sdk/v3/go/common/slice"

	"mara/config"
	"mara/projects"
	"mara/providers"
)

// OwnProvider is the name of the provider where mara.yaml lists projects and no
// provider.
const OwnProvider = "own"

// Catalogue is what is known below one root.
type Catalogue struct {
	Providers []providers.Provider
	Projects  []projects.Project // of the providers, each once
	File      string             // "mara.yaml"; "" when there is none
}

// BuiltIn returns the catalogue without any mara.yaml.
func BuiltIn() Catalogue {
	return Catalogue{Providers: providers.All(), Projects: projects.All()}
}

// Load returns the catalogue of a root. Problems in mara.yaml and in the files that it
// names are told all at once. path is the PATH on which commands of hooks are.
func Load(root, path string) (Catalogue, error) {
	mara, err := config.ReadMara(root)
	if err != nil {
		return Catalogue{}, config.WithProblems(err, missingFolders(mara, root))
	}
	if mara.File == "" {
		return BuiltIn(), nil
	}
	return LoadMara(mara, root, path)
}

// LoadMara returns Load for a mara.yaml that has been read.
func LoadMara(mara config.Mara, root, path string) (Catalogue, error) {
	b := &builder{mara: mara, root: root, path: path}
	c := b.build()
	if len(b.problems) > 0 {
		return Catalogue{}, &config.Error{Problems: b.problems}
	}
	return c, nil
}

// Names lists the names of the providers.
func (c Catalogue) Names() []string {
	return slice.Map(c.Providers, func(p providers.Provider) string { return p.Name })
}

// Default returns the provider that nobody has to name: the only one that mara.yaml
// knows. It is "" where there are several.
func (c Catalogue) Default() string {
	if c.File == "" || len(c.Providers) != 1 {
		return ""
	}
	return c.Providers[0].Name
}

// ByName finds a provider. The error for an unknown name lists the known ones.
func (c Catalogue) ByName(name string) (providers.Provider, error) {
	for _, p := range c.Providers {
		if p.Name == name {
			return p, nil
		}
	}
	known := strings.Join(c.Names(), ", ")
	if slices.Contains(providers.Names(), name) {
		return providers.Provider{}, fmt.Errorf("the provider %q is not listed in %s; known: %s; to use it, write there below providers:  %s: {}",
			name, c.File, known, name)
	}
	return providers.Provider{}, fmt.Errorf("unknown provider %q; known: %s%s", name, known, config.DidYouMean(name, c.Names()))
}

// Project finds a project by its Pulumi name.
func (c Catalogue) Project(name string) (projects.Project, bool) {
	return projects.Find(c.Projects, func(project projects.Project) bool { return project.Name == name })
}

// StackNames returns the patterns of the names of stacks.
func (c Catalogue) StackNames() projects.StackNames { return projects.StackNamesOf(c.Projects) }

// Keys lists the configuration keys of all projects, each once.
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

// Secrets returns the secrets of all projects, each once.
func (c Catalogue) Secrets() []projects.Secret { return projects.SecretsOf(c.Projects) }

// Secret finds the secret that a key names.
func (c Catalogue) Secret(key string) (projects.Secret, bool) {
	return projects.Find(c.Secrets(), func(secret projects.Secret) bool { return secret.Key == key })
}
