// Package observability is the Pulumi program that deploys an OpenTelemetry
// Collector as the one address that applications send traces, metrics and logs
// to. Metrics go to Prometheus; traces and logs go where the configuration says.
//
// It is the collector's own chart rather than the operator's: one Deployment
// with one configuration needs no operator, no webhook and no custom resource.
package observability

import (
	"github.com/pulumi/pulumi/sdk/v3/go/pulumi"

	"mara/projects"
	"mara/projects/internal/cluster"
	"mara/projects/internal/settings"
)

// service is the name of the collector's Service, and of its release.
const service = "otel-collector"

// Program deploys the collector.
func Program(ctx *pulumi.Context) error {
	project := projects.Observability()
	s := settings.New(ctx, project)
	c, namespace, err := cluster.ConnectIn(ctx, s, project.Namespace)
	if err != nil {
		return err
	}
	if _, err := c.Release(ctx, cluster.Chart{
		Release: service, Chart: "opentelemetry-collector", Group: "observability",
		Namespace: namespace, Values: values(c, s.String("observability:otlp_endpoint")),
	}); err != nil {
		return err
	}
	host := "http://" + service + "." + project.Namespace + ".svc"
	ctx.Export("otlp_grpc_endpoint", pulumi.String(host+":4317"))
	ctx.Export("otlp_http_endpoint", pulumi.String(host+":4318"))
	return nil
}
