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
	"net/netip"
)

const blockBits = 3 // a range is cut into 1<<blockBits blocks

// Subnets are the ranges of one zone.
type Subnets struct {
	Public  netip.Prefix
	Private netip.Prefix
}

// Layout computes the subnets of the first n zones in a network: at most projects.MaxZones, in a network that the rules
// of the project aws-vpc take.
func Layout(network netip.Prefix, n int) []Subnets {
	zones := make([]Subnets, n)
	for i := range zones {
		zones[i] = Subnets{Public: block(block(network, 0), i), Private: block(network, i+1)}
	}
	return zones
}

// block returns the i-th of the eight equal parts of a range.
func block(network netip.Prefix, i int) netip.Prefix {
	bits := network.Bits() + blockBits
	start := network.Addr().As4()
	address := binary.BigEndian.Uint32(start[:]) + uint32(i)<<(32-bits)
	binary.BigEndian.PutUint32(start[:], address)
	return netip.PrefixFrom(netip.AddrFrom4(start), bits)
}
