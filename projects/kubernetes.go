package projects

import (
	"slices"
	"time"

	"mara/config"
	"mara/projects/model"
)

// kubernetesProjects lists what every environment runs in its cluster, and the
// project that makes the cluster reachable.
func kubernetesProjects() []model.Project {
	return []model.Project{
		Kubeconfig(), Secrets(), IngressControllerNamespace(), IngressController(), Logstore(), LogAgent(),
		CertManager(), Prometheus(), Observability(), BankOfAnthos(),
	}
}

// Kubeconfig hands the cluster's kubeconfig to everything that deploys to it.
func Kubeconfig() model.Project {
	return model.Project{
		Name: "kubeconfig", Path: "infrastructure/kubeconfig", Title: "Kubeconfig", Estimate: 2 * time.Second,
		Summary: "the kubeconfig of the provider's cluster, in one form for all providers",
		Keys:    connectionKeys(),
		Outputs: []model.Output{
			{Name: "kubeconfig", Secret: true, Doc: "kubeconfig of the cluster, as YAML text"},
			{Name: "cluster_name", Doc: "name of the cluster"},
			{Name: "context", Doc: "name of the kubeconfig's current context"},
			{Name: "identity", Optional: true, Doc: "the configured cluster:identity, if there is one"},
		},
	}
}

// Secrets turns the encrypted values of its own stack file into one Kubernetes
// Secret for each namespace that needs one. Which values those are is declared
// by the consumers, in Project.Secrets.
func Secrets() model.Project {
	return model.Project{
		Name: model.SecretsProject, Path: "kubernetes/secrets", Title: "Secrets", Estimate: 5 * time.Second,
		Summary: "namespaces and Kubernetes Secrets with the passwords and keys that other projects need",
		Keys:    connectionKeys(),
		Outputs: []model.Output{{Name: "secrets", Doc: "namespace to the name of its Secret"}},
	}
}

// IngressControllerNamespace declares the namespace of the controller, a project of its own
// because the registry credentials have to exist there first.
func IngressControllerNamespace() model.Project {
	return model.Project{
		Name: "ingress-controller-namespace", Path: "kubernetes/nginx/ingress-controller-namespace",
		Title: "K8S Ingress NS", Namespace: "nginx-ingress", Estimate: 3 * time.Second,
		Summary: "the namespace of the ingress controller",
		Keys:    append(connectionKeys(), podSecurityKey()),
		Outputs: []model.Output{{Name: "namespace", Doc: "name of the namespace"}},
	}
}

// IngressController declares the entry point of the cluster.
func IngressController() model.Project {
	return withCharts(model.Project{
		Name: "ingress-controller", Path: "kubernetes/nginx/ingress-controller",
		Title: "Ingress Controller", Namespace: "nginx-ingress", Estimate: 90 * time.Second,
		Applications: model.TheyWait,
		AlsoNamed:    []string{"ingress", "nginxingress", "ingressnginx"},
		Summary:      "F5 NGINX Ingress Controller, open source or Plus, behind the provider's load balancer",
		// The address of its own release's load balancer, which stays as long as that,
		// and the definitions in a chart of a certain version.
		Settled: []string{"kubernetes:core/v1:Service", "kubernetes:helm:template"},
		Keys: slices.Concat(
			[]config.Key{
				plusKey(),
				keyOf(KICImageBuild(), "kic:jwt_path"),
				keyOf(KICImageBuild(), "kic:image_name"),
				replicasKey("nginx:replicas", "number of controller pods; on kind there is one on each node", 2),
				{Name: "nginx:custom_resources", Kind: config.Bool, Default: false, Example: "true",
					Doc: "serve VirtualServer, Policy and the other kinds of nginx.org"},
				{Name: "nginx:keep_crds", Kind: config.Bool, Default: false, Example: "true",
					Doc: "leave the custom resource definitions, and so every VirtualServer, in the cluster " +
						"after a destroy and when nginx:custom_resources is false again"},
				{Name: "nginx:tracing", Kind: config.Bool, Default: false, Example: "true",
					Doc: "send a trace of every request to the OpenTelemetry Collector of the observability project"},
				{Name: "nginx:source_ranges", Kind: config.List, Form: config.AnyRange, Example: `["203.0.113.0/24"]`,
					Doc: "address ranges that may reach the load balancer; all when not set"},
			},
			entryKeys(),
			registryKeys(func(r model.Registry) config.Key { return r.Address }),
		),
		Rules: []config.Rule{controllerLicence, nodePorts},
		Outputs: []model.Output{
			{Name: "address", Highlight: true,
				Doc: "host name or IP address that reaches the controller; empty while there is none yet"},
			{Name: "hostname", Doc: "host name of the load balancer; empty when it has none"},
			{Name: "ip", Doc: "IP address of the load balancer; empty when it has none"},
			{Name: "ingress_class", Doc: "IngressClass to name in an Ingress"},
		},
	}, kubernetesKeys(), nginxChart)
}

