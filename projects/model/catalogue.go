package model

import (
	"fmt"
	"strings"

	"mara/config"
	"mara/config/lists"
)

// Catalogue is what comes with a program: its providers and projects, and what it makes of applications in mara.yaml.
// A nil catalogue has nothing.
type Catalogue struct {
	Providers   []Provider
	Projects    []Project    // of all providers, each once
	Credentials []Credential // of the accounts of all clouds
	WithSecrets []string     // projects that any cluster could have, and that need secrets in it
	Application Application
}

// Application is what becomes of an application in mara.yaml.
type Application struct {
	Program func(config.Application) (Made, error) // makes its program; nil if there are no applications
	Reads   string                                 // project whose outputs its program reads
	Hosts   []string                               // projects that an application with a host needs
	// HostKeys are keys of built-in projects whose values are hosts in the same ingress controller.
	HostKeys []string
	// NamespaceKeys are keys of built-in projects whose values are maps of the namespaces that they make.
	NamespaceKeys []string
}

// Made is the program of an application.
type Made struct {
	Text   []byte   // its Pulumi.yaml
	Access []Access // to the API server, which it needs
	// Volumes says how the volumes of its Pods are; nil if they have none, or if a patch leaves that to the configuration.
	Volumes *Volumes
}

// Provider finds a provider. The error for an unknown name lists the known ones.
func (c *Catalogue) Provider(name string) (Provider, error) {
	var all []Provider
	if c != nil {
		all = c.Providers
	}
	if p, ok := lists.Find(all, func(p Provider) bool { return p.Name == name }); ok {
		return p, nil
	}
	names := lists.Map(all, func(p Provider) string { return p.Name })
	return Provider{}, fmt.Errorf("unknown provider %q; known: %s%s", name, strings.Join(names, ", "),
		config.DidYouMean(name, names))
}

// Project finds a project by its Pulumi name.
func (c *Catalogue) Project(name string) (Project, bool) {
	return lists.Find(c.all(), func(p Project) bool { return p.Name == name })
}

// Optional returns the projects that an environment has only if mara.yaml names them.
func (c *Catalogue) Optional() (optional []Project) {
	for _, project := range c.all() {
		if project.Needs != "" {
			optional = append(optional, project)
		}
	}
	return optional
}

// CredentialVariable returns the environment variable for a key of Pulumi's plugins that holds a credential, or "" for
// other keys.
func (c *Catalogue) CredentialVariable(key string) string {
	if c == nil {
		return ""
	}
	found, _ := lists.Find(c.Credentials, func(credential Credential) bool { return credential.Key == key })
	return found.Variable
}

func (c *Catalogue) all() []Project {
	if c == nil {
		return nil
	}
	return c.Projects
}
