package prometheus

import (
	"github.com/pulumi/pulumi/sdk/v3/go/pulumi"

	"mara/projects"
	"mara/projects/internal/cluster"
	"mara/projects/internal/settings"
)

// sizeKey is the key for the size of each volume.
const sizeKey = "prometheus:storage_size"

// definitionValues returns the values of the chart prometheus-operator-crds, whose definitions
// are templates: an uninstall deletes them unless a value keeps them. The defaults are in
// charts/prometheus-operator-crds/values.yaml of
// https://github.com/prometheus-community/helm-charts/tree/prometheus-operator-crds-31.0.1
func definitionValues(s *settings.Settings) cluster.Values {
	if !s.Bool("prometheus:keep_crds") {
		return nil
	}
	return cluster.Values{"crds": cluster.Values{"annotations": cluster.Values{"helm.sh/resource-policy": "keep"}}}
}

// values returns the values of the chart kube-prometheus-stack; its defaults are in
// charts/kube-prometheus-stack/values.yaml of
// https://github.com/prometheus-community/helm-charts/tree/kube-prometheus-stack-88.5.3
func values(c *cluster.Cluster, s *settings.Settings, credentials pulumi.StringOutput) cluster.Values {
	off := cluster.Values{"enabled": false}
	values := cluster.Values{
		"crds":         off, // a release of their own
		"grafana":      grafana(c, s, credentials),
		"prometheus":   prometheus(c, s),
		"alertmanager": alertmanager(c, s),
		"prometheusOperator": cluster.Values{
			"resources": cluster.Values{"requests": cluster.Values{"cpu": "50m", "memory": "128Mi"}},
		},
		"additionalPrometheusRulesMap": rules(),
		// Managed control planes hide these, and kind's listen on the loopback
		// of the node: watching them would only raise alerts that never end.
		"kubeControllerManager": off,
		"kubeScheduler":         off,
		"kubeEtcd":              off,
		"kubeProxy":             off,
	}
	if registry := c.Registry(""); registry != "" {
		values["global"] = cluster.Values{"imageRegistry": registry}
	}
	return values
}

// grafana takes its account from the Secret, never from the values.
// https://github.com/grafana-community/helm-charts/blob/main/charts/grafana/values.yaml
func grafana(c *cluster.Cluster, s *settings.Settings, credentials pulumi.StringOutput) cluster.Values {
	persistence := cluster.Values{"enabled": true, "size": s.String(sizeKey)}
	if class := c.StorageClass(); class != "" {
		persistence["storageClassName"] = class
	}
	return cluster.Values{
		"admin": cluster.Values{
			"existingSecret": credentials, "userKey": "admin-user", "passwordKey": "admin-password",
		},
		"service":     cluster.Values{"type": "ClusterIP"},
		"persistence": persistence,
		// The volume's group is Grafana's: no init container has to be root.
		"initChownData": cluster.Values{"enabled": false},
		// The volume can be mounted once only: the old pod has to go first.
		"deploymentStrategy": cluster.Values{"type": "Recreate"},
		"resources":          cluster.Values{"requests": cluster.Values{"cpu": "50m", "memory": "192Mi"}},
		"sidecar": cluster.Values{
			"dashboards": cluster.Values{"enabled": true, "label": "grafana_dashboard", "searchNamespace": "ALL"},
		},
	}
}

func prometheus(c *cluster.Cluster, s *settings.Settings) cluster.Values {
	requests := cluster.Values{"cpu": "250m", "memory": "1Gi"}
	if c.Small() {
		requests = cluster.Values{"cpu": "50m", "memory": "400Mi"}
	}
	return cluster.Values{
		"service": cluster.Values{"type": "ClusterIP"},
		"prometheusSpec": cluster.Values{
			"retention":     s.String("prometheus:retention"),
			"retentionSize": s.String("prometheus:retention_size"),
			"storageSpec":   claim(c, s),
			"resources":     cluster.Values{"requests": requests},
			// Take every monitor and rule in every namespace, not only the ones
			// that carry this release's label.
			"serviceMonitorSelectorNilUsesHelmValues": false,
			"podMonitorSelectorNilUsesHelmValues":     false,
			"ruleSelectorNilUsesHelmValues":           false,
			"probeSelectorNilUsesHelmValues":          false,
			"scrapeConfigSelectorNilUsesHelmValues":   false,
			// The observability project's collector sends metrics here.
			"enableOTLPReceiver": true,
		},
		"additionalPodMonitors": podMonitors(),
	}
}

