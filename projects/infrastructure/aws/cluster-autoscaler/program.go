// Package clusterautoscaler is the Pulumi program that deploys the cluster autoscaler of Kubernetes for EKS.
// The rights to change the number of nodes come from the project aws-eks.
package clusterautoscaler

import (
	"fmt"
	"slices"
	"strings"

	"github.com/pulumi/pulumi/sdk/v3/go/pulumi"

	"mara/config/lists"
	"mara/projects"
	"mara/projects/internal/cluster"
	"mara/projects/internal/contain"
	"mara/projects/internal/settings"
	"mara/projects/internal/stackref"
)

// account is its ServiceAccount, to which aws-eks gives rights.
const account = "cluster-autoscaler"

// Program deploys the autoscaler.
func Program(ctx *pulumi.Context) error {
	project := projects.ClusterAutoscaler()
	s := settings.New(ctx, project)
	version := s.String("cluster-autoscaler:version")
	s.Bool("eks:cluster_autoscaler") // a rule of the project requires it
	c, namespace, err := cluster.ConnectIn(ctx, s, project.Namespace)
	if err != nil {
		return err
	}
	eks := stackref.New(ctx, projects.AWSEKS().Name)
	tag := eks.String("cluster_version").ApplyT(contain.Try(func(minor string) (string, error) {
		return imageTag(minor, version)
	})).(pulumi.StringOutput)
	if _, err := c.Release(ctx, cluster.Chart{
		Release: "cluster-autoscaler", Chart: "cluster-autoscaler", Group: "cluster-autoscaler", Namespace: namespace,
		Values: values(c, eks, tag),
	}); err != nil {
		return err
	}
	ctx.Export("image_tag", tag)
	return nil
}

// imageTag returns the tag of the image for a minor version of Kubernetes: the autoscaler simulates the scheduler of
// exactly that version.
func imageTag(minor, wanted string) (string, error) {
	if wanted != "" {
		if !strings.HasPrefix(wanted, minor+".") {
			return "", fmt.Errorf("cluster-autoscaler:version is %s, but the cluster has Kubernetes %s: set a version %s.N",
				wanted, minor, minor)
		}
		return "v" + wanted, nil
	}
	known := projects.AutoscalerVersions()
	if patch, ok := known[minor]; ok {
		return "v" + patch, nil
	}
	minors := slices.Clone(lists.Keys(known))
	return "", fmt.Errorf("no version of the cluster autoscaler is known for Kubernetes %s, but for %s: set "+
		"cluster-autoscaler:version", minor, strings.Join(minors, ", "))
}

// values returns the chart's values.
// https://github.com/kubernetes/autoscaler/blob/cluster-autoscaler-chart-9.59.0/charts/cluster-autoscaler/values.yaml
func values(c *cluster.Cluster, eks *stackref.Reference, tag pulumi.StringOutput) cluster.Values {
	container := cluster.SecurityContext()
	container["readOnlyRootFilesystem"] = true
	pod := cluster.PodSecurityContext()
	pod["runAsUser"] = 65534
	return cluster.Values{
		"cloudProvider": "aws",
		"awsRegion":     eks.String("region"),
		"autoDiscovery": cluster.Values{"clusterName": eks.String("cluster_name")},
		"image": cluster.Values{
			"repository": c.Image("registry.k8s.io/autoscaling/cluster-autoscaler"), "tag": tag,
		},
		"rbac": cluster.Values{"serviceAccount": cluster.Values{"name": account}},
		"extraArgs": cluster.Values{
			// A Pod with an emptyDir, as almost all have, would keep its node for ever.
			"skip-nodes-with-local-storage": false,
			"balance-similar-node-groups":   true,
		},
		"securityContext":          pod,
		"containerSecurityContext": container,
		"resources":                cluster.Resources("50m", "300Mi", "1Gi"),
	}
}
