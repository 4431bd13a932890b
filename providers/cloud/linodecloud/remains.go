package linodecloud

import (
	"context"
	"fmt"
	"strings"

	"github.com/linode/linodego"

	"mara/projects/naming"
	"mara/providers/cloud"
)

// labelLimit is more than the programs' labels have.
const labelLimit = 50

// Remains implements cloud.Inventory: clusters and machines with the label of an
// environment. Load balancers and volumes that the cluster has made do not say
// whose they are.
func (c *Client) Remains(ctx context.Context, stack string) ([]string, error) {
	name := naming.Environment(stack, "", labelLimit)
	isOurs := func(label string) bool { return label == name || strings.HasPrefix(label, name+"-") }
	filter := fmt.Sprintf(`{"label": {"+contains": %q}}`, name)
	clusters, err := c.api.ListLKEClusters(ctx, linodego.NewListOptions(0, filter))
	if err != nil {
		return nil, explain(ctx, err)
	}
	machines, err := c.api.ListInstances(ctx, linodego.NewListOptions(0, filter))
	if err != nil {
		return nil, explain(ctx, err)
	}
	var found []string
	for _, cluster := range clusters {
		if isOurs(cluster.Label) {
			found = append(found, "cluster "+cluster.Label)
		}
	}
	for _, machine := range machines {
		if isOurs(machine.Label) {
			found = append(found, "machine "+machine.Label)
		}
	}
	return found, nil
}

var _ cloud.Inventory = (*Client)(nil)
