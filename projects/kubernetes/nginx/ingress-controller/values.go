package controller

import (
	"maps"

	"github.com/pulumi/pulumi/sdk/v3/go/pulumi"

	"mara/projects/internal/cluster"
)

// localAddress is what Ingresses on kind show as their address. Without one
// they would never be ready, for nothing else gives them one there.
const localAddress = "localhost"

// collector is where traces go: the Service of the observability project.
const collector = "http://otel-collector.observability.svc:4317"

// accessLog is one JSON object a line, which the log agent takes apart.
// Variables: https://docs.nginx.com/nginx-ingress-controller/configuration/global-configuration/configmap-resource/
const accessLog = `{"time":"$time_iso8601","remote":"$remote_addr","method":"$request_method","uri":"$request_uri",` +
	`"status":"$status","bytes":"$body_bytes_sent","rt":"$request_time","upstream":"$upstream_addr",` +
	`"urt":"$upstream_response_time","host":"$host","ingress":"$resource_name","service":"$service"`

// values returns the chart's values.
// https://github.com/nginx/kubernetes-ingress/blob/v5.5.4/charts/nginx-ingress/values.yaml
func values(c *cluster.Cluster, o options, img image) cluster.Values {
	controller := cluster.Values{
		"nginxplus": o.plus,
		"image": cluster.Values{
			"repository": img.repository,
			"tag":        img.tag,
			"digest":     img.digest, // wins over the tag: a new image under the same tag is rolled out
		},
		"ingressClass":          cluster.Values{"name": ingressClass, "create": true, "setAsDefaultIngress": true},
		"enableCustomResources": o.customResources,
		"enableLatencyMetrics":  true, // an alert of the project prometheus counts answers by it
		"config":                cluster.Values{"entries": entries(c, o)},
		"logFormat":             "json",
		"telemetryReporting":    cluster.Values{"enable": false},
		"resources":             cluster.Resources("100m", "128Mi", "1Gi"),
	}
	if o.plus {
		controller["mgmt"] = cluster.Values{"licenseTokenSecretName": license}
	}
	if secret := c.Infrastructure.ImagePullSecret; secret != "" && o.publicImage == "" {
		controller["serviceAccount"] = cluster.Values{"imagePullSecretName": secret}
	}
	maps.Copy(controller, exposure(c, o))
	return cluster.Values{
		"controller": controller,
		// Metrics on the pods, for Prometheus; never on the public Service.
		"prometheus": cluster.Values{"create": true, "port": 9113, "scheme": "http"},
	}
}

// entries returns the ConfigMap for NGINX itself; its values are strings.
func entries(c *cluster.Cluster, o options) cluster.Values {
	log := accessLog
	entries := cluster.Values{"log-format-escaping": "json"}
	if o.tracing {
		// The variable exists only when the exporter is configured.
		log += `,"trace":"$otel_trace_id"`
		entries["otel-exporter-endpoint"] = collector
		entries["otel-service-name"] = "ingress-controller"
		entries["otel-trace-in-http"] = "true"
	}
	entries["log-format"] = log + "}"
	if c.Local() {
		entries["external-status-address"] = localAddress
	}
	if address, ok := c.NodePorts(); ok {
		entries["external-status-address"] = address
	}
	return entries
}

// exposure says how the controller is reached from outside.
func exposure(c *cluster.Cluster, o options) cluster.Values {
	if c.Local() {
		return cluster.Values{
			// kind forwards this machine's ports to the node, and there they
			// have to be open: one pod on each node, with ports of the host.
			"kind":     "daemonset",
			"hostPort": cluster.Values{"enable": true, "http": 80, "https": 443},
			"service":  cluster.Values{"type": "NodePort"},
			"tolerations": []cluster.Values{
				{"key": "node-role.kubernetes.io/control-plane", "operator": "Exists", "effect": "NoSchedule"},
			},
		}
	}
	replicas := c.Replicas("nginx:replicas", 2)
	service := cluster.Values{"type": "LoadBalancer", "externalTrafficPolicy": "Local"}
	leaving := balancerNotices
	if _, ok := c.NodePorts(); ok {
		leaving = nodesNotice
		// Every node has to answer, also those without a pod of the controller.
		service = cluster.Values{
			"type": "NodePort", "externalTrafficPolicy": "Cluster",
			"httpPort":  cluster.Values{"nodePort": o.httpPort},
			"httpsPort": cluster.Values{"nodePort": o.httpsPort},
		}
	}
	if annotations := c.Infrastructure.LoadBalancerAnnotations; len(annotations) > 0 {
		service["annotations"] = pulumi.ToStringMap(annotations)
	}
	if len(o.sourceRanges) > 0 && service["type"] == "LoadBalancer" {
		service["loadBalancerSourceRanges"] = o.sourceRanges
	}
	return cluster.Values{
		"kind":                "deployment",
		"replicaCount":        replicas,
		"service":             service,
		"podDisruptionBudget": cluster.Values{"enabled": replicas > 1, "maxUnavailable": 1},
		"affinity":            spread(),
		// A pod that ends keeps answering until no new connections arrive. The kubelet waits, not the image.
		"lifecycle": cluster.Values{"preStop": cluster.Values{"sleep": cluster.Values{"seconds": leaving}}},
		// The chart's 30 seconds to end the connections come after that.
		"terminationGracePeriodSeconds": leaving + 30,
	}
}

// How long new connections may arrive at a pod that ends, in seconds.
const (
	nodesNotice     = 5  // kube-proxy changes its rules
	balancerNotices = 30 // three health checks of a load balancer fail, 10 s apart on AWS, the slowest
)

// spread prefers different nodes for the controller's pods.
func spread() cluster.Values {
	return cluster.Values{"podAntiAffinity": cluster.Values{
		"preferredDuringSchedulingIgnoredDuringExecution": []cluster.Values{{
			"weight": 100,
			"podAffinityTerm": cluster.Values{
				"topologyKey":   "kubernetes.io/hostname",
				"labelSelector": cluster.Values{"matchLabels": cluster.Values{"app.kubernetes.io/instance": release}},
			},
		}},
	}}
}
