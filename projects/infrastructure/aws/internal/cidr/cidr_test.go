package cidr_test

import (
	"net/netip"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

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
			zones, err := cidr.Layout(netip.MustParsePrefix(test.network), test.zones)
			if err != nil {
				t.Fatal(err)
			}
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
		for n := 1; n <= cidr.MaxZones; n++ {
			zones, err := cidr.Layout(network, n)
			if err != nil {
				t.Fatalf("%s with %d zones: %v", network, n, err)
			}
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

func TestLayoutRefuses(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name    string
		network string
		zones   int
		want    string
	}{
		{"no zone", "10.0.0.0/16", 0, "1 to 6"},
		{"seven zones", "10.0.0.0/16", 7, "1 to 6"},
		{"too small", "10.0.0.0/23", 1, "do not fit into 10.0.0.0/23: the network must be /22 or larger"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			_, err := cidr.Layout(netip.MustParsePrefix(test.network), test.zones)
			if err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("error %v, want one that says %q", err, test.want)
			}
		})
	}
}

func TestParse(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name  string
		parse func(string) (netip.Prefix, error)
		in    string
		want  string // the error says this; "" means no error
	}{
		{"network", cidr.ParseNetwork, "10.0.0.0/16", ""},
		{"small network", cidr.ParseNetwork, "192.168.0.0/24", ""},
		{"large network", cidr.ParseNetwork, "10.0.0.0/8", "must be /16 or longer"},
		{"host bits", cidr.ParseNetwork, "10.0.1.0/16", "did you mean 10.0.0.0/16?"},
		{"no prefix", cidr.ParseNetwork, "10.0.0.0", "not an IPv4 range"},
		{"IPv6", cidr.ParseNetwork, "fd00::/16", "not an IPv4 range"},
		{"nothing", cidr.ParseNetwork, "", "not an IPv4 range"},
		{"service", cidr.ParseService, "172.20.0.0/16", ""},
		{"large service", cidr.ParseService, "10.0.0.0/8", "between /12 and /24"},
		{"small service", cidr.ParseService, "10.0.0.0/28", "between /12 and /24"},
		{"public service", cidr.ParseService, "8.8.0.0/16", "not inside 10.0.0.0/8"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			got, err := test.parse(test.in)
			if test.want == "" {
				if err != nil || got.String() != test.in {
					t.Errorf("got %v and error %v", got, err)
				}
				return
			}
			if err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("error %v, want one that says %q", err, test.want)
			}
		})
	}
}
