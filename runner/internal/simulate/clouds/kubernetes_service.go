package clouds

import (
	"fmt"
	"strings"

	"mara/runner/internal/simulate"
)

// hostedBy tells whether the cluster that an object lives in is one of eks,
// lke or kind.
func hostedBy(o simulate.Object, host string) bool {
	return strings.HasSuffix(o.Scope, "."+host+".simulated"+nowhere)
}

// entrance is one address of a load balancer, in the form that the cloud of
// the cluster gives: a host name, or an address with a host name.
func entrance(o simulate.Object) map[string]any {
	switch {
	case hostedBy(o, "eks"):
		return map[string]any{"hostname": o.Hex("balancer", 32) + ".elb.simulated" + nowhere}
	case hostedBy(o, "lke"):
		return map[string]any{"ip": o.IPv4("balancer"), "hostname": "nb-" + o.Hex("balancer", 8) + ".simulated" + nowhere}
	}
	return map[string]any{"hostname": "localhost"}
}

// service adds what a cluster gives to a Service. One that no program made
// is a chart's load balancer.
func service(o simulate.Object) map[string]any {
	kind := o.TextOr("spec.type", "ClusterIP")
	if o.Map("spec") == nil {
		kind = "LoadBalancer"
	}
	address := fmt.Sprintf("10.96.%d.%d", o.Pick("high", 0, 255), o.Pick("low", 1, 254))
	if o.Text("spec.clusterIP") == "None" {
		address = "None"
	}
	balancer := map[string]any{}
	if kind == "LoadBalancer" {
		balancer["ingress"] = []any{entrance(o)}
	}
	return map[string]any{
		"spec":   map[string]any{"type": kind, "clusterIP": address, "clusterIPs": []any{address}},
		"status": map[string]any{"loadBalancer": balancer},
	}
}

// serviceFact is the fact that a chart has made a Service.
func serviceFact(o simulate.Object) string { return o.Scope + "/service/" + o.ID }

// needsLoadBalancer refuses what never gets an address: kind has no load
// balancers, and the provider would wait for ten minutes and fail.
func needsLoadBalancer(o simulate.Object) []simulate.Requirement {
	skipped := o.Map("metadata.annotations")["pulumi.com/skipAwait"] == "true"
	if o.Text("spec.type") != "LoadBalancer" || o.Text("spec.loadBalancerClass") != "" || skipped || !hostedBy(o, "kind") {
		return nil
	}
	return []simulate.Requirement{{
		Fact:    o.Scope + "/loadbalancers",
		Missing: "timed out waiting for the Service to be assigned an IP address: kind has no load balancers",
	}}
}
