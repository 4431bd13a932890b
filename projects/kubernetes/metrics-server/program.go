// Package metricsserver is the Pulumi program that deploys metrics-server, whose metrics HorizontalPodAutoscalers and
// `kubectl top` read.
package metricsserver

import (
	"github.com/pulumi/pulumi/sdk/v3/go/pulumi"

	"mara/projects"
	"mara/projects/internal/cluster"
	"mara/projects/internal/settings"
)

// Program deploys metrics-server.
func Program(ctx *pulumi.Context) error {
	project := projects.MetricsServer()
	s := settings.New(ctx, project)
	const insecureKey = "metrics-server:insecure_kubelets"
	insecure, isSet := s.Bool(insecureKey), s.IsSet(insecureKey)
	c, namespace, err := cluster.ConnectIn(ctx, s, project.Namespace)
	if err != nil {
		return err
	}
	if _, err := c.Release(ctx, cluster.Chart{
		Release: "metrics-server", Chart: "metrics-server", Group: "metrics-server", Namespace: namespace,
		Values: values(c, insecure || !isSet && c.Local()),
	}); err != nil {
		return err
	}
	ctx.Export("command", pulumi.String("kubectl top nodes"))
	return nil
}

// values returns the chart's values. Its Pods meet the level "restricted" by themselves.
// https://github.com/kubernetes-sigs/metrics-server/tree/metrics-server-helm-chart-3.13.1/charts/metrics-server
func values(c *cluster.Cluster, insecure bool) cluster.Values {
	replicas := c.Replicas("metrics-server:replicas", 2)
	values := cluster.Values{
		"replicas": replicas,
		"image":    cluster.Values{"repository": c.Image("registry.k8s.io/metrics-server/metrics-server")},
		// The chart's requests are for a hundred nodes.
		"resources": cluster.Resources("100m", "200Mi", "1Gi"),
	}
	if replicas > 1 {
		values["podDisruptionBudget"] = cluster.Values{"enabled": true, "maxUnavailable": 1}
	}
	if insecure {
		// The kubelets of kind sign their certificates themselves.
		values["args"] = []string{"--kubelet-insecure-tls"}
	}
	return values
}
