package vpc_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/pulumi/pulumi/sdk/v3/go/common/resource"
	"github.com/pulumi/pulumi/sdk/v3/go/pulumi"

	"mara/projects"
	"mara/projects/infrastructure/aws/vpc"
	"mara/projects/internal/programtest"
)

const (
	vpcType         = "aws:ec2/vpc:Vpc"
	gatewayType     = "aws:ec2/internetGateway:InternetGateway"
	subnetType      = "aws:ec2/subnet:Subnet"
	natType         = "aws:ec2/natGateway:NatGateway"
	addressType     = "aws:ec2/eip:Eip"
	tableType       = "aws:ec2/routeTable:RouteTable"
	routeType       = "aws:ec2/route:Route"
	associationType = "aws:ec2/routeTableAssociation:RouteTableAssociation"
)

// region answers as a region with the given zones.
func region(zones ...string) func(pulumi.MockCallArgs) (resource.PropertyMap, error) {
	return func(args pulumi.MockCallArgs) (resource.PropertyMap, error) {
		if args.Token != "aws:index/getAvailabilityZones:getAvailabilityZones" {
			return nil, fmt.Errorf("unexpected call of %s", args.Token)
		}
		names := make([]any, len(zones))
		for i, zone := range zones {
			names[i] = zone
		}
		return resource.NewPropertyMapFromMap(map[string]any{"names": names}), nil
	}
}

func run(t *testing.T, config map[string]string, zones ...string) programtest.Result {
	t.Helper()
	return programtest.Run(t, programtest.Case{
		Project: projects.AWSVPC(),
		Program: vpc.Program,
		Config:  config,
		Call:    region(zones...),
		Outputs: map[string]resource.PropertyMap{
			addressType: {"publicIp": resource.NewProperty("192.0.2.1")},
		},
	})
}

func TestZones(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name   string
		config map[string]string
		region []string
		want   map[string]string // subnet and its range
	}{
		{
			name:   "the region's first three",
			region: []string{"us-east-1a", "us-east-1b", "us-east-1c", "us-east-1d"},
			want: map[string]string{
				"public-us-east-1a": "10.0.0.0/22", "private-us-east-1a": "10.0.32.0/19",
				"public-us-east-1b": "10.0.4.0/22", "private-us-east-1b": "10.0.64.0/19",
				"public-us-east-1c": "10.0.8.0/22", "private-us-east-1c": "10.0.96.0/19",
			},
		},
		{
			name:   "a region with two",
			region: []string{"us-west-1a", "us-west-1c"},
			want: map[string]string{
				"public-us-west-1a": "10.0.0.0/22", "private-us-west-1a": "10.0.32.0/19",
				"public-us-west-1c": "10.0.4.0/22", "private-us-west-1c": "10.0.64.0/19",
			},
		},
		{
			name:   "as configured",
			config: map[string]string{"vpc:azs": `["eu-west-1b"]`, "vpc:cidr": "192.168.0.0/20"},
			want: map[string]string{
				"public-eu-west-1b": "192.168.0.0/26", "private-eu-west-1b": "192.168.2.0/23",
			},
		},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			result := run(t, test.config, test.region...)
			if result.Err != nil {
				t.Fatal(result.Err)
			}
			got := map[string]string{}
			for _, subnet := range result.All(subnetType) {
				got[subnet.Name] = subnet.Value("cidrBlock").(string)
				if zone := subnet.Value("availabilityZone").(string); !strings.HasSuffix(subnet.Name, "-"+zone) {
					t.Errorf("subnet %s is in zone %s", subnet.Name, zone)
				}
			}
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("subnets (-want +got):\n%s", diff)
			}
			result.CheckOutputs(t, projects.AWSVPC())
		})
	}
}

func TestNetwork(t *testing.T) {
	t.Parallel()
	result := run(t, map[string]string{"vpc:azs": `["us-east-1a", "us-east-1b"]`})
	if result.Err != nil {
		t.Fatal(result.Err)
	}
	network := result.One(t, vpcType, "vpc")
	want := map[string]any{
		"cidrBlock": "10.0.0.0/16", "enableDnsHostnames": true, "enableDnsSupport": true,
		"tags": map[string]any{"Name": "mara-dev", "mara.dev/project": "aws-vpc", "mara.dev/stack": "dev"},
	}
	if diff := cmp.Diff(want, network.Inputs.Mappable()); diff != "" {
		t.Errorf("network (-want +got):\n%s", diff)
	}
	if got := len(result.All(gatewayType)); got != 1 {
		t.Errorf("%d internet gateways, want 1", got)
	}
	checkSubnet(t, result, "public-us-east-1b", "public", "kubernetes.io/role/elb")
	checkSubnet(t, result, "private-us-east-1b", "private-us-east-1b", "kubernetes.io/role/internal-elb")
	if open := result.One(t, subnetType, "public-us-east-1a").Value("mapPublicIpOnLaunch"); open != true {
		t.Error("the public subnet gives no public addresses")
	}
	if open := result.One(t, subnetType, "private-us-east-1a").Value("mapPublicIpOnLaunch"); open != nil {
		t.Error("the private subnet gives public addresses")
	}
	public := result.One(t, routeType, "public")
	if got := public.Value("gatewayId"); got != "internet-gateway-id" {
		t.Errorf("the public subnets' default route leads to %v", got)
	}
}

