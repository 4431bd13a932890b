package projects

import (
	"fmt"
	"strconv"
	"strings"

	"mara/config"
	"mara/projects/model"
	"mara/projects/naming"
)

// RegistrySecret is the name of the Secret in the ingress controller's
// namespace that lets the cluster pull from a private registry (linode).
const RegistrySecret = "ingress-controller-registry"

// MetricsLabel is the label of Pods whose metrics Prometheus takes; its value is the name of their port: http or
// metrics. MetricsPath is the annotation with the path.
const (
	MetricsLabel = "mara.dev/metrics"
	MetricsPath  = "mara.dev/metrics-path"
)

// ClusterIssuer is the name of the cert-manager issuer that the certmgr project
// makes and that every Ingress with TLS asks for its certificate.
const ClusterIssuer = "mara"

// The names of the configuration keys that every chart shares, below the
// namespace of the program: certmgr:chart_version.
const (
	ChartVersion    = "chart_version"
	ChartRepository = "chart_repository"
	HelmTimeout     = "helm_timeout"
	Values          = model.Values
	ValuesFile      = model.ValuesFile
)

// The keys that many programs read.
const (
	InfraType    = "kubernetes:infra_type"
	Mirror       = "kubernetes:mirror"
	PodSecurity  = "kubernetes:pod_security"
	StorageClass = model.StorageClass
)

// CredentialsName returns the name of the Secret that the secrets project creates in a
// consumer's namespace.
func CredentialsName(namespace string) string { return namespace + "-credentials" }

// infraTypeKey declares the provider of the stack.
func infraTypeKey() config.Key {
	return config.Key{Name: InfraType, Kind: config.String, Required: true, Allowed: infraTypes, Example: "kind",
		Doc: "provider that hosts the cluster; set once, a stack never changes provider"}
}

// mirrorKey declares the mirror for networks without internet.
func mirrorKey() config.Key {
	return config.Key{Name: Mirror, Kind: config.String, Form: config.Registry, Example: "registry.example.com/mirror",
		Doc: "registry host and optional path that mirrors every chart (as OCI, below charts/) " +
			"and every image (its own registry host replaced); `runner mirror sync` fills it"}
}

// podSecurityKey declares what the namespaces of charts do with Pods below the
// level of the programs' own values.
func podSecurityKey() config.Key {
	return config.Key{Name: PodSecurity, Kind: config.String, Default: "enforce", Allowed: []string{"enforce", "warn"},
		Example: "warn",
		Doc: "what namespaces do with Pods below their Pod Security level: refuse them, or only warn, " +
			"for chart values of your own that need more rights"}
}

// kubernetesKeys declares what every program that deploys to the cluster reads.
func kubernetesKeys() []config.Key { return append(connectionKeys(), mirrorKey(), smallKey()) }

// namespaceKeys declares what every program reads that deploys to a namespace which it makes itself.
func namespaceKeys() []config.Key { return append(kubernetesKeys(), podSecurityKey()) }

// connectionKeys declares what every program that connects to the cluster reads.
func connectionKeys() []config.Key { return []config.Key{infraTypeKey(), identityKey()} }

// storageClassKey declares the StorageClass of every volume.
func storageClassKey() config.Key {
	return config.Key{Name: StorageClass, Kind: config.String, Example: "ebs-csi-default-sc",
		Doc: "StorageClass of volumes; linode-block-storage on linode and the cluster's default elsewhere when not set"}
}

// storageSizeKey declares the size of a program's volumes.
func storageSizeKey(name, what string) config.Key {
	return config.Key{Name: name, Kind: config.String, Form: config.Storage, Default: "10Gi", Example: "20Gi",
		Doc: what + ", which can grow where the StorageClass allows it, and never shrink; Linode's smallest is 10Gi"}
}

// replicasKey declares a number of replicas: one on the user's own machine, and
// by default as many as given in a cloud.
func replicasKey(name, what string, cloud int) config.Key {
	return config.Key{Name: name, Kind: config.Int, Min: new(1), Example: strconv.Itoa(cloud),
		Doc: fmt.Sprintf("%s; 1 on kind and small clusters, and %d elsewhere when not set", what, cloud)}
}

// keyOf returns a key that another project declares, for a project that reads it too.
func keyOf(project model.Project, name string) config.Key {
	key, ok := project.Key(name)
	if !ok {
		panic(fmt.Sprintf("project %s declares no key %q", project.Name, name))
	}
	return key
}

