// Package providers holds what differs between the hosts of a Kubernetes
// cluster and a container registry, as data: which projects make up an
// environment, in which order, and what each of them waits for.
//
// A provider is a layout: its own projects first, then the list that all
// providers share, with further projects of its own put in between.
package providers

import (
	"fmt"
	"strings"
	"sync"

	"mara/config"
	"mara/config/lists"
	"mara/projects"
	"mara/projects/application"
	"mara/projects/model"
)

// layouts are the providers, in the order in which they are shown, made once: each command of the runner names
// them.
var layouts = sync.OnceValue(func() []layout {
	return []layout{aws(), digitalocean(), linode(), kind(), cluster()}
})

// All returns the providers.
func All() []model.Provider {
	return lists.Map(layouts(), layout.provider)
}

// Complete returns the providers with all their optional projects.
func Complete() []model.Provider {
	return lists.Map(All(), model.Provider.Complete)
}

// Names lists the names of the providers.
func Names() []string {
	return lists.Map(layouts(), func(l layout) string { return l.Name })
}

// Catalogue returns what comes with the runner: the one door through which it knows providers and projects.
func Catalogue() *model.Catalogue {
	c := &model.Catalogue{
		Providers: All(), Projects: projects.All(),
		WithSecrets: lists.Map(projects.WithSecrets(""), func(p model.Project) string { return p.Name }),
		Application: model.Application{
			Program: application.Make, Reads: projects.Kubeconfig().Name,
			Hosts:         []string{projects.IngressController().Name, projects.CertManager().Name},
			HostKeys:      []string{projects.BankHostKey},
			NamespaceKeys: []string{projects.GuardedNamespaces},
		},
	}
	for _, infrastructure := range projects.Infrastructures() {
		c.Credentials = append(c.Credentials, infrastructure.Account.Credentials...)
	}
	return c
}

// ByName finds a provider. The error for an unknown name lists the known ones.
func ByName(name string) (model.Provider, error) {
	for _, l := range layouts() {
		if l.Name == name {
			return l.provider(), nil
		}
	}
	hint := config.DidYouMean(name, Names())
	return model.Provider{}, fmt.Errorf("unknown provider %q; known: %s%s", name, strings.Join(Names(), ", "), hint)
}

// Keys returns the configuration keys of all projects of the catalogue, each once.
func Keys() []config.Key {
	var keys []config.Key
	seen := map[string]bool{}
	for _, project := range projects.All() {
		for _, key := range project.Keys {
			if !seen[key.Name] {
				keys = append(keys, key)
			}
			seen[key.Name] = true
		}
	}
	return keys
}
