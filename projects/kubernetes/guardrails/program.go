// Package guardrails is the Pulumi program that makes namespaces for teams: what their Pods may request is
// limited, and they can talk to their own namespace and to DNS only, until a NetworkPolicy of the team allows
// more.
package guardrails

import (
	"fmt"

	"github.com/pulumi/pulumi/sdk/v3/go/pulumi"

	"mara/projects"
	"mara/projects/internal/cluster"
	"mara/projects/internal/settings"
)

// Program declares the namespaces and the PriorityClasses.
func Program(ctx *pulumi.Context) error {
	s := settings.New(ctx, projects.Guardrails())
	quotas, _ := projects.Quotas(s.Map(projects.GuardedNamespaces)) // a rule of the project has judged them
	c, err := cluster.Connect(ctx, s)
	if err != nil {
		return err
	}
	if err := priorities(ctx, c); err != nil {
		return err
	}
	var names pulumi.StringArray
	for _, quota := range quotas {
		if err := guard(ctx, c, quota); err != nil {
			return err
		}
		names = append(names, pulumi.String(quota.Namespace))
	}
	ctx.Export("namespaces", names)
	return nil
}

// priorities declares two PriorityClasses besides Kubernetes' own: for Pods that others make room for, and for
// Pods that wait and make room. Pods that name none stay between them.
func priorities(ctx *pulumi.Context, c *cluster.Cluster) error {
	for _, class := range []struct {
		name, policy, doc string
		value             int
	}{
		{"important", "PreemptLowerPriority", "Others make room for these Pods.", 1000000},
		{"background", "Never", "These Pods wait for room, and make room for others.", -1000},
	} {
		if _, err := c.Declare(ctx, cluster.Object{
			APIVersion: "scheduling.k8s.io/v1", Kind: "PriorityClass", Name: class.name,
			Fields: cluster.Values{"value": class.value, "preemptionPolicy": class.policy, "description": class.doc},
		}); err != nil {
			return err
		}
	}
	return nil
}

// guard declares a namespace with its limits.
func guard(ctx *pulumi.Context, c *cluster.Cluster, quota projects.Quota) error {
	namespace, err := c.Namespace(ctx, quota.Namespace)
	if err != nil {
		return err
	}
	for _, object := range []cluster.Object{
		{APIVersion: "v1", Kind: "ResourceQuota", Name: "quota", Fields: cluster.Values{"spec": cluster.Values{
			"hard": cluster.Values{
				"requests.cpu": quota.CPU, "requests.memory": quota.Memory, "limits.memory": quota.Memory,
				"pods": fmt.Sprint(quota.Pods),
			},
		}}},
		// A quota refuses Pods that request nothing, so they get requests and limits here.
		{APIVersion: "v1", Kind: "LimitRange", Name: "limits", Fields: cluster.Values{"spec": cluster.Values{
			"limits": []cluster.Values{{
				"type":           "Container",
				"defaultRequest": cluster.Values{"cpu": "50m", "memory": "128Mi"},
				"default":        cluster.Values{"memory": "256Mi"},
			}},
		}}},
		{APIVersion: "networking.k8s.io/v1", Kind: "NetworkPolicy", Name: "deny-by-default", Fields: denied()},
		{APIVersion: "networking.k8s.io/v1", Kind: "NetworkPolicy", Name: "own-namespace-and-dns", Fields: allowed()},
	} {
		object.Namespace, object.Resource = namespace, quota.Namespace+"-"+object.Name
		if _, err := c.Declare(ctx, object); err != nil {
			return err
		}
	}
	return nil
}

// denied returns a NetworkPolicy that allows nothing.
func denied() cluster.Values {
	return cluster.Values{"spec": cluster.Values{
		"podSelector": cluster.Values{}, "policyTypes": []string{"Ingress", "Egress"},
	}}
}

// allowed returns a NetworkPolicy that allows the namespace itself and DNS.
func allowed() cluster.Values {
	inside := []cluster.Values{{"podSelector": cluster.Values{}}}
	return cluster.Values{"spec": cluster.Values{
		"podSelector": cluster.Values{}, "policyTypes": []string{"Ingress", "Egress"},
		"ingress": []cluster.Values{{"from": inside}},
		"egress": []cluster.Values{
			{"to": inside},
			{"ports": []cluster.Values{{"port": 53, "protocol": "UDP"}, {"port": 53, "protocol": "TCP"}}},
		},
	}}
}