// Logstore keeps the logs of everything in the cluster.
func Logstore() model.Project {
	return withCharts(model.Project{
		Name: "logstore", Path: "kubernetes/logstore", Title: "Logstore", Namespace: "logstore", Estimate: 5 * time.Minute,
		AlsoNamed: []string{"opensearch", "elasticsearch", "kibana", "dashboards"},
		Summary:   "OpenSearch and OpenSearch Dashboards, reachable from inside the cluster only",
		Volumes:   &model.Volumes{Key: "logstore:storage_size"},
		Keys: []config.Key{
			storageClassKey(),
			storageSizeKey("logstore:storage_size", "size of each node's volume"),
			replicasKey("logstore:replicas", "number of OpenSearch nodes", 3),
			{Name: "logstore:heap", Kind: config.String, Form: javaHeap, Example: "2g",
				Doc: "Java heap of each node; 512m on kind and 1g elsewhere when not set"},
		},
		Outputs: []model.Output{
			{Name: "host", Doc: "host name of OpenSearch inside the cluster"},
			{Name: "port", Doc: "port of OpenSearch (HTTPS)"},
			{Name: "username", Doc: "user name of the administrator"},
			{Name: "password", Secret: true, Doc: "password of the administrator"},
			{Name: "dashboards", Highlight: true, Doc: "command that makes OpenSearch Dashboards reachable from this machine"},
		},
		Rules: []config.Rule{quorum("logstore:replicas"), heapFits("logstore:heap")},
	}, namespaceKeys(), openSearchChart, dashboardsChart)
}

// The charts, and how long their releases may take.
var (
	nginxChart         = chart{"nginx", "nginx-ingress", "2.6.4", "oci://ghcr.io/nginx/charts", 600}
	openSearchChart    = chart{"logstore", "opensearch", "3.6.0", openSearchCharts, 900}
	dashboardsChart    = chart{"logstore:dashboards", "opensearch-dashboards", "3.6.0", openSearchCharts, 600}
	logAgentChart      = chart{"logagent", "fluent-bit", "0.58.1", "oci://ghcr.io/fluent/helm-charts", 600}
	certManagerChart   = chart{"certmgr", "cert-manager", "v1.21.1", "oci://quay.io/jetstack/charts", 600}
	prometheusChart    = chart{"prometheus", "kube-prometheus-stack", "88.5.3", prometheusCharts, 900}
	prometheusCRDs     = chart{"prometheus:crds", "prometheus-operator-crds", "31.0.1", prometheusCharts, 300}
	observabilityChart = chart{"observability", "opentelemetry-collector", "0.170.0", openTelemetryCharts, 600}
)

const (
	openSearchCharts = "https://opensearch-project.github.io/helm-charts"
	prometheusCharts = "oci://ghcr.io/prometheus-community/charts"

	openTelemetryCharts = "https://open-telemetry.github.io/opentelemetry-helm-charts"
)

// LogAgent ships logs to the logstore.
func LogAgent() model.Project {
	return withCharts(model.Project{
		Name: "logagent", Path: "kubernetes/logagent", Title: "Log Agent", Namespace: "logagent", Estimate: time.Minute,
		AlsoNamed: []string{"fluentbit", "fluent"},
		Summary:   "Fluent Bit on every node, shipping the logs of all containers and of the kubelet to the logstore",
		Outputs: []model.Output{
			{Name: "destination", Doc: "where the logs go"},
			{Name: "index_prefix", Doc: "prefix of the daily indices of container logs"},
		},
	}, namespaceKeys(), logAgentChart)
}

