package clouds

import (
	"fmt"
	"regexp"

	"mara/projects/schemas"
	"mara/runner/internal/simulate"
)

// kindHost has clusters of kind, without load balancers.
func kindHost() host { return host{plugin: kind, domain: "kind"} }

// kind are clusters and a registry in containers on this machine.
func kind() simulate.Package {
	return simulate.Package{
		Name: "kind", Schemas: [][]byte{schemas.Of("kind")},
		Resources: []simulate.Resource{
			{
				Token:   "kind:index:Cluster",
				Latency: seconds(60, 5, 5), ID: field("name"),
				Check: checkKindCluster, Outputs: kindCluster,
				Links: func(o simulate.Object) simulate.Links {
					return simulate.Links{Provides: []simulate.Fact{
						{Name: reachable(kindServer(o))}, {Name: "kind/cluster/" + o.ID},
					}}
				},
			},
			{
				Token:   "kind:index:Registry",
				Latency: seconds(8, 3, 1), ID: field("name"),
				Outputs: kindRegistry,
				Links:   links(nil, once(needs("clusterName", "kind/cluster/", "no nodes found for cluster"))),
			},
		},
	}
}

var kindName = regexp.MustCompile(`^[a-z0-9.-]+$`)

func checkKindCluster(o simulate.Object) []simulate.Problem {
	if name := o.Text("name"); name != "" && !kindName.MatchString(name) {
		return []simulate.Problem{{Path: "name", Reason: fmt.Sprintf("%q is not a name for a cluster: it must match %s", name, kindName)}}
	}
	return nil
}

func kindServer(o simulate.Object) string { return apiServer(o.TextOr("name", "kind") + ".kind") }

func kindCluster(o simulate.Object) map[string]any {
	name := o.TextOr("name", "kind")
	return map[string]any{
		"controlPlanes":    o.Number("controlPlanes", 1),
		"workers":          o.Number("workers", 0),
		"listenAddress":    o.TextOr("listenAddress", "127.0.0.1"),
		"apiServerAddress": o.TextOr("apiServerAddress", "127.0.0.1"),
		"waitSeconds":      o.Number("waitSeconds", 300),
		"endpoint":         kindServer(o),
		"network":          "kind",
		"nodeNames":        kindNodes(name, o.Number("controlPlanes", 1), o.Number("workers", 0)),
		"uid":              uuid(o, "uid"),
		"kubeconfig": kubeconfigText("kind-"+name, kindServer(o), map[string]string{
			"client-certificate-data": certificate, "client-key-data": certificate,
		}),
	}
}

// kindNodes are the nodes' names as kind makes them: the first of a role has
// no number.
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
		"hostAddress":      o.TextOr("hostAddress", "127.0.0.1"),
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
