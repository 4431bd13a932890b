// Package dashboard is the Pulumi program that deploys Headlamp. It has no rights in the cluster: whoever logs
// in, with a token, sees what the token may see. Nothing is reachable from outside the cluster.
package dashboard

import (
	"maps"

	"github.com/pulumi/pulumi/sdk/v3/go/pulumi"

	"mara/projects"
	"mara/projects/internal/cluster"
	"mara/projects/internal/settings"
)

// Program deploys Headlamp.
func Program(ctx *pulumi.Context) error {
	project := projects.Dashboard()
	c, namespace, err := cluster.ConnectIn(ctx, settings.New(ctx, project), project.Namespace)
	if err != nil {
		return err
	}
	if _, err := c.Release(ctx, cluster.Chart{
		Release: "headlamp", Chart: "headlamp", Group: "dashboard", Namespace: namespace, Values: values(c),
	}); err != nil {
		return err
	}
	ctx.Export("command", pulumi.String(
		"kubectl --namespace "+project.Namespace+" port-forward service/headlamp 4466:80"))
	return nil
}

// values returns the chart's values.
// https://github.com/kubernetes-sigs/headlamp/blob/headlamp-helm-0.45.0/charts/headlamp/values.yaml
func values(c *cluster.Cluster) cluster.Values {
	replicas := c.Replicas("dashboard:replicas", 1)
	security := cluster.SecurityContext()
	maps.Copy(security, cluster.PodSecurityContext())
	// The chart's default is not empty, so its safe values do not apply.
	security["runAsUser"], security["runAsGroup"], security["readOnlyRootFilesystem"] = 100, 101, true
	return cluster.Values{
		"replicaCount": replicas,
		"image":        cluster.Values{"registry": c.Registry("ghcr.io")},
		// By default the chart makes its account an administrator of the cluster.
		"clusterRoleBinding": cluster.Values{"create": false},
		"securityContext":    security,
		"resources": cluster.Values{
			"requests": cluster.Values{"cpu": "20m", "memory": "128Mi"}, "limits": cluster.Values{"memory": "256Mi"},
		},
	}
}
