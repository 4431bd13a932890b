package projects

import (
	"slices"
	"strings"
	"time"

	"mara/config"
	"mara/projects/model"
	"mara/projects/offers"
)

// recordsAtDO is the name of the service in certmgr:acme_dns, as cert-manager names it.
const recordsAtDO = "digitalocean"

// DigitalOcean hosts the cluster in DOKS and the registry in its own container
// registry, which the cluster needs credentials to pull from. It can keep the
// application's name in its DNS.
//
// The keys of its projects are in the namespaces doks, docr and dns: Pulumi hands
// the DigitalOcean provider every key of the namespace "digitalocean" as the
// provider's own configuration, and it refuses unknown keys.
func DigitalOcean() model.Infrastructure {
	return model.Infrastructure{
		Name:  "digitalocean",
		Title: "DigitalOcean",
		Projects: func() []model.Project {
			return []model.Project{
				DigitalOceanDOKS(), DigitalOceanRegistry(), DigitalOceanRegistryCredentials(), DigitalOceanDNS(),
			}
		},
		ClusterProject: "digitalocean-doks",
		Registry: model.Registry{
			Project: "digitalocean-registry", Login: model.LoginOutputs,
			Host: "registry_endpoint", User: "registry_user", Password: "registry_password",
		},
		Account: model.Account{Credentials: []model.Credential{{Key: "digitalocean:token",
			Variable: "DIGITALOCEAN_TOKEN"}}},
		ImagePullSecret: RegistrySecret,
	}
}

// DigitalOceanLimit is the longest name that the programs give: less than what DigitalOcean takes for any name
// and for a tag.
const DigitalOceanLimit = 50

// DigitalOceanDOKS declares the cluster.
func DigitalOceanDOKS() model.Project {
	return model.Project{
		Name: "digitalocean-doks", Path: "infrastructure/digitalocean/doks", Title: "DOKS", Estimate: 6 * time.Minute,
		Summary: "a managed Kubernetes cluster with one pool of nodes",
		Keys: slices.Concat([]config.Key{
			{Name: "doks:region", Kind: config.String, Form: digitalOceanRegion, Default: "nyc3", Example: "fra1",
				Doc: "region of the cluster; one that offers Kubernetes"},
			{Name: "doks:k8s_version", Kind: config.String, Form: digitalOceanVersion, Default: "1.36", Example: "1.35",
				Doc: "Kubernetes version: major.minor follows its newest patch with every up, " +
					"a whole version such as 1.36.2-do.0 stays"},
			{Name: "doks:node_size", Kind: config.String, Form: digitalOceanSize, Default: "s-4vcpu-8gb", Example: "c-4",
				Doc: "size of the nodes, as DigitalOcean names it"},
		}, poolKeys("doks", 1000), []config.Key{
			{Name: "doks:api_allowed_cidrs", Kind: config.List, Form: config.AddressOrRange, Example: `["203.0.113.0/24"]`,
				Doc: "addresses and ranges that may reach the API server; from everywhere when not set"},
			{Name: "doks:kubeconfig_days", Kind: config.Int, Default: 365, Min: new(1), Max: new(3650),
				Example: "30", Doc: "days that the kubeconfig is good for; 7 if it were left to DigitalOcean"},
			poolsKey("doks", "c-4", ""),
		}),
		Rules: append(offersOf("digitalocean", "doks:region", "doks:node_size", "doks:k8s_version"), autoscaled("doks"),
			intelPlatform, poolRule("doks", digitalOceanSize), poolSizes("doks", "digitalocean", digitalOceanSize)),
		Outputs: []model.Output{
			{Name: "kubeconfig", Secret: true, Doc: "kubeconfig of the cluster"},
			{Name: "cluster_name", Doc: "name of the cluster"},
			{Name: "cluster_id", Doc: "id of the cluster"},
			{Name: "cluster_version", Doc: "Kubernetes version of the cluster"},
			{Name: "api_endpoint", Highlight: true, Doc: "URL of the API server"},
		},
		Hooks:                []model.Hook{model.KubeconfigHook()},
		LeavesCloudResources: true,
		Versions: []model.Version{{
			What: "control plane and nodes", Key: "doks:k8s_version",
			Type: "digitalocean:index/kubernetesCluster:KubernetesCluster", Property: "version",
			Note: "DigitalOcean upgrades the control plane, which does not answer meanwhile without high availability, and " +
				"then each node",
		}},
	}
}

// DOKSPools reads the value of doks:pools.
func DOKSPools(value map[string]any) []Pool {
	pools, _ := Pools(value, digitalOceanSize)
	return pools
}

