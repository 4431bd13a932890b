package clouds

import (
	"fmt"
	"regexp"

	"mara/projects/schemas"
	"mara/runner/internal/feature/simulate"
)

// kindHost has clusters of kind, without load balancers.
func kindHost() host { return host{plugin: kind, domain: "kind"} }

// kind returns the simulation of clusters and a registry in containers on this machine.
func kind() simulate.Package {
	return simulate.Package{
		Name: "kind", Schemas: [][]byte{schemas.Of("kind")}, Words: faultsOf("kind"),
		Resources: []simulate.Resource{
			{
				Token:   "kind:index:Cluster",
				Latency: seconds(60, 5, 5), ID: field("name"),
				Check: wellFormed("name", kindName.MatchString,
					"is not a name for a cluster: it must match "+kindName.String()),
				Links: links(func(o simulate.Object) []simulate.Fact {
					return facts(reachable(kindServer(o)), "kind/cluster/"+o.ID)
				}),
				Defaults: map[string]any{
					"controlPlanes": 1, "workers": 0, "waitSeconds": 300,
					"listenAddress": "127.0.0.1", "apiServerAddress": "127.0.0.1",
					"network": "kind",
				},
				Outputs: kindCluster,
			},
			{
				Token:   "kind:index:Registry",
				Latency: seconds(8, 3, 1), ID: field("name"),
				Links:    links(nil, once(needs("clusterName", "kind/cluster/", "no nodes found for cluster"))),
				Defaults: map[string]any{"hostAddress": "127.0.0.1"},
				Outputs:  kindRegistry,
			},
		},
	}
}

var kindName = regexp.MustCompile(`^[a-z0-9.-]+$`)

func kindServer(o simulate.Object) string { return apiServer(o.TextOr("name", "kind") + ".kind") }

func kindCluster(o simulate.Object) map[string]any {
	name := o.TextOr("name", "kind")
	return map[string]any{
		"endpoint":  kindServer(o),
		"nodeNames": kindNodes(name, o.Number("controlPlanes", 1), o.Number("workers", 0)),
		"uid":       uuid(o, "uid"),
		"kubeconfig": kubeconfigText("kind-"+name, kindServer(o), map[string]string{
			"client-certificate-data": certificate, "client-key-data": certificate,
		}),
	}
}

// kindNodes lists the names that kind gives to nodes: the first of a role has no
// number.
func kindNodes(cluster string, controlPlanes, workers int) []any {
	var nodes []any
	for i := range controlPlanes {
		nodes = append(nodes, cluster+"-control-plane"+ordinal(i))
	}
	for i := range workers {
		nodes = append(nodes, cluster+"-worker"+ordinal(i))
	}
	return nodes
}

func ordinal(i int) string {
	if i == 0 {
		return ""
	}
	return fmt.Sprint(i + 1)
}

func kindRegistry(o simulate.Object) map[string]any {
	return map[string]any{
		"endpoint":         fmt.Sprintf("localhost:%d", o.Number("hostPort", 5001)),
		"internalEndpoint": o.Text("name") + ":5000",
		"containerId":      o.Hex("container", 64),
	}
}

// uuid makes digits in the form of a UUID.
func uuid(o simulate.Object, label string) string {
	digits := o.Hex(label, 32)
	return fmt.Sprintf("%s-%s-4%s-8%s-%s", digits[:8], digits[8:12], digits[13:16], digits[17:20], digits[20:])
}
