package vpc

import (
	"errors"
	"fmt"
	"net/netip"

	"github.com/pulumi/pulumi-aws/sdk/v7/go/aws"
	"github.com/pulumi/pulumi/sdk/v3/go/pulumi"

	"mara/projects/infrastructure/aws/internal/cidr"
	"mara/projects/internal/settings"
)

// The values of vpc:nat.
const (
	natNone    = "none"
	natPerZone = "per-az"
)

// defaultZones is how many of the region's zones are used when the
// configuration names none.
const defaultZones = 3

// configuration is what the network is to be like.
type configuration struct {
	cidr    netip.Prefix
	natMode string
	zones   []zone
}

// zone is an availability zone with its subnets' ranges.
type zone struct {
	name string
	cidr.Subnets
}

// readConfiguration reads what the network is to be like, and asks AWS for the
// region's zones only when the rest is valid.
func readConfiguration(ctx *pulumi.Context, cfg *settings.Settings) (configuration, error) {
	wanted := configuration{natMode: cfg.String("vpc:nat")}
	names := cfg.List("vpc:azs")
	if err := cfg.Err(); err != nil {
		return configuration{}, err
	}
	var err error
	if wanted.cidr, err = netip.ParsePrefix(cfg.String("vpc:cidr")); err != nil {
		return configuration{}, err
	}
	if len(names) == 0 {
		if names, err = regionZones(ctx); err != nil {
			return configuration{}, err
		}
	}
	ranges := cidr.Layout(wanted.cidr, len(names))
	for i, name := range names {
		wanted.zones = append(wanted.zones, zone{name: name, Subnets: ranges[i]})
	}
	return wanted, nil
}

// regionZones asks AWS for the region's first zones, without local zones and
// without zones into which EKS puts no control plane:
// docs.aws.amazon.com/eks/latest/userguide/network-reqs.html.
func regionZones(ctx *pulumi.Context) ([]string, error) {
	available := "available"
	found, err := aws.GetAvailabilityZones(ctx, &aws.GetAvailabilityZonesArgs{
		State:          &available,
		Filters:        []aws.GetAvailabilityZonesFilter{{Name: "opt-in-status", Values: []string{"opt-in-not-required"}}},
		ExcludeZoneIds: []string{"use1-az3", "usw1-az2", "cac1-az3"},
	})
	if err != nil {
		return nil, fmt.Errorf("asking AWS for the region's availability zones: %w", err)
	}
	if len(found.Names) == 0 {
		return nil, errors.New("the region has no availability zone that can be used; name some with vpc:azs")
	}
	return found.Names[:min(len(found.Names), defaultZones)], nil
}
