// Package cidr computes the address ranges of a network. It is pure.
//
// The layout depends on the network's range alone, never on how many zones are
// in use, so that adding a zone later moves no subnet that exists: the range is
// cut into eight equal blocks. The first block is cut into eight again and
// holds the public subnets, which only carry load balancers and NAT gateways;
// the six blocks after it are the private subnets, which carry nodes and pods;
// the last block stays free.
//
//	10.0.0.0/16   public   10.0.0.0/22   10.0.4.0/22   10.0.8.0/22  ...
//	              private  10.0.32.0/19  10.0.64.0/19  10.0.96.0/19 ...
package cidr

import (
	"encoding/binary"
	"fmt"
	"net/netip"
)

// MaxZones is how many zones the layout has room for.
const MaxZones = 6

const (
	blockBits = 3 // a range is cut into 1<<blockBits blocks

	// AWS takes networks of /16 and smaller, and subnets of /28 and larger:
	// docs.aws.amazon.com/vpc/latest/userguide/subnet-sizing.html.
	largestNetwork = 16
	smallestSubnet = 28

	// EKS takes service ranges between /12 and /24 inside the private ranges of
	// RFC 1918: docs.aws.amazon.com/eks/latest/APIReference/API_KubernetesNetworkConfigRequest.html.
	largestService  = 12
	smallestService = 24
)

// Subnets are the ranges of one zone.
type Subnets struct {
	Public  netip.Prefix
	Private netip.Prefix
}

// Layout computes the subnets of the first n zones in a network.
func Layout(network netip.Prefix, n int) ([]Subnets, error) {
	if n < 1 || n > MaxZones {
		return nil, fmt.Errorf("%d availability zones; the network is laid out for 1 to %d", n, MaxZones)
	}
	if smallest := smallestSubnet - 2*blockBits; network.Bits() > smallest {
		return nil, fmt.Errorf(
			"the subnets do not fit into %s: the network must be /%d or larger, such as %s/%d",
			network, smallest, network.Addr(), largestNetwork)
	}
	zones := make([]Subnets, n)
	for i := range zones {
		zones[i] = Subnets{Public: block(block(network, 0), i), Private: block(network, i+1)}
	}
	return zones, nil
}

// block returns the i-th of the eight equal parts of a range.
func block(network netip.Prefix, i int) netip.Prefix {
	bits := network.Bits() + blockBits
	start := network.Addr().As4()
	address := binary.BigEndian.Uint32(start[:]) + uint32(i)<<(32-bits)
	binary.BigEndian.PutUint32(start[:], address)
	return netip.PrefixFrom(netip.AddrFrom4(start), bits)
}

// ParseNetwork reads the range of a network.
func ParseNetwork(text string) (netip.Prefix, error) {
	network, err := parse(text)
	if err != nil {
		return netip.Prefix{}, err
	}
	if network.Bits() < largestNetwork {
		return netip.Prefix{}, fmt.Errorf(
			"%s is larger than AWS allows: the prefix must be /%d or longer", network, largestNetwork)
	}
	return network, nil
}

// ParseService reads the range of a cluster's service addresses.
func ParseService(text string) (netip.Prefix, error) {
	service, err := parse(text)
	if err != nil {
		return netip.Prefix{}, err
	}
	if service.Bits() < largestService || service.Bits() > smallestService {
		return netip.Prefix{}, fmt.Errorf(
			"%s is not a range that EKS takes: the prefix must be between /%d and /%d",
			service, largestService, smallestService)
	}
	if !service.Addr().IsPrivate() {
		return netip.Prefix{}, fmt.Errorf("%s is not inside 10.0.0.0/8, 172.16.0.0/12 or 192.168.0.0/16", service)
	}
	return service, nil
}

func parse(text string) (netip.Prefix, error) {
	prefix, err := netip.ParsePrefix(text)
	if err != nil || !prefix.Addr().Is4() {
		return netip.Prefix{}, fmt.Errorf("%q is not an IPv4 range such as 10.0.0.0/16", text)
	}
	if prefix != prefix.Masked() {
		return netip.Prefix{}, fmt.Errorf("%s has host bits set: did you mean %s?", prefix, prefix.Masked())
	}
	return prefix, nil
}
