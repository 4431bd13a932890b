package vpc

import (
	"errors"
	"fmt"
	"net/netip"
	"slices"

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
	wanted := configuration{cidr: readRange(cfg), natMode: cfg.String("vpc:nat")}
	names := readZones(cfg)
	if err := cfg.Err(); err != nil {
		return configuration{}, err
	}
	if names == nil {
		var err error
		if names, err = regionZones(ctx); err != nil {
			return configuration{}, err
		}
	}
	ranges, err := cidr.Layout(wanted.cidr, len(names))
	if err != nil {
		cfg.Reject("vpc:cidr", "cannot be used: %w", err)
		return configuration{}, cfg.Err()
	}
	for i, name := range names {
		wanted.zones = append(wanted.zones, zone{name: name, Subnets: ranges[i]})
	}
	return wanted, nil
}

// readRange reads the network's range and refuses one that overlaps the
// cluster's service addresses: pods could then not tell the two apart.
func readRange(cfg *settings.Settings) netip.Prefix {
	network, err := cidr.ParseNetwork(cfg.String("vpc:cidr"))
	if err != nil {
		cfg.Reject("vpc:cidr", "cannot be used: %w", err)
	}
	service, serviceErr := cidr.ParseService(cfg.String("eks:service_cidr"))
	if serviceErr != nil {
		cfg.Reject("eks:service_cidr", "cannot be used: %w", serviceErr)
	}
	if err == nil && serviceErr == nil && network.Overlaps(service) {
		cfg.Reject("vpc:cidr", "is %s, which overlaps the cluster's service range %s (eks:service_cidr)", network, service)
	}
	return network
}

// readZones reads the configured zones; nil when there are none.
func readZones(cfg *settings.Settings) []string {
	names := cfg.List("vpc:azs")
	for i, name := range names {
		if name == "" || slices.Contains(names[:i], name) {
			cfg.Reject("vpc:azs", "has %q twice or empty", name)
		}
	}
	if len(names) > cidr.MaxZones {
		cfg.Reject("vpc:azs", "has %d zones; the network is laid out for 1 to %d", len(names), cidr.MaxZones)
	}
	if len(names) == 0 {
		return nil
	}
	return names
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
