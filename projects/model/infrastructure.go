package model

import (
	"mara/config"
)

// Infrastructure is what a provider has of its own, as far as the catalogue and
// the programs need to know it. Provider has the rest.
type Infrastructure struct {
	Name     string           // "aws", as in kubernetes:infra_type
	Title    string           // "Amazon Web Services"
	Local    bool             // the cluster is on this machine
	Projects func() []Project // that only environments on it have

	ClusterProject string // exports the kubeconfig and the cluster's name
	Existing       *Existing
	Registry       Registry
	Account        Account

	StorageClass            string            // of volumes; "" for the cluster's default
	FixedVolumes            bool              // its StorageClass cannot make volumes bigger
	ImagePullSecret         string            // Secret that the ingress controller pulls its image with; "" for none
	LoadBalancerAnnotations map[string]string // of the Services that get a load balancer
	BankPlatform            string            // the provider's banner in Bank of Anthos; "" for that of a local cluster
}

// Existing has the configuration keys of a cluster that no project makes. Infrastructures whose cluster a project makes
// have none.
type Existing struct {
	Kubeconfig string // path of the file
	Context    string // name of the context in it
	Content    string // secret: the kubeconfig in base64, instead of the file

	// What differs between clusters. The runner asks the API server for keys that are not set.
	Asked []string
}

// Registry is the provider's container registry, as images are pushed to it.
type Registry struct {
	Project string // exports what follows
	Login   RegistryLogin

	// The outputs that a push needs; with LoginECR they are always the same. Behind
	// the host there may be the directory for images, where the registry decides on it.
	Host, User, Password string

	Directory config.Key // holds the directory of the registry for images; none when it has no name
	Address   config.Key // names the registry; where it has a name and no value, there is no registry
}

// RegistryLogin is how a push gets its login.
type RegistryLogin string

// The ways to log in to a registry.
const (
	LoginNone    RegistryLogin = "none"    // the registry speaks plain HTTP and asks for no login
	LoginOutputs RegistryLogin = "outputs" // user and password are outputs of the registry's project
	LoginECR     RegistryLogin = "ecr"     // AWS gives out a token
)

// Account says where Pulumi's plugin for the provider finds the credentials of
// the user's account.
type Account struct {
	Region, Profile string       // configuration keys; "" where there is none
	Credentials     []Credential // in the plugin's own configuration
	FetchVariables  []string     // environment variables that say where to fetch credentials
	ProfileVariable string       // environment variable that does as well as Profile; "" where there is none
}

// Credential is a configuration key of a plugin that holds a credential.
type Credential struct {
	Key      string // "linode:token"
	Variable string // environment variable that does as well; "" for none
}
