package awscloud

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	"github.com/aws/aws-sdk-go-v2/service/ec2/types"
	"github.com/aws/aws-sdk-go-v2/service/eks"
	ekstypes "github.com/aws/aws-sdk-go-v2/service/eks/types"

	"mara/projects"
	"mara/projects/model/cloud"
	"mara/projects/naming"
)

// lingering lists kinds that EC2 still lists for an hour after their deletion. While one
// of them exists, so does its network.
var lingering = []types.ResourceType{types.ResourceTypeInstance, types.ResourceTypeNatgateway}

// Remains implements cloud.Inventory: it lists the resources of EC2 with the tags of an
// environment or of its cluster, and the cluster itself.
func (c *Client) Remains(ctx context.Context, stack string) ([]string, error) {
	cluster := naming.Environment(stack, "", projects.AWSClusterLimit)
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

// tagged lists the resources of EC2 with some tags.
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

// taggedTypes maps the kinds that EC2 lists by tags to Pulumi's types. NAT gateways are
// missing, because EC2 still lists deleted ones.
var taggedTypes = map[string]string{
	"vpc":              "aws:ec2/vpc:Vpc",
	"subnet":           "aws:ec2/subnet:Subnet",
	"internet-gateway": "aws:ec2/internetGateway:InternetGateway",
	"elastic-ip":       "aws:ec2/eip:Eip",
	"route-table":      "aws:ec2/routeTable:RouteTable",
	"security-group":   "aws:ec2/securityGroup:SecurityGroup",
}

const eksClusterType = "aws:eks/cluster:Cluster"

// Locate implements cloud.Locator: it finds the resources of EC2 with the tag of an
// environment, and the cluster.
func (c *Client) Locate(ctx context.Context, stack string) (cloud.Located, error) {
	tagged, err := c.tagged(ctx, []types.Filter{filter("key", "mara.dev/stack"), filter("value", stack)})
	if err != nil {
		return cloud.Located{}, explain(err)
	}
	located := cloud.Located{Types: append(slices.Sorted(maps.Values(taggedTypes)), eksClusterType)}
	for _, text := range tagged {
		kind, id, _ := strings.Cut(text, " ")
		if name := taggedTypes[kind]; name != "" {
			located.Resources = append(located.Resources, cloud.Resource{Type: name, ID: id, Name: id})
		}
	}
	cluster := naming.Environment(stack, "", projects.AWSClusterLimit)
	_, err = eks.NewFromConfig(c.config).DescribeCluster(ctx, &eks.DescribeClusterInput{Name: &cluster})
	var none *ekstypes.ResourceNotFoundException
	switch {
	case errors.As(err, &none):
		return located, nil
	case err != nil:
		return cloud.Located{}, explain(err)
	}
	located.Resources = append(located.Resources, cloud.Resource{Type: eksClusterType, ID: cluster, Name: cluster})
	return located, nil
}

var (
	_ cloud.Inventory = (*Client)(nil)
	_ cloud.Locator   = (*Client)(nil)
)