// DigitalOceanRegistry declares the container registry.
func DigitalOceanRegistry() model.Project {
	return model.Project{
		Name: "digitalocean-registry", Path: "infrastructure/digitalocean/container-registry",
		Title: "Container Registry", Estimate: 10 * time.Second,
		Summary: "a private container registry, or the one that the account has, with a login to push",
		Keys: []config.Key{
			docrNameKey(),
			{Name: "docr:tier", Kind: config.String, Default: "starter",
				Allowed: []string{"starter", "basic", "professional"}, Example: "basic",
				Doc: "subscription of the account's registries; starter costs nothing"},
			{Name: "docr:region", Kind: config.String, Form: digitalOceanRegion, Example: "fra1",
				Doc: "region of the registry; DigitalOcean chooses one when not set"},
		},
		Rules: []config.Rule{
			offered("docr:region", func() offers.List { return offers.Of("digitalocean").RegistryRegions }),
		},
		Outputs: []model.Output{
			{Name: "registry_name", Doc: "name of the registry"},
			{Name: "registry_endpoint", Highlight: true, Doc: "registry as images are named: host and name"},
			{Name: "registry_user", Secret: true, Doc: "user that may push; DigitalOcean uses the token for both"},
			{Name: "registry_password", Secret: true, Doc: "password of that user; it is good until destroy revokes it"},
		},
		Settled: []string{"digitalocean:index/getContainerRegistry:getContainerRegistry"}, // a name and what follows from it
	}
}

// DigitalOceanRegistryCredentials lets the cluster pull from the registry.
func DigitalOceanRegistryCredentials() model.Project {
	return registryCredentials("digitalocean", 10*time.Second,
		"a login that can only pull, and the Secret that gives it to the ingress controller's namespace")
}

// DigitalOceanDNS gives the application its name.
func DigitalOceanDNS() model.Project {
	return model.Project{
		Name: "digitalocean-dns", Path: "infrastructure/digitalocean/dns", Title: "DNS Record", Estimate: 5 * time.Second,
		Summary: "the record that leads the application's host name to the load balancer, if dns:domain says where",
		Keys: []config.Key{
			keyOf(BankOfAnthos(), "bank-of-anthos:host"),
			{Name: "dns:domain", Kind: config.String, Form: config.Host, Example: "example.com",
				Doc: "domain in DigitalOcean's DNS that bank-of-anthos:host belongs to; no record is made when not set"},
			{Name: "dns:ttl", Kind: config.Int, Default: 1800, Min: new(30), Max: new(604800), Example: "300",
				Doc: "seconds that others may keep the record"},
		},
		Rules:   []config.Rule{hostInDomain},
		Outputs: []model.Output{{Name: "record", Doc: "name of the record; empty when there is none"}},
		Settled: []string{"digitalocean:index/getDomain:getDomain"}, // whether the domain is there
	}
}

// docrNameKey declares the registry that is there already.
func docrNameKey() config.Key {
	return config.Key{Name: "docr:registry", Kind: config.String, Form: digitalOceanRegistry, Example: "example",
		Doc: "name of a registry that the account has already: it is used, and stays after a destroy; " +
			"a new one is made when not set, but below the tier professional an account can have only one"}
}

// The forms of values that DigitalOcean takes.
var (
	digitalOceanRegion  = config.NewForm("a region such as nyc3", `^[a-z]{3}[0-9]$`)
	digitalOceanSize    = config.NewForm("a size such as s-4vcpu-8gb", `^[a-z0-9]+(-[a-z0-9_]+)+$`)
	digitalOceanVersion = &config.Form{Meant: config.KubernetesMinor.Meant,
		Title:   "a version of Kubernetes, major.minor in quotes or whole such as 1.36.2-do.0",
		Pattern: `^1\.[0-9]{2}(\.[0-9]+-do\.[0-9]+)?$`}
	digitalOceanRegistry = config.NewForm("the name of a registry: lower case, digits and hyphens", `^[a-z0-9][a-z0-9-]{0,62}$`)
)

// hostInDomain requires the application's host in the domain that gets its record.
func hostInDomain(v config.Values) []config.Finding {
	const domainKey, hostKey = "dns:domain", "bank-of-anthos:host"
	domain, host := v.Text(domainKey), v.Text(hostKey)
	switch {
	case domain == "" || host == domain || strings.HasSuffix(host, "."+domain):
		return nil
	case host == "":
		return []config.Finding{{Key: hostKey, At: domainKey, Text: "is not set, but dns:domain is: the record needs a name"}}
	}
	return config.Wrong(domainKey, "is %q, which %s %q does not belong to", domain, hostKey, host)
}
