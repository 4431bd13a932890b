package linodecloud

import (
	"context"
	"fmt"
	"strconv"

	"github.com/linode/linodego"

	"mara/projects"
	"mara/projects/model/cloud"
	"mara/projects/naming"
)

// The types of resources at Linode that bear the label of an environment.
const (
	clusterType  = "linode:index/lkeCluster:LkeCluster"
	instanceType = "linode:index/instance:Instance"
	firewallType = "linode:index/firewall:Firewall"
)

// Remains implements cloud.Inventory: it lists clusters, machines and firewalls with the
// labels that the programs give.
func (c *Client) Remains(ctx context.Context, stack string) ([]string, error) {
	located, err := c.Locate(ctx, stack)
	words := map[string]string{clusterType: "cluster", instanceType: "machine", firewallType: "firewall"}
	return located.Describe(words), err
}

// Locate implements cloud.Locator.
func (c *Client) Locate(ctx context.Context, stack string) (cloud.Located, error) {
	environment := naming.Environment(stack, "", projects.LinodeLimit)
	harbor := naming.Environment(stack, "harbor", projects.LinodeLimit)
	located := cloud.Located{Types: []string{clusterType, instanceType, firewallType}}
	add := func(kind, label string, id int) {
		if label == environment || label == harbor {
			located.Resources = append(located.Resources, cloud.Resource{Type: kind, ID: strconv.Itoa(id), Name: label})
		}
	}
	filter := linodego.NewListOptions(0, fmt.Sprintf(`{"+or": [{"label": %q}, {"label": %q}]}`, environment, harbor))
	clusters, err := c.api.ListLKEClusters(ctx, filter)
	if err != nil {
		return cloud.Located{}, explain(ctx, err)
	}
	for _, cluster := range clusters {
		add(clusterType, cluster.Label, cluster.ID)
	}
	machines, err := c.api.ListInstances(ctx, filter)
	if err != nil {
		return cloud.Located{}, explain(ctx, err)
	}
	for _, machine := range machines {
		add(instanceType, machine.Label, machine.ID)
	}
	firewalls, err := c.api.ListFirewalls(ctx, filter)
	if err != nil {
		return cloud.Located{}, explain(ctx, err)
	}
	for _, firewall := range firewalls {
		add(firewallType, firewall.Label, firewall.ID)
	}
	return located, nil
}

var (
	_ cloud.Inventory = (*Client)(nil)
	_ cloud.Locator   = (*Client)(nil)
)
