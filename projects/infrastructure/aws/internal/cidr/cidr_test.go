package cidr_test

import (
	"net/netip"
	"testing"

	"github.com/google/go-cmp/cmp"

	"mara/projects"
	"mara/projects/infrastructure/aws/internal/cidr"
)

func TestLayout(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name    string
		network string
		zones   int
		want    []string // public and private, zone by zone
	}{
		{
			name: "one zone of the default network", network: "10.0.0.0/16", zones: 1,
			want: []string{"10.0.0.0/22", "10.0.32.0/19"},
		},
		{
			name: "three zones", network: "10.0.0.0/16", zones: 3,
			want: []string{
				"10.0.0.0/22", "10.0.32.0/19", "10.0.4.0/22", "10.0.64.0/19", "10.0.8.0/22", "10.0.96.0/19",
			},
		},
		{
			name: "six zones", network: "10.0.0.0/16", zones: 6,
			want: []string{
				"10.0.0.0/22", "10.0.32.0/19", "10.0.4.0/22", "10.0.64.0/19", "10.0.8.0/22", "10.0.96.0/19",
				"10.0.12.0/22", "10.0.128.0/19", "10.0.16.0/22", "10.0.160.0/19", "10.0.20.0/22", "10.0.192.0/19",
			},
		},
		{
			name: "the smallest network", network: "192.168.4.0/22", zones: 2,
			want: []string{"192.168.4.0/28", "192.168.4.128/25", "192.168.4.16/28", "192.168.5.0/25"},
		},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			zones := cidr.Layout(netip.MustParsePrefix(test.network), test.zones)
			var got []string
			for _, zone := range zones {
				got = append(got, zone.Public.String(), zone.Private.String())
			}
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("subnets (-want +got):\n%s", diff)
			}
		})
	}
}

// TestLayoutInvariants checks every network size and number of zones that the
// layout accepts: inside the network, disjoint, and unmoved by another zone.
func TestLayoutInvariants(t *testing.T) {
	t.Parallel()
	for bits := 16; bits <= 22; bits++ {
		network := netip.PrefixFrom(netip.MustParseAddr("10.64.0.0"), bits)
		var before []cidr.Subnets
		for n := 1; n <= projects.MaxZones; n++ {
			zones := cidr.Layout(network, n)
			if diff := cmp.Diff(before, zones[:n-1], cmp.Comparer(samePrefix)); n > 1 && diff != "" {
				t.Errorf("%s: zone %d moved a subnet (-want +got):\n%s", network, n, diff)
			}
			checkDisjoint(t, network, zones)
			before = zones
		}
	}
}

func samePrefix(a, b netip.Prefix) bool { return a == b }

func checkDisjoint(t *testing.T, network netip.Prefix, zones []cidr.Subnets) {
	t.Helper()
	var all []netip.Prefix
	for _, zone := range zones {
		all = append(all, zone.Public, zone.Private)
	}
	for i, subnet := range all {
		if subnet.Bits() > 28 || !network.Contains(subnet.Addr()) || subnet != subnet.Masked() {
			t.Errorf("%s is not a subnet of %s that AWS takes", subnet, network)
		}
		for _, other := range all[:i] {
			if subnet.Overlaps(other) {
				t.Errorf("%s overlaps %s", subnet, other)
			}
		}
	}
}