// checkSubnet checks the tags and the route table of a subnet.
func checkSubnet(t *testing.T, result programtest.Result, name, table, role string) {
	t.Helper()
	want := map[string]any{
		"Name": "mara-dev-" + name, "mara.dev/project": "aws-vpc", "mara.dev/stack": "dev",
		role: "1", "kubernetes.io/cluster/mara-dev": "shared",
	}
	if diff := cmp.Diff(want, result.One(t, subnetType, name).Value("tags")); diff != "" {
		t.Errorf("tags of %s (-want +got):\n%s", name, diff)
	}
	joined := result.One(t, associationType, name)
	if got := joined.Value("routeTableId"); got != table+"-id" {
		t.Errorf("subnet %s uses the route table %v, want %s", name, got, table)
	}
}

func TestNAT(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name string
		mode string
		want map[string]string // route of a private subnet and its gateway
	}{
		{
			name: "one for all",
			mode: "single",
			want: map[string]string{"private-us-east-1a": "nat-us-east-1a-id", "private-us-east-1b": "nat-us-east-1a-id"},
		},
		{
			name: "one for each zone",
			mode: "per-az",
			want: map[string]string{"private-us-east-1a": "nat-us-east-1a-id", "private-us-east-1b": "nat-us-east-1b-id"},
		},
		{name: "none", mode: "none", want: map[string]string{}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			result := run(t, map[string]string{"vpc:nat": test.mode}, "us-east-1a", "us-east-1b")
			if result.Err != nil {
				t.Fatal(result.Err)
			}
			got, used := map[string]string{}, map[string]bool{}
			for _, route := range result.All(routeType) {
				if gateway, ok := route.Value("natGatewayId").(string); ok {
					got[route.Name] = gateway
					used[gateway] = true
				}
			}
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("routes (-want +got):\n%s", diff)
			}
			if tables := len(result.All(tableType)); tables != 3 {
				t.Errorf("%d route tables, want one for the public subnets and one for each private one", tables)
			}
			checkGateways(t, result, len(used))
		})
	}
}

// checkGateways checks number, address and place of the NAT gateways.
func checkGateways(t *testing.T, result programtest.Result, want int) {
	t.Helper()
	gateways := result.All(natType)
	addresses := result.Export(t, "nat_public_ips").Value.([]string)
	if len(gateways) != want || len(addresses) != want || len(result.All(addressType)) != want {
		t.Errorf("%d NAT gateways with %d addresses, want %d", len(gateways), len(addresses), want)
	}
	for _, gateway := range gateways {
		if subnet := gateway.Value("subnetId").(string); !strings.HasPrefix(subnet, "public-") {
			t.Errorf("%s is in the subnet %s", gateway.Name, subnet)
		}
		if !gateway.DependsOn(gatewayType, "internet-gateway") {
			t.Errorf("%s would outlive the internet gateway", gateway.Name)
		}
	}
}

func TestRefusals(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name   string
		config map[string]string
		region []string
		want   string
	}{
		{"no range", map[string]string{"vpc:cidr": "10.0.0.0"}, nil, "not an IPv4 range"},
		{"host bits", map[string]string{"vpc:cidr": "10.0.0.1/16"}, nil, "did you mean 10.0.0.0/16?"},
		{"too small", map[string]string{"vpc:cidr": "10.0.0.0/24"}, []string{"a"}, "is 10.0.0.0/24, into which the subnets do not fit"},
		{
			"an overlap with the service range", map[string]string{"vpc:cidr": "172.20.128.0/18"}, nil,
			"is 172.20.128.0/18, which overlaps eks:service_cidr (172.20.0.0/16, the default)",
		},
		{
			"an overlap with a configured service range",
			map[string]string{"eks:service_cidr": "10.0.128.0/20"}, nil, "is 10.0.128.0/20, which overlaps vpc:cidr (10.0.0.0/16, the default)",
		},
		{"a bad service range", map[string]string{"eks:service_cidr": "8.8.8.0/24"}, nil, `"eks:service_cidr"`},
		{"a zone twice", map[string]string{"vpc:azs": `["us-east-1a", "us-east-1b", "us-east-1a"]`}, nil, `has "us-east-1a" twice`},
		{"seven zones", map[string]string{"vpc:azs": `["us-east-1a", "us-east-1b", "us-east-1c", "us-east-1d", "us-east-1e", "us-east-1f", "us-east-1g"]`}, nil, "1 to 6"},
		{"zones as text", map[string]string{"vpc:azs": "us-east-1a"}, nil, "must be a list"},
		{"an unknown kind of NAT", map[string]string{"vpc:nat": "two"}, nil, "allowed: single, per-az, none"},
		{"a region without zones", nil, nil, "no availability zone"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			result := run(t, test.config, test.region...)
			result.CheckRefused(t, test.want)
			if len(result.Resources) != 0 {
				t.Errorf("declared %v before the configuration was checked", result.Names())
			}
		})
	}
}
