package awscloud

import (
	"context"
	"fmt"
	"slices"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	"github.com/aws/aws-sdk-go-v2/service/ec2/types"
	"github.com/aws/aws-sdk-go-v2/service/eks"

	"mara/projects/naming"
	"mara/providers/cloud"
)

// clusterLimit is that of the names of clusters in the programs.
const clusterLimit = 100

// lingering are kinds that EC2 goes on to list for an hour after they are
// deleted. While one of them exists, so does its network.
var lingering = []types.ResourceType{types.ResourceTypeInstance, types.ResourceTypeNatgateway}

// Remains implements cloud.Inventory: what EC2 has with the tags of an environment
// or of its cluster, and the cluster itself.
func (c *Client) Remains(ctx context.Context, stack string) ([]string, error) {
	cluster := naming.Environment(stack, "", clusterLimit)
	var found []string
	for _, filters := range [][]types.Filter{
		{filter("key", "mara.dev/stack"), filter("value", stack)},
		{filter("key", "kubernetes.io/cluster/"+cluster), filter("value", "owned")},
	} {
		tagged, err := c.tagged(ctx, filters)
		if err != nil {
			return nil, explain(err)
		}
		found = append(found, tagged...)
	}
	clusters, err := eks.NewFromConfig(c.config).ListClusters(ctx, nil)
	if err != nil {
		return nil, explain(err)
	}
	if slices.Contains(clusters.Clusters, cluster) {
		found = append(found, "cluster "+cluster)
	}
	slices.Sort(found)
	return slices.Compact(found), nil
}

// tagged lists what EC2 has with some tags.
func (c *Client) tagged(ctx context.Context, filters []types.Filter) ([]string, error) {
	var found []string
	pages := ec2.NewDescribeTagsPaginator(ec2.NewFromConfig(c.config), &ec2.DescribeTagsInput{Filters: filters})
	for pages.HasMorePages() {
		page, err := pages.NextPage(ctx)
		if err != nil {
			return nil, err
		}
		for _, tag := range page.Tags {
			if !slices.Contains(lingering, tag.ResourceType) {
				found = append(found, fmt.Sprintf("%s %s", tag.ResourceType, aws.ToString(tag.ResourceId)))
			}
		}
	}
	return found, nil
}

var _ cloud.Inventory = (*Client)(nil)
