// Package prometheus is the Pulumi program that deploys Prometheus, Alertmanager
// and Grafana. The namespace and the Secret with Grafana's account come from the
// secrets project. Nothing is reachable from outside the cluster.
package prometheus

import (
	"github.com/pulumi/pulumi/sdk/v3/go/pulumi"

	"mara/projects"
	"mara/projects/internal/cluster"
	"mara/projects/internal/settings"
	"mara/projects/internal/stackref"
)

// Program deploys the definitions of the custom resources first, as a release of
// their own: Helm would neither upgrade nor remove them as part of the other.
func Program(ctx *pulumi.Context) error {
	project := projects.Prometheus()
	s := settings.New(ctx, project)
	c, err := cluster.Connect(ctx, s)
	if err != nil {
		return err
	}
	credentials := stackref.New(ctx, projects.Secrets().Name).Entry("secrets", project.Namespace)
	namespace := pulumi.String(project.Namespace)
	definitions, err := c.Release(ctx, cluster.Chart{
		Release: "prometheus-operator-crds", Chart: "prometheus-operator-crds", Group: "prometheus:crds",
		Namespace: namespace, Values: definitionValues(s),
	})
	if err != nil {
		return err
	}
	if _, err := c.Release(ctx, cluster.Chart{
		Release: "prometheus", Chart: "kube-prometheus-stack", Group: "prometheus",
		Namespace: namespace, Values: values(c, s, credentials),
	}, pulumi.DependsOn([]pulumi.Resource{definitions})); err != nil {
		return err
	}
	export(ctx, project.Namespace)
	return nil
}

// export names the Services as the chart names them for a release called
// "prometheus".
func export(ctx *pulumi.Context, namespace string) {
	forward := func(service, ports string) pulumi.String {
		return pulumi.String("kubectl --namespace " + namespace + " port-forward service/" + service + " " + ports)
	}
	ctx.Export("prometheus_url", pulumi.String("http://prometheus-kube-prometheus-prometheus."+namespace+".svc:9090"))
	ctx.Export("grafana_user", pulumi.String("admin"))
	ctx.Export("grafana", forward("prometheus-grafana", "3000:80"))
	ctx.Export("prometheus", forward("prometheus-kube-prometheus-prometheus", "9090:9090"))
	ctx.Export("alertmanager", forward("prometheus-kube-prometheus-alertmanager", "9093:9093"))
}
