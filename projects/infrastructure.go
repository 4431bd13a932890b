package projects

import (
	"slices"
	"strings"
	"time"

	"mara/config"
	"mara/config/lists"
	"mara/projects/model"
)

// Infrastructures lists the infrastructures of all providers.
func Infrastructures() []model.Infrastructure {
	return []model.Infrastructure{AWS(), DigitalOcean(), Linode(), Kind(), ExistingCluster()}
}

// InfrastructureByName finds an infrastructure by the provider's name.
func InfrastructureByName(name string) (model.Infrastructure, bool) {
	return lists.Find(Infrastructures(), func(i model.Infrastructure) bool { return i.Name == name })
}

// infraTypes are the names of the infrastructures. A list of its own, because each project's keys need it.
var infraTypes = []string{"aws", "digitalocean", "linode", "kind", "cluster"}

// registryCredentials declares the project that lets a provider's cluster pull from its
// registry.
func registryCredentials(provider string, estimate time.Duration, summary string) model.Project {
	return model.Project{
		Name: provider + "-registry-credentials", Path: "infrastructure/" + provider + "/container-registry-credentials",
		Title: "Registry Credentials", Estimate: estimate,
		Summary: summary,
		Keys:    connectionKeys(),
		Outputs: []model.Output{
			{Name: "secret_name", Doc: "name of the Secret"},
			{Name: "secret_namespace", Doc: "namespace of the Secret"},
		},
	}
}

// registryKeys declares the keys that some registries have for the same purpose.
func registryKeys(of func(model.Registry) config.Key) (keys []config.Key) {
	for _, i := range Infrastructures() {
		if key := of(i.Registry); key.Name != "" {
			keys = append(keys, key)
		}
	}
	return keys
}

// CredentialVariable returns the environment variable for a key of Pulumi's plugins that holds
// a credential, or "" for other keys.
func CredentialVariable(key string) string {
	for _, infrastructure := range Infrastructures() {
		for _, credential := range infrastructure.Account.Credentials {
			if credential.Key == key {
				return credential.Variable
			}
		}
	}
	return ""
}

// WithSecrets lists the projects on a provider that need a Kubernetes Secret with values of the user; "" for those that
// are of no provider alone.
func WithSecrets(provider string) []model.Project {
	return slices.DeleteFunc(All(), func(p model.Project) bool {
		return len(model.InCluster(p)) == 0 || !Serves(p, provider)
	})
}

// Serves reports whether a project can be part of an environment on the
// given provider: the directories infrastructure/<provider> belong to that provider
// alone, everything else to all.
func Serves(p model.Project, provider string) bool {
	for _, other := range infraTypes {
		if strings.HasPrefix(p.Path, "infrastructure/"+other+"/") {
			return other == provider
		}
	}
	return true
}
