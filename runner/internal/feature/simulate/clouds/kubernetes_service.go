package clouds

import (
	"fmt"
	"path"
	"strings"

	"mara/config/lists"
	"mara/runner/internal/feature/simulate"
)

// hostAt returns the provider of the cluster whose API server has an address.
func hostAt(server string) (found host, ok bool) {
	return lists.Find(hosts(), func(h host) bool {
		return strings.HasSuffix(server, "."+h.domain+".simulated"+nowhere)
	})
}

// loadBalancer returns the address of a load balancer, in the form of the cluster's
// cloud.
func loadBalancer(o simulate.Object) map[string]any {
	if host, _ := hostAt(o.Scope); host.loadBalancer != nil {
		return host.loadBalancer(o)
	}
	return map[string]any{"hostname": "localhost"}
}

// service adds what a cluster gives to a Service. One that no program made
// is a chart's load balancer.
func service(o simulate.Object) map[string]any {
	kind, shown := o.TextOr("spec.type", "ClusterIP"), map[string]any{}
	if o.Map("spec") == nil {
		kind = "LoadBalancer"
		shown["__inputs"] = map[string]any{
			"metadata": map[string]any{"name": path.Base(o.ID)}, "spec": map[string]any{"type": kind},
		}
	}
	address := fmt.Sprintf("10.96.%d.%d", o.Pick("high", 0, 255), o.Pick("low", 1, 254))
	if o.Text("spec.clusterIP") == "None" {
		address = "None"
	}
	balancer := map[string]any{}
	if kind == "LoadBalancer" {
		balancer["ingress"] = []any{loadBalancer(o)}
	}
	shown["spec"] = map[string]any{"type": kind, "clusterIP": address, "clusterIPs": []any{address}}
	shown["status"] = map[string]any{"loadBalancer": balancer}
	return shown
}

// serviceFact returns the fact that a chart has created a Service.
func serviceFact(o simulate.Object) string { return o.Scope + "/service/" + o.ID }

// needsLoadBalancer rejects a Service that never gets an address: in a cluster without
// load balancers the provider would wait for ten minutes and fail.
func needsLoadBalancer(o simulate.Object) []simulate.Requirement {
	skipped := o.Map("metadata.annotations")["pulumi.com/skipAwait"] == "true"
	host, known := hostAt(o.Scope)
	if o.Text("spec.type") != "LoadBalancer" || o.Text("spec.loadBalancerClass") != "" || skipped ||
		!known || host.loadBalancer != nil {
		return nil
	}
	return []simulate.Requirement{{
		Fact:    o.Scope + "/loadbalancers",
		Missing: "timed out waiting for the Service to be assigned an IP address: " + host.domain + " has no load balancers",
	}}
}
