package projects

import (
	"slices"
	"time"

	"mara/config"
	"mara/projects/model"
	"mara/projects/offers"
)

// RootKey is the key of the value by which the runner tells a program, in its
// context, where the root is: relative paths in the configuration start at
// config/pulumi below it. Under plain `pulumi up` there is no such value, and
// the root is above the project's directory.
type RootKey struct{}

// Linode hosts the cluster in LKE. It has no registry of its own: Harbor runs
// on an instance, is configured once its address is known, and the cluster
// needs credentials to pull from it.
//
// The keys of its projects are in the namespaces lke and harbor: Pulumi hands
// the Linode provider every key of the namespace "linode" as the provider's own
// configuration, and it refuses unknown keys.
func Linode() model.Infrastructure {
	return model.Infrastructure{
		Name:  "linode",
		Title: "Linode",
		Projects: func() []model.Project {
			return []model.Project{LinodeLKE(), LinodeHarbor(), LinodeHarborConfiguration(), LinodeRegistryCredentials()}
		},
		ClusterProject: "linode-lke",
		Registry: model.Registry{
			Project: "linode-harbor", Login: model.LoginOutputs,
			Host: "harbor_hostname", User: "harbor_user", Password: "harbor_password", Directory: harborProjectKey(),
		},
		Account: model.Account{Credentials: []model.Credential{{Key: "linode:token", Variable: "LINODE_TOKEN"}}},
		// LKE has two classes, and which one is the default is not documented.
		// This one deletes its volumes.
		StorageClass:    "linode-block-storage",
		ImagePullSecret: RegistrySecret,
	}
}

// LinodeLimit is the longest name that the programs give: that of a firewall, which is the strictest.
const LinodeLimit = 32

// LinodeLKE declares the cluster.
func LinodeLKE() model.Project {
	return model.Project{
		Name: "linode-lke", Path: "infrastructure/linode/lke", Title: "LKE", Estimate: 5 * time.Minute,
		Summary: "a managed Kubernetes cluster with one pool of nodes",
		Keys: slices.Concat([]config.Key{
			linodeRegionKey(),
			{Name: "lke:k8s_version", Kind: config.String, Form: config.KubernetesMinor, Default: "1.36", Example: "1.35",
				Doc: "Kubernetes version"},
			{Name: "lke:node_type", Kind: config.String, Form: linodeType, Default: "g6-standard-4", Example: "g6-dedicated-8",
				Doc: "type of the nodes"},
		}, poolKeys("lke", 100), []config.Key{
			{Name: "lke:api_allowed_cidrs", Kind: config.List, Form: config.AnyRange, Example: `["203.0.113.0/24"]`,
				Doc: "address ranges that may reach the API server; from everywhere when not set"},
			poolsKey("lke", "g6-dedicated-8", ""),
		}),
		Rules: append(offersOf("linode", "lke:region", "lke:node_type", "lke:k8s_version"), autoscaled("lke"), intelPlatform,
			poolRule("lke", linodeType), poolSizes("lke", "linode", linodeType), smallNodes("lke:node_type"),
			smallestVolume(10, "logstore:storage_size", "prometheus:storage_size", "bank-of-anthos:storage_size")),
		Outputs: []model.Output{
			{Name: "kubeconfig", Secret: true, Doc: "kubeconfig of the cluster, base64"},
			{Name: "cluster_name", Doc: "name of the cluster"},
			{Name: "cluster_id", Doc: "id of the cluster"},
			{Name: "api_endpoint", Highlight: true, Doc: "URL of the API server"},
		},
		Hooks:                []model.Hook{model.KubeconfigHook()},
		LeavesCloudResources: true,
		Versions: []model.Version{{
			What: "control plane and nodes", Key: "lke:k8s_version", Type: "linode:index/lkeCluster:LkeCluster",
			Property: "k8sVersion", Note: "Linode upgrades the control plane and replaces all nodes in one step",
		}},
	}
}

// LKEPools reads the value of lke:pools.
func LKEPools(value map[string]any) []Pool {
	pools, _ := Pools(value, linodeType)
	return pools
}

// LinodeHarbor declares the container registry.
func LinodeHarbor() model.Project {
	return model.Project{
		Name: "linode-harbor", Path: "infrastructure/linode/harbor",
		Title: "Harbor", Namespace: "harbor", Estimate: 4 * time.Minute,
		Summary: "the registry Harbor on a machine of its own, with a trusted certificate",
		Keys: []config.Key{
			infraTypeKey(), identityKey(),
			linodeRegionKey(),
			{Name: "harbor:version", Kind: config.String, Form: config.Version, Default: "2.15.1", Example: "2.14.3",
				Doc: "version of Harbor; changing it makes a new machine, and its images are pushed again"},
			{Name: "harbor:instance_type", Kind: config.String, Form: linodeType, Default: "g6-standard-2",
				Example: "g6-dedicated-4",
				Doc:     "type of the machine; Harbor asks for 2 CPUs and 4 GB at least"},
			{Name: "harbor:image", Kind: config.String, Form: linodeUbuntu, Default: "linode/ubuntu24.04",
				Example: "linode/ubuntu22.04",
				Doc:     "operating system of the machine: Ubuntu 22.04 or later"},
			{Name: "harbor:email", Kind: config.String, Form: config.Email, Example: "admin@example.com",
				Doc: "address that the certificate authority warns when the certificate runs out; none when not set"},
			{Name: "harbor:ssh_authorized_keys", Kind: config.List, Form: sshKey, Example: `["ssh-ed25519 AAAA... me@example.com"]`,
				Doc: "public SSH keys that may log in as root; port 22 is closed when there are none"},
		},
		Rules: []config.Rule{
			offered("harbor:instance_type", func() offers.List { return offers.Of("linode").NodeTypes }), harborRoom,
		},
		Secrets: []model.Secret{{
			Key: "harbor:admin_password", DataKey: "HARBOR_ADMIN_PASSWORD", Prompt: "Harbor administrator password",
			Generate: model.AlphanumericPassword, MinLength: 8,
			Doc: "password of Harbor's administrator; Harbor reads it when it first starts",
		}},
		Outputs: []model.Output{
			{Name: "harbor_hostname", Doc: "host name of the registry"},
			{Name: "harbor_url", Highlight: true, Doc: "URL of Harbor's web page"},
			{Name: "harbor_user", Highlight: true, Doc: "name of Harbor's administrator"},
			{Name: "harbor_password", Secret: true, Doc: "password of Harbor's administrator"},
			{Name: "instance_id", Doc: "id of the machine"},
		},
	}
}