func alertmanager(c *cluster.Cluster, s *settings.Settings) cluster.Values {
	return cluster.Values{
		"service": cluster.Values{"type": "ClusterIP"},
		"alertmanagerSpec": cluster.Values{
			"replicas":  c.Replicas("prometheus:alertmanager_replicas", 2),
			"storage":   claim(c, s),
			"resources": cluster.Values{"requests": cluster.Values{"cpu": "10m", "memory": "64Mi"}},
		},
	}
}

// claim asks for a volume for each pod.
func claim(c *cluster.Cluster, s *settings.Settings) cluster.Values {
	return cluster.Values{"volumeClaimTemplate": cluster.Values{"spec": c.Claim(s.String(sizeKey))}}
}

// podMonitors watch what the other projects deploy. They are here because the
// definition of PodMonitor is: the other projects may run before this one.
func podMonitors() []cluster.Values {
	return []cluster.Values{
		podMonitor("ingress-controller", projects.IngressController().Namespace, "nginx-ingress", "prometheus", "/metrics"),
		podMonitor("cert-manager", projects.CertManager().Namespace, "cert-manager", "http-metrics", "/metrics"),
		podMonitor("log-agent", projects.LogAgent().Namespace, "fluent-bit", "http", "/api/v1/metrics/prometheus"),
		podMonitor("opentelemetry-collector", projects.Observability().Namespace,
			"opentelemetry-collector", "metrics", "/metrics"),
		applications("http"), applications("metrics"),
	}
}

// applications watches one named port of the Pods of applications that say so with a label, in all namespaces. An
// annotation has the path.
func applications(port string) cluster.Values {
	return cluster.Values{
		"name":              "applications-" + port,
		"selector":          cluster.Values{"matchLabels": cluster.Values{projects.MetricsLabel: port}},
		"namespaceSelector": cluster.Values{"any": true},
		"podMetricsEndpoints": []cluster.Values{{"port": port, "relabelings": []cluster.Values{{
			"sourceLabels": []string{"__meta_kubernetes_pod_annotation_mara_dev_metrics_path"},
			"regex":        "(.+)", "targetLabel": "__metrics_path__",
		}}}},
	}
}

// rules returns alerts about applications: the part of answers that are errors of the server, as the ingress
// controller sees them.
// https://docs.nginx.com/nginx-ingress-controller/logging-and-monitoring/prometheus/
func rules() cluster.Values {
	const answers = "nginx_ingress_controller_upstream_server_response_latency_ms_count"
	rate := func(selector string) string {
		return "sum by (resource_namespace, resource_name) (rate(" + answers + selector + "[5m]))"
	}
	return cluster.Values{"applications": cluster.Values{"groups": []cluster.Values{{
		"name": "applications",
		"rules": []cluster.Values{{
			"alert": "ApplicationErrors", "for": "5m",
			"expr":   rate(`{code=~"5.."}`) + " / " + rate("") + " > 0.05",
			"labels": cluster.Values{"severity": "warning"},
			"annotations": cluster.Values{
				"summary": "More than 5 % of the answers of {{ $labels.resource_name }} in " +
					"{{ $labels.resource_namespace }} are errors.",
			},
		}},
	}}}}
}

// podMonitor watches one named port of the pods of one chart.
func podMonitor(name, namespace, app, port, path string) cluster.Values {
	return cluster.Values{
		"name":                name,
		"selector":            cluster.Values{"matchLabels": cluster.Values{"app.kubernetes.io/name": app}},
		"namespaceSelector":   cluster.Values{"matchNames": []string{namespace}},
		"podMetricsEndpoints": []cluster.Values{{"port": port, "path": path}},
	}
}
