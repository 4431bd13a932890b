package clouds

import (
	"fmt"

	"mara/runner/internal/feature/simulate"
)

// clusterHost has clusters that no program makes, with load balancers.
func clusterHost() host {
	return host{existing: true, domain: "cluster", loadBalancer: func(o simulate.Object) map[string]any {
		return map[string]any{"ip": fmt.Sprintf("203.0.113.%d", o.Pick("balancer", 1, 254))}
	}}
}
