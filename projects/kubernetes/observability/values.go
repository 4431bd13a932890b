package observability

import "mara/projects/internal/cluster"

// prometheusOTLP is where Prometheus takes metrics in: the Service of the
// prometheus project, whose OTLP receiver is on.
const prometheusOTLP = "http://prometheus-kube-prometheus-prometheus.prometheus.svc:9090/api/v1/otlp"

// values returns the chart's values; its defaults are in
// charts/opentelemetry-collector/values.yaml of
// https://github.com/open-telemetry/opentelemetry-helm-charts/tree/opentelemetry-collector-0.170.0
func values(c *cluster.Cluster, endpoint string) cluster.Values {
	replicas := c.Replicas("observability:replicas", 2)
	off := cluster.Values{"enabled": false}
	return cluster.Values{
		"mode":             "deployment",
		"fullnameOverride": service,
		"replicaCount":     replicas,
		"image": cluster.Values{
			"repository": c.Image("ghcr.io/open-telemetry/opentelemetry-collector-releases/opentelemetry-collector-k8s"),
		},
		"command": cluster.Values{"name": "otelcol-k8s"}, // belongs to the image
		"presets": cluster.Values{"kubernetesAttributes": cluster.Values{"enabled": true}},
		// The collector sheds load before it reaches the memory limit.
		"resources": cluster.Values{
			"requests": cluster.Values{"cpu": "50m", "memory": "128Mi"},
			"limits":   cluster.Values{"memory": "512Mi"},
		},
		"podSecurityContext":  cluster.PodSecurityContext(),
		"securityContext":     cluster.SecurityContext(),
		"podDisruptionBudget": cluster.Values{"enabled": replicas > 1, "maxUnavailable": 1},
		"ports": cluster.Values{
			"jaeger-compact": off, "jaeger-thrift": off, "jaeger-grpc": off, "zipkin": off,
			"metrics": cluster.Values{"enabled": true},
		},
		"config": config(endpoint),
	}
}

// config returns the collector's own configuration, merged over the chart's. Only OTLP comes
// in; receivers that no pipeline names are not started.
// https://opentelemetry.io/docs/collector/configuration/
func config(endpoint string) cluster.Values {
	exporters := cluster.Values{
		"debug":                cluster.Values{"verbosity": "basic"},
		"otlp_http/prometheus": cluster.Values{"endpoint": prometheusOTLP},
	}
	onward := "debug"
	if endpoint != "" {
		onward = "otlp_http/onward"
		exporters[onward] = cluster.Values{"endpoint": endpoint}
	}
	return cluster.Values{
		"exporters": exporters,
		"service": cluster.Values{"pipelines": cluster.Values{
			"traces":  pipeline(onward),
			"logs":    pipeline(onward),
			"metrics": pipeline("otlp_http/prometheus"),
		}},
	}
}

func pipeline(exporter string) cluster.Values {
	return cluster.Values{
		"receivers":  []string{"otlp"},
		"processors": []string{"memory_limiter", "batch"},
		"exporters":  []string{exporter},
	}
}
