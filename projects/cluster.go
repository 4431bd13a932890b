package projects

import (
	"time"

	"mara/config"
	"mara/projects/model"
)

// The ways into a cluster that is there already.
const (
	LoadBalancer = "load-balancer"
	NodePorts    = "node-ports"
)

// The keys of a cluster that is there already.
const (
	EntryKey        = "cluster:entry"
	AddressKey      = "cluster:address"
	SmallKey        = "cluster:small"
	HTTPNodePort    = "cluster:http_node_port"
	HTTPSNodePort   = "cluster:https_node_port"
	DistributionKey = "cluster:distribution"
	InstallCertKey  = "certmgr:install"
	IdentityKey     = "cluster:identity"
)

// clusterRegistry is the key that names the registry of an existing cluster.
const clusterRegistry = "cluster:registry"

// ExistingCluster hosts environments on a cluster that is there already, whoever runs it. No project makes the cluster
// or removes it.
func ExistingCluster() model.Infrastructure {
	return model.Infrastructure{
		Name:  "cluster",
		Title: "Existing Cluster",
		Projects: func() []model.Project {
			return []model.Project{ClusterConnection(), ClusterRegistry(), ClusterRegistryCredentials()}
		},
		ClusterProject: "cluster-connection",
		Existing: &model.Existing{
			Kubeconfig: "cluster:kubeconfig", Context: "cluster:context", Content: "cluster:kubeconfig_content",
			Asked: []string{EntryKey, AddressKey, SmallKey, DistributionKey, InstallCertKey, StorageClass, "kic:platform"},
		},
		Registry: model.Registry{
			Project: "cluster-registry", Login: model.LoginOutputs, Host: "address", User: "user", Password: "password",
			Address: clusterRegistryKey(),
		},
		ImagePullSecret: RegistrySecret,
	}
}

// ClusterConnection declares the project that connects an environment to its cluster.
func ClusterConnection() model.Project {
	return model.Project{
		Name: "cluster-connection", Path: "infrastructure/cluster/connection", Title: "Cluster Connection",
		Estimate: 2 * time.Second,
		Summary:  "the kubeconfig of a cluster that is there already: one context of it, with the files that it names",
		Keys: []config.Key{
			{Name: "cluster:kubeconfig", Kind: config.String, Form: config.AbsolutePath, Example: "/home/me/.kube/config",
				Doc: "file with the kubeconfig of the cluster; the secret cluster:kubeconfig_content replaces it"},
			{Name: "cluster:context", Kind: config.String, Required: true, Example: "production", Simulated: "simulated",
				Doc: "context of the kubeconfig; the current context is never taken"},
			distributionKey(),
			clusterRegistryKey(),
		},
		Secrets: []model.Secret{{
			Key: "cluster:kubeconfig_content", Own: true, Optional: true, Prompt: "Kubeconfig of the cluster, in base64",
			Doc: "kubeconfig of the cluster in base64, instead of the file cluster:kubeconfig",
		}},
		Rules: []config.Rule{publicImage, kubeconfigFile},
		Outputs: []model.Output{
			{Name: "kubeconfig", Secret: true, Doc: "kubeconfig of the cluster, with one context"},
			{Name: "cluster_name", Doc: "name of the cluster in the kubeconfig"},
			{Name: "distribution", Doc: "distribution of Kubernetes; empty if unknown"},
		},
	}
}

// ClusterRegistry declares the project with the registry of the environment's images.
func ClusterRegistry() model.Project {
	return model.Project{
		Name: "cluster-registry", Path: "infrastructure/cluster/registry", Title: "Registry of your own",
		Estimate: time.Second,
		Summary:  "address and login of a registry that is there already",
		Keys: []config.Key{
			infraTypeKey(),
			{Name: clusterRegistry, Kind: config.String, Form: config.Registry, Example: "registry.example.com/platform",
				Doc: clusterRegistryKey().Doc},
			{Name: "cluster:registry_user", Kind: config.String, Example: "robot", Doc: "name to log in to the registry with"},
		},
		Secrets: []model.Secret{{
			Key: "cluster:registry_password", Own: true, Optional: true, Prompt: "Password or token for the registry",
			Doc: "password or token that the registry takes, to push and to pull",
		}},
		Outputs: []model.Output{
			{Name: "address", Doc: "host of the registry, with the directory of the images"},
			{Name: "user", Doc: "name to log in with"},
			{Name: "password", Secret: true, Doc: "password or token to log in with"},
		},
	}
}