// CertManager issues certificates.
func CertManager() model.Project {
	return withCharts(model.Project{
		Name: "certmgr", Path: "kubernetes/certmgr", Title: "Cert Manager", Namespace: "cert-manager", Estimate: time.Minute,
		Applications: model.TheyWait,
		AlsoNamed:    []string{"certmanager", "acme", "letsencrypt"},
		Summary:      "cert-manager, and the ClusterIssuer that ingresses get their certificates from",
		Keys: []config.Key{
			{Name: "certmgr:keep_crds", Kind: config.Bool, Default: false, Example: "true",
				Doc: "leave the custom resource definitions, and so every Certificate, in the cluster after a destroy"},
			issuerKey(),
			acmeDNSKey(),
			eksZonesKey(),
			{Name: "certmgr:acme_email", Kind: config.String, Form: config.Email, Example: "ops@example.com",
				Doc: "address that the certificate authority writes to; needed when certmgr:issuer is acme"},
			{Name: "certmgr:acme_server", Kind: config.String, Form: config.Web,
				Default: "https://acme-v02.api.letsencrypt.org/directory",
				Example: "https://acme-staging-v02.api.letsencrypt.org/directory",
				Doc:     "directory of the certificate authority when certmgr:issuer is acme"},
			replicasKey("certmgr:replicas", "number of pods of each component", 2),
			installCertKey(),
		},
		Secrets: []model.Secret{{
			Key: "certmgr:acme_dns_token", Own: true, Optional: true, Prompt: "Token for the records of certmgr:acme_dns",
			NeededBy: "certmgr:acme_dns", NeededFor: []string{"cloudflare", recordsAtDO},
			Doc: "token with the right to change the TXT records of the domains; AWS needs none",
		}},
		Rules: []config.Rule{acmeIssuer},
		Outputs: []model.Output{
			{Name: "cluster_issuer", Doc: "name of the ClusterIssuer"},
			{Name: "issuer_kind", Doc: "self-signed or acme"},
		},
	}, namespaceKeys(), certManagerChart)
}

// issuerKey declares where certificates come from.
func issuerKey() config.Key {
	return config.Key{Name: "certmgr:issuer", Kind: config.String, Default: "self-signed",
		Allowed: []string{"self-signed", "acme"}, Example: "acme",
		Doc: "where certificates come from: the cluster itself, " +
			"or an ACME authority that has to reach it from the internet, or finds a record in certmgr:acme_dns"}
}

// Route53 is the service of certmgr:acme_dns that needs no token: Pods on EKS have rights.
const Route53 = "route53"

// acmeDNSKey declares who serves the domains of certificates that are proven by records.
func acmeDNSKey() config.Key {
	return config.Key{Name: "certmgr:acme_dns", Kind: config.String, Example: "cloudflare",
		Allowed: []string{"cloudflare", recordsAtDO, Route53},
		Doc: "who serves the domains, to prove by a DNS record that they are yours (DNS-01): for clusters that the " +
			"internet cannot reach; when not set, the authority asks the ingress controller (HTTP-01)"}
}

// Prometheus watches the cluster.
func Prometheus() model.Project {
	return withCharts(model.Project{
		Name: "prometheus", Path: "kubernetes/prometheus",
		Title: "Prometheus", Namespace: "prometheus", Estimate: 3 * time.Minute,
		AlsoNamed: []string{"grafana", "alertmanager"},
		Summary:   "Prometheus, Alertmanager and Grafana with dashboards, reachable from inside the cluster only",
		Volumes:   &model.Volumes{Key: "prometheus:storage_size"},
		Keys: []config.Key{
			{Name: "prometheus:keep_crds", Kind: config.Bool, Default: false, Example: "true",
				Doc: "leave the custom resource definitions, and so every ServiceMonitor, in the cluster after a destroy"},
			storageClassKey(),
			storageSizeKey("prometheus:storage_size", "size of the volume of each, Prometheus, Alertmanager and Grafana"),
			{Name: "prometheus:retention", Kind: config.String, Form: prometheusTime, Default: "10d", Example: "30d",
				Doc: "how long Prometheus keeps metrics"},
			{Name: "prometheus:retention_size", Kind: config.String, Form: prometheusSize, Default: "8GB", Example: "16GB",
				Doc: "how much Prometheus keeps at most; below prometheus:storage_size"},
			replicasKey("prometheus:alertmanager_replicas", "number of Alertmanager pods", 2),
		},
		Rules: []config.Rule{retentionFits},
		Secrets: []model.Secret{
			{Key: "prometheus:admin_password", DataKey: "admin-password", Prompt: "Grafana administrator password",
				Generate: model.Password, MinLength: 8, Doc: "password of Grafana's user admin"},
		},
		Outputs: []model.Output{
			{Name: "prometheus_url", Doc: "Prometheus inside the cluster"},
			{Name: "grafana_user", Highlight: true, Doc: "user name for Grafana; its password is in the secrets project"},
			{Name: "grafana", Highlight: true, Doc: "command that makes Grafana reachable from this machine"},
			{Name: "prometheus", Doc: "command that makes Prometheus reachable from this machine"},
			{Name: "alertmanager", Doc: "command that makes Alertmanager reachable from this machine"},
		},
	}, kubernetesKeys(), prometheusChart, prometheusCRDs)
}