// chart holds the defaults of one Helm chart.
type chart struct {
	group      string // its keys begin so; see ChartKey
	name       string
	version    string
	repository string // https://... or oci://...
	timeout    int    // seconds
}

// ChartSource returns where charts come from: a repository that is set in the configuration wins over the
// mirror, which holds every chart as OCI, and the mirror over the repository by default.
func ChartSource(repository string, isSet bool, mirror string) string {
	if mirror != "" && !isSet {
		return "oci://" + naming.ChartsInMirror(mirror)
	}
	return strings.TrimRight(repository, "/")
}

// ChartKey returns the full name of a key of a chart: see model.ChartKey.
func ChartKey(group, name string) string { return model.ChartKey(group, name) }

// withCharts returns a project whose program releases charts: their keys come after the common ones and before its own,
// and their rules before its own.
func withCharts(p model.Project, common []config.Key, charts ...chart) model.Project {
	var rules []config.Rule
	for _, c := range charts {
		common = append(common, chartKeys(c)...)
		rules = append(rules, chartRules(c)...)
		p.Charts = append(p.Charts, model.Chart{Group: c.group, Name: c.name})
	}
	p.Keys, p.Rules = append(common, p.Keys...), append(rules, p.Rules...)
	return p
}

// chartKeys declares the five keys that each Helm release reads. The program
// reads them through cluster.Release.
func chartKeys(defaults chart) []config.Key {
	group := defaults.group
	return []config.Key{
		{Name: ChartKey(group, ChartVersion), Kind: config.String, Form: config.ChartVersion,
			Default: defaults.version, Example: defaults.version,
			Doc: "version of the chart"},
		{Name: ChartKey(group, ChartRepository), Kind: config.String, Form: config.Charts, Default: defaults.repository,
			Example: "https://charts.example.com",
			Doc:     "repository of the chart, https:// or oci://; wins over kubernetes:mirror when set"},
		{Name: ChartKey(group, HelmTimeout), Kind: config.Int, Default: defaults.timeout, Min: new(1), Example: "900",
			Doc: "seconds to wait until everything in the release is ready"},
		{Name: ChartKey(group, Values), Kind: config.Map, Example: "{replicaCount: 2}",
			Doc: "chart values, merged over the program's own and those of values_file; null takes one of the program's away"},
		{Name: ChartKey(group, ValuesFile), Kind: config.String,
			Example: "values/" + strings.ReplaceAll(group, ":", "-") + ".yaml",
			Doc:     "YAML file with chart values, merged over the program's own; relative to config/pulumi"},
	}
}

// plusKey declares whether the ingress controller is the commercial edition.
func plusKey() config.Key {
	return config.Key{Name: "kic:nginx_plus", Kind: config.Bool, Default: false, Example: "true",
		Doc: "deploy NGINX Plus instead of the open source edition; needs a licence"}
}

// httpPortKey declares the host port of kind's HTTP entry point.
func httpPortKey() config.Key {
	return portKey("kind:http_port", 80, "8080", "port of this machine that reaches the ingress controller's HTTP port")
}

// httpsPortKey declares the host port of kind's HTTPS entry point.
func httpsPortKey() config.Key {
	return portKey("kind:https_port", 443, "8443", "port of this machine that reaches the ingress controller's HTTPS port")
}

// portKey declares a port of this machine.
func portKey(name string, standard int, example, doc string) config.Key {
	return config.Key{Name: name, Kind: config.Int, Default: standard, Min: new(1), Max: new(65535),
		Example: example, Doc: doc}
}

// poolKeys declares how many nodes a cloud's cluster has, at most so many, and
// whether its control plane has several.
func poolKeys(group string, most int) []config.Key {
	return []config.Key{
		{Name: group + ":node_count", Kind: config.Int, Default: 3, Min: new(1), Max: new(most), Example: "5",
			Doc: "number of nodes, when autoscaling is off"},
		{Name: group + ":min_nodes", Kind: config.Int, Default: 0, Min: new(0), Max: new(most), Example: "3",
			Doc: "smallest number of nodes that autoscaling goes down to; " + "0 together with " + group +
				":max_nodes turns autoscaling off"},
		{Name: group + ":max_nodes", Kind: config.Int, Default: 0, Min: new(0), Max: new(most), Example: "10",
			Doc: "largest number of nodes that autoscaling goes up to; " + "0 together with " + group +
				":min_nodes turns autoscaling off"},
		{Name: group + ":high_availability", Kind: config.Bool, Default: false, Example: "true",
			Doc: "several control-plane nodes; costs more and cannot be turned off again"},
	}
}