// ClusterRegistryCredentials lets the cluster pull from the registry.
func ClusterRegistryCredentials() model.Project {
	return registryCredentials("cluster", 5*time.Second,
		"the Secret that lets the ingress controller's namespace pull from the registry of your own")
}

// clusterRegistryKey declares the registry of an existing cluster.
func clusterRegistryKey() config.Key {
	return config.Key{Name: clusterRegistry, Kind: config.String, Form: config.Registry,
		Example: "registry.example.com/platform",
		Doc: "registry for the image of the ingress controller, with a directory where needed (provider cluster); " +
			"without one the controller's public image is taken as it is"}
}

// identityKey declares which cluster it is.
func identityKey() config.Key {
	return config.Key{Name: IdentityKey, Kind: config.String, Example: "5b0c6f4e-5c0e-4a8e-9d0a-0c2b7f1d3e55",
		Doc: "UID of the cluster's namespace kube-system (provider cluster): an up of another cluster is refused, and " +
			"objects stay where only the address or the certificate of the cluster changes; not compared when not set"}
}

// entryKeys declares how the ingress controller of an existing cluster is reached.
func entryKeys() []config.Key {
	return []config.Key{
		entryKey(), addressKey(),
		portKey(HTTPNodePort, 30080, "31080", "port of the nodes for HTTP, with cluster:entry node-ports (provider cluster)"),
		httpsNodePortKey(),
	}
}

// httpsNodePortKey declares the port of the nodes for HTTPS.
func httpsNodePortKey() config.Key {
	return portKey(HTTPSNodePort, 30443, "31443",
		"port of the nodes for HTTPS, with cluster:entry node-ports (provider cluster)")
}

// entryKey declares the way into the cluster.
func entryKey() config.Key {
	return config.Key{Name: EntryKey, Kind: config.String, Allowed: []string{LoadBalancer, NodePorts}, Example: NodePorts,
		Doc: "how the ingress controller is reached (provider cluster): by a load balancer, or by ports of the nodes; " +
			"asked from the cluster when not set"}
}

// addressKey declares where node ports are reached.
func addressKey() config.Key {
	return config.Key{Name: AddressKey, Kind: config.String, Example: "203.0.113.10",
		Doc: "host name or address at which the node ports are reached (provider cluster); " +
			"the address of a node, asked from the cluster, when not set"}
}

// smallKey declares whether there is one of everything.
func smallKey() config.Key {
	return config.Key{Name: SmallKey, Kind: config.Bool, Example: "true",
		Doc: "run one Pod of everything, with little memory, as on kind (provider cluster); " +
			"asked from the cluster when not set: true below 3 nodes"}
}

// distributionKey declares who made the cluster's Kubernetes.
func distributionKey() config.Key {
	return config.Key{Name: DistributionKey, Kind: config.String, Example: "k3s",
		Doc: "distribution of Kubernetes (provider cluster); asked from the cluster when not set"}
}

// installCertKey declares whether the environment has a cert-manager of its own.
func installCertKey() config.Key {
	return config.Key{Name: InstallCertKey, Kind: config.Bool, Default: true, Example: "false",
		Doc: "install cert-manager; false uses the one that the cluster has, and makes only the ClusterIssuer; " +
			"asked from the cluster when not set (provider cluster)"}
}

// publicImage refuses images of the ingress controller that a cluster cannot pull without a registry of its own.
func publicImage(v config.Values) (found []config.Finding) {
	if v.Text(clusterRegistry) != "" {
		return nil
	}
	const text = "is %v, and needs a registry for the image: set " + clusterRegistry
	if v.Bool("kic:nginx_plus") {
		found = append(found, config.Wrong("kic:nginx_plus", text, true)...)
	}
	if origin := v.Text("kic:image_origin"); origin == "source" {
		found = append(found, config.Wrong("kic:image_origin", text, origin)...)
	}
	return found
}

// nodePorts refuses one port of the nodes for both protocols.
func nodePorts(v config.Values) []config.Finding {
	if port := v.Text(HTTPSNodePort); v.Text(EntryKey) == NodePorts && port == v.Text(HTTPNodePort) {
		return config.Wrong(HTTPSNodePort, "is %s, the port of %s", port, HTTPNodePort)
	}
	return nil
}

// kubeconfigFile requires the file of a kubeconfig to be there.
func kubeconfigFile(v config.Values) []config.Finding {
	const key = "cluster:kubeconfig"
	if v.Text(key) == "" {
		return nil // the secret may have it
	}
	return readable(key, v)
}