// Observability collects what applications report themselves.
func Observability() model.Project {
	return withCharts(model.Project{
		Name: "observability", Path: "kubernetes/observability",
		Title: "Observability", Namespace: "observability", Estimate: 90 * time.Second,
		AlsoNamed: []string{"opentelemetry", "otel", "otelcollector", "jaeger"},
		Summary:   "an OpenTelemetry Collector for traces, metrics and logs in OTLP",
		Keys: []config.Key{
			{Name: "observability:otlp_endpoint", Kind: config.String, Form: config.Web,
				Example: "https://otlp.example.com:4318",
				Doc: "OTLP/HTTP address that traces and logs are sent on to; " +
					"they are only summarised in the collector's log when not set"},
			replicasKey("observability:replicas", "number of collector pods", 2),
		},
		Outputs: []model.Output{
			{Name: "otlp_grpc_endpoint", Doc: "address for OTLP over gRPC inside the cluster"},
			{Name: "otlp_http_endpoint", Doc: "address for OTLP over HTTP inside the cluster"},
		},
	}, namespaceKeys(), observabilityChart)
}

// BankHostKey is the key of the demo application's host, which is LocalHost on this machine where it is not set.
const (
	BankHostKey = "bank-of-anthos:host"
	LocalHost   = "localhost"
)

// BankHost returns the host of the demo application; "" if only its load balancer knows it.
func BankHost(on model.Infrastructure, v config.Values) string {
	if host := v.Text(BankHostKey); host != "" || !on.Local {
		return host
	}
	return LocalHost
}

// BankOfAnthos declares the demo application.
func BankOfAnthos() model.Project {
	return model.Project{
		Name: "bank-of-anthos", Path: "kubernetes/applications/bank-of-anthos",
		Title: "Bank of Anthos", Namespace: "bank-of-anthos", Estimate: 4 * time.Minute,
		AlsoNamed: []string{"bank", "anthos"},
		Summary:   "a bank made of nine services and two databases, behind an Ingress with TLS",
		Volumes:   &model.Volumes{Key: "bank-of-anthos:storage_size"},
		Keys: slices.Concat(
			kubernetesKeys(),
			[]config.Key{
				issuerKey(),
				httpsPortKey(),
				entryKey(),
				httpsNodePortKey(),
				storageClassKey(),
				storageSizeKey("bank-of-anthos:storage_size", "size of each database's volume"),
				{Name: BankHostKey, Kind: config.String, Form: config.Host, Example: "bank.example.com",
					Doc: "host name of the application; " +
						"that of the load balancer (of its address, with sslip.io) when not set, localhost on kind"},
				{Name: "bank-of-anthos:name", Kind: config.String, Default: "Bank of Anthos", Example: "Example Bank",
					Doc: "name that the pages show"},
				{Name: "bank-of-anthos:demo_data", Kind: config.Bool, Default: true, Example: "false",
					Doc: "create the demo users and their transactions when the databases start for the first time"},
				{Name: "bank-of-anthos:load_generator", Kind: config.Bool, Default: true, Example: "false",
					Doc: "run simulated customers"},
				{Name: "bank-of-anthos:load_users", Kind: config.Int, Default: 5, Min: new(1), Max: new(1000),
					Example: "20", Doc: "number of simulated customers"},
				replicasKey("bank-of-anthos:replicas", "number of pods of the frontend and of the user and contact services", 2),
			},
		),
		Secrets: []model.Secret{
			{Key: "bank-of-anthos:accounts_db_password", DataKey: "accounts-db-password",
				Prompt: "Bank of Anthos accounts database password", Generate: model.AlphanumericPassword, MinLength: 8,
				Doc: "password of the accounts database; it takes effect when the database starts for the first time"},
			{Key: "bank-of-anthos:ledger_db_password", DataKey: "ledger-db-password",
				Prompt: "Bank of Anthos ledger database password", Generate: model.AlphanumericPassword, MinLength: 8,
				Doc: "password of the ledger database; it takes effect when the database starts for the first time"},
			{Key: "bank-of-anthos:jwt_private_key", DataKey: "jwtRS256.key",
				Prompt: "Bank of Anthos RSA private key for login tokens (PEM)", Generate: model.RSAKey,
				Doc: "RSA private key, PEM, that signs login tokens; the public key is derived from it"},
		},
		Outputs: []model.Output{
			{Name: "application_url", Highlight: true, Doc: "address of the application"},
			{Name: "demo_user", Highlight: true,
				Doc: "user name to log in with; its password is in Bank of Anthos' own documentation"},
			{Name: "host", Doc: "host name in the Ingress"},
		},
		Hooks: []model.Hook{model.ReachableHook()},
	}
}