// LinodeHarborConfiguration sets the registry up.
func LinodeHarborConfiguration() model.Project {
	return model.Project{
		Name: "linode-harbor-configuration", Path: "infrastructure/linode/harbor-configuration",
		Title: "Harbor Config", Estimate: 15 * time.Second,
		Summary: "waits until Harbor answers and makes its project private",
		Keys: []config.Key{
			harborProjectKey(),
			{Name: "harbor:ready_timeout", Kind: config.Int, Default: 1800, Min: new(1), Max: new(7200),
				Example: "3600",
				Doc:     "seconds to wait until Harbor is healthy; its machine installs itself after the first start"},
			{Name: "harbor:poll_interval", Kind: config.Int, Default: 10, Min: new(1), Max: new(300), Example: "30",
				Doc: "seconds between two questions to Harbor"},
		},
		Outputs: []model.Output{
			{Name: "harbor_project", Doc: "Harbor project that holds the images"},
			{Name: "harbor_project_private", Doc: "true: only users with a login can pull"},
		},
	}
}

// LinodeRegistryCredentials lets the cluster pull from the registry.
func LinodeRegistryCredentials() model.Project {
	return registryCredentials("linode", 5*time.Second,
		"the Secret that lets the ingress controller's namespace pull from Harbor")
}

// linodeRegionKey declares where the cluster and the registry are.
func linodeRegionKey() config.Key {
	return config.Key{Name: "lke:region", Kind: config.String, Form: linodeRegion, Default: "us-ord",
		Example: "eu-central",
		Doc:     "region of the cluster and the registry; one that offers Kubernetes"}
}

// harborProjectKey declares the Harbor project that holds the images.
func harborProjectKey() config.Key {
	return config.Key{Name: "harbor:project", Kind: config.String, Form: harborProjectName, Default: "library",
		Example: "platform",
		Doc:     "Harbor project that holds the images; made when there is none, and made private (linode)"}
}

// The forms of values that Linode, and Harbor on it, take.
var (
	linodeRegion = config.NewForm("a region such as us-ord", `^[a-z]{2}-[a-z]+(-[0-9]+)?$`)
	linodeType   = config.NewForm("a type such as g6-standard-4", `^g[0-9]+-[a-z0-9-]+$`)
	linodeUbuntu = config.NewForm("an image of Ubuntu 22.04 or later, such as linode/ubuntu24.04, or private/ID",
		`^(linode/ubuntu(2[2-9]|[3-9][0-9])\.(04|10)|private/[0-9]+)$`)
	// harborProjectName is what Harbor takes as the name of a project.
	harborProjectName = config.NewForm("a name that Harbor takes: lower case, digits, and . _ - between them",
		`^[a-z0-9]+([._-][a-z0-9]+)*$`)
	// sshKey may have the options of a line of authorized_keys before it.
	sshKey = config.NewForm("a public SSH key, such as ssh-ed25519 AAAA... me@example.com",
		`^([a-z-]+(="(\\.|[^"\\])*")?(,[a-z-]+(="(\\.|[^"\\])*")?)* )?`+
			`(ssh|ecdsa|sk-ssh|sk-ecdsa)-[a-z0-9@.-]+ [A-Za-z0-9+/.]+=*(\s.*)?$`)
)

// smallTypes are the types with 1 and 2 GB of memory.
func smallTypes() map[string]int { return map[string]int{"g6-nanode-1": 1, "g6-standard-1": 2} }

// smallNodes doubts nodes that have no room for what every environment runs.
func smallNodes(key string) config.Rule {
	return func(v config.Values) []config.Finding {
		if memory, small := smallTypes()[v.Text(key)]; small {
			return config.Doubtful(key, "is %s, which has %d GB of memory: OpenSearch and Prometheus need nodes of 4 GB or more",
				v.Text(key), memory)
		}
		return nil
	}
}

// harborRoom doubts a machine on which Harbor does not run well.
func harborRoom(v config.Values) []config.Finding {
	const key = "harbor:instance_type"
	if memory, small := smallTypes()[v.Text(key)]; small {
		return config.Doubtful(key, "is %s, which has %d GB of memory; Harbor asks for 4 GB at least", v.Text(key), memory)
	}
	return nil
}
