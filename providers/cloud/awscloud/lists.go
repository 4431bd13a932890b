package awscloud

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	"github.com/aws/aws-sdk-go-v2/service/ec2/types"
	"github.com/aws/aws-sdk-go-v2/service/eks"
	ekstypes "github.com/aws/aws-sdk-go-v2/service/eks/types"

	"mara/config/lists"
	"mara/projects/model"
	"mara/projects/model/cloud"
)

// Offers implements cloud.Catalogue.
func (c *Client) Offers(ctx context.Context, list model.List, places []string) ([]string, error) {
	switch list {
	case model.NodeTypes:
		names, err := c.offerings(ctx, places)
		if err != nil {
			return nil, explain(err)
		}
		return names, nil
	case model.Regions: // the configured one may not exist
		home := Client{c.config.Copy()}
		home.config.Region = homeOf(c.config.Region)
		c = &home
	}
	choices, err := c.Choices(ctx, list)
	return cloud.Names(choices), err
}

// homeOf returns a region that exists and takes the same credentials.
func homeOf(region string) string {
	switch {
	case strings.HasPrefix(region, "us-gov-"):
		return "us-gov-west-1"
	case strings.HasPrefix(region, "cn-"):
		return "cn-north-1"
	}
	return anyRegion
}

// offerings lists the instance types that all of some zones have, or else the region of the client.
func (c *Client) offerings(ctx context.Context, places []string) (names []string, err error) {
	input := &ec2.DescribeInstanceTypeOfferingsInput{LocationType: types.LocationTypeRegion}
	zones := slices.DeleteFunc(slices.Clone(places), func(place string) bool { return place == c.config.Region })
	if len(zones) > 0 {
		input.LocationType, input.Filters = types.LocationTypeAvailabilityZone, []types.Filter{filter("location", zones...)}
	}
	found, there := map[string]int{}, map[string]bool{} // types in so many zones, and the zones that have any
	pages := ec2.NewDescribeInstanceTypeOfferingsPaginator(ec2.NewFromConfig(c.config), input)
	for pages.HasMorePages() {
		page, err := pages.NextPage(ctx)
		if err != nil {
			return nil, err
		}
		for _, offering := range page.InstanceTypeOfferings {
			found[string(offering.InstanceType)]++
			there[aws.ToString(offering.Location)] = true
		}
	}
	for name, count := range found {
		if count == len(there) {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names, nil
}

// regions lists the regions that are enabled for the account.
func (c *Client) regions(ctx context.Context) ([]cloud.Choice, error) {
	answer, err := ec2.NewFromConfig(c.config).DescribeRegions(ctx, nil)
	if err != nil {
		return nil, err
	}
	return cloud.ByValue(lists.Map(answer.Regions, func(region types.Region) cloud.Choice {
		return cloud.Choice{Value: aws.ToString(region.RegionName)}
	})), nil
}

// zones lists the availability zones of the region, without local zones.
func (c *Client) zones(ctx context.Context) ([]cloud.Choice, error) {
	answer, err := ec2.NewFromConfig(c.config).DescribeAvailabilityZones(ctx, &ec2.DescribeAvailabilityZonesInput{
		Filters: []types.Filter{filter("zone-type", "availability-zone"), filter("state", "available")},
	})
	if err != nil {
		return nil, err
	}
	return cloud.ByValue(lists.Map(answer.AvailabilityZones, func(zone types.AvailabilityZone) cloud.Choice {
		return cloud.Choice{Value: aws.ToString(zone.ZoneName)}
	})), nil
}

// versions lists the Kubernetes versions of EKS, the newest first.
func (c *Client) versions(ctx context.Context) ([]cloud.Choice, error) {
	var choices []cloud.Choice
	pages := eks.NewDescribeClusterVersionsPaginator(eks.NewFromConfig(c.config), &eks.DescribeClusterVersionsInput{})
	for pages.HasMorePages() {
		page, err := pages.NextPage(ctx)
		if err != nil {
			return nil, err
		}
		for _, version := range page.ClusterVersions {
			choices = append(choices, cloud.Choice{Value: aws.ToString(version.ClusterVersion), Note: supportOf(version)})
		}
	}
	return cloud.NewestFirst(choices), nil
}

func supportOf(version ekstypes.ClusterVersionInformation) string {
	switch {
	case version.VersionStatus == ekstypes.VersionStatusExtendedSupport:
		return "extended support, for a fee"
	case version.DefaultVersion:
		return "EKS's default"
	}
	return ""
}

// nodeTypes lists types that fit the nodes of a cluster: general ones, of the
// current generations, neither tiny nor huge. There are hundreds of others.
func (c *Client) nodeTypes(ctx context.Context) ([]cloud.Choice, error) {
	var found []types.InstanceTypeInfo
	pages := ec2.NewDescribeInstanceTypesPaginator(ec2.NewFromConfig(c.config), &ec2.DescribeInstanceTypesInput{
		Filters: []types.Filter{
			filter("current-generation", "true"),
			filter("processor-info.supported-architecture", "x86_64"),
			filter("instance-type", "t3.*large", "t3a.*large", "m5.*large", "m6i.*large", "m6a.*large", "m7i.*large",
				"m7a.*large", "c6i.*large", "c7i.*large", "r6i.*large", "r7i.*large"),
			filter("vcpu-info.default-vcpus", "2", "4", "8"),
		},
	})
	for pages.HasMorePages() {
		page, err := pages.NextPage(ctx)
		if err != nil {
			return nil, err
		}
		found = append(found, page.InstanceTypes...)
	}
	slices.SortFunc(found, func(a, b types.InstanceTypeInfo) int {
		return cmp.Or(cmp.Compare(cpus(a), cpus(b)), cmp.Compare(memory(a), memory(b)),
			cmp.Compare(a.InstanceType, b.InstanceType))
	})
	return lists.Map(found, func(t types.InstanceTypeInfo) cloud.Choice {
		return cloud.Choice{Value: string(t.InstanceType), Note: size(t)}
	}), nil
}

// size describes the processors and memory of a type, as far as AWS reports them.
func size(t types.InstanceTypeInfo) string {
	var parts []string
	if n := cpus(t); n > 0 {
		parts = append(parts, fmt.Sprintf("%d vCPU", n))
	}
	if n := memory(t); n > 0 {
		parts = append(parts, fmt.Sprintf("%d GiB", n/1024))
	}
	return strings.Join(parts, ", ")
}

func cpus(t types.InstanceTypeInfo) int32 {
	if t.VCpuInfo == nil {
		return 0
	}
	return aws.ToInt32(t.VCpuInfo.DefaultVCpus)
}

// memory returns the memory in MiB.
func memory(t types.InstanceTypeInfo) int64 {
	if t.MemoryInfo == nil {
		return 0
	}
	return aws.ToInt64(t.MemoryInfo.SizeInMiB)
}

func filter(name string, values ...string) types.Filter {
	return types.Filter{Name: aws.String(name), Values: values}
}
