package clouds

import (
	"fmt"
	"net/netip"

	"mara/runner/internal/feature/simulate"
)

const (
	vpcFact    = "aws/vpc/"
	subnetFact = "aws/subnet/"
	tableFact  = "aws/routetable/"

	vpcInUse    = "DependencyViolation: the vpc has dependencies and cannot be deleted"
	subnetInUse = "DependencyViolation: the subnet has dependencies and cannot be deleted"
)

var (
	needsVpc    = needs("vpcId", vpcFact, "InvalidVpcID.NotFound: there is no vpc")
	needsSubnet = needs("subnetId", subnetFact, "InvalidSubnetID.NotFound: there is no subnet")
	needsTable  = needs("routeTableId", tableFact, "InvalidRouteTableID.NotFound: there is no route table")
)

// awsNetwork returns the types of a VPC.
func awsNetwork() []simulate.Resource {
	return []simulate.Resource{
		{
			Token:   "aws:ec2/vpc:Vpc",
			Latency: seconds(12, 2, 1), ID: numbered("vpc"),
			ReplaceOn: []string{"cidrBlock", "instanceTenancy", "region"},
			Check:     checkRange("cidrBlock"),
			Links:     links(byID(vpcFact, vpcInUse)),
			Outputs: func(o simulate.Object) map[string]any {
				return map[string]any{
					"defaultNetworkAclId":    "acl-0" + o.Hex("acl", 16),
					"defaultRouteTableId":    "rtb-0" + o.Hex("rtb", 16),
					"mainRouteTableId":       "rtb-0" + o.Hex("rtb", 16),
					"defaultSecurityGroupId": "sg-0" + o.Hex("sg", 16),
					"dhcpOptionsId":          "dopt-0" + o.Hex("dopt", 16),
					"ipv6AssociationId":      "",
					"ipv6CidrBlock":          "",
				}
			},
		},
		{
			Token:   "aws:ec2/subnet:Subnet",
			Latency: seconds(10, 2, 1), ID: numbered("subnet"),
			ReplaceOn: []string{"vpcId", "cidrBlock", "availabilityZone", "availabilityZoneId", "region"},
			Check:     checkRange("cidrBlock"),
			Links:     links(byID(subnetFact, subnetInUse), needsVpc),
			Outputs: func(o simulate.Object) map[string]any {
				zone := o.TextOr("availabilityZone", region(o)+"a")
				return map[string]any{
					"availabilityZoneId":             fmt.Sprintf("%s-az%d", shortRegion(region(o)), int(zone[len(zone)-1]-'a')+1),
					"ipv6CidrBlockAssociationId":     "",
					"privateDnsHostnameTypeOnLaunch": "ip-name",
				}
			},
		},
		{
			Token:   "aws:ec2/securityGroup:SecurityGroup",
			Latency: seconds(3, 2, 1), ID: numbered("sg"), AutoName: "name",
			ReplaceOn: []string{"name", "namePrefix", "description", "vpcId", "region"},
			Links:     links(byID("aws/securitygroup/", ""), needsVpc),
			Defaults:  map[string]any{"description": "Managed by Pulumi"},
		},
		{
			Token:   "aws:ec2/securityGroupRule:SecurityGroupRule",
			Latency: seconds(1, 1, 1),
			ID:      func(o simulate.Object) string { return fmt.Sprint("sgrule-", o.Pick("id", 1000000000, 4000000000)) },
			ReplaceOn: []string{
				"securityGroupId", "type", "fromPort", "toPort", "protocol", "cidrBlocks", "sourceSecurityGroupId",
			},
			Links: links(nil, needs("securityGroupId", "aws/securitygroup/",
				"InvalidGroup.NotFound: there is no security group")),
			Outputs: func(o simulate.Object) map[string]any {
				return map[string]any{"securityGroupRuleId": "sgr-0" + o.Hex("rule", 16)}
			},
		},
		{
			Token:   "aws:ec2/internetGateway:InternetGateway",
			Latency: seconds(2, 2, 10), ID: numbered("igw"), Links: links(nil, needsVpc), ReplaceOn: []string{"region"},
		},
		{
			Token:   "aws:ec2/eip:Eip",
			Latency: seconds(2, 1, 1), ID: numbered("eipalloc"), ReplaceOn: []string{"domain", "region"},
			Links: links(byID("aws/eip/", "")),
			Defaults: map[string]any{
				"domain": "vpc", "publicIpv4Pool": "amazon", "associationId": "", "carrierIp": "",
				"customerOwnedIp": "", "instance": "",
				"networkInterface": "", "privateDns": "", "privateIp": "", "ptrRecord": "", "ipamPoolId": "",
			},
			Outputs: func(o simulate.Object) map[string]any {
				return map[string]any{
					"allocationId": o.ID, "publicIp": o.IPv4("public"), "publicDns": "ec2-" + o.Hex("dns", 8) + ".simulated" + nowhere,
					"networkBorderGroup": region(o),
				}
			},
		},
		{
			Token:   "aws:ec2/natGateway:NatGateway",
			Latency: seconds(100, 2, 60), ID: numbered("nat"),
			ReplaceOn: []string{"subnetId", "allocationId", "connectivityType", "region"},
			Links: links(nil, needsSubnet, once(needs("allocationId", "aws/eip/",
				"InvalidAllocationID.NotFound: there is no address"))),
			Outputs: func(o simulate.Object) map[string]any {
				return map[string]any{
					"associationId": "eipassoc-0" + o.Hex("assoc", 16), "networkInterfaceId": "eni-0" + o.Hex("eni", 16),
					"privateIp": "10.0.0." + fmt.Sprint(o.Pick("private", 4, 250)), "publicIp": o.IPv4("public"),
				}
			},
		},
		{
			Token:   "aws:ec2/routeTable:RouteTable",
			Latency: seconds(2, 2, 1), ID: numbered("rtb"), ReplaceOn: []string{"vpcId", "region"},
			Links: links(byID(tableFact, ""), needsVpc),
		},
		{
			Token:     "aws:ec2/route:Route",
			Latency:   seconds(1, 1, 1),
			ID:        func(o simulate.Object) string { return "r-" + o.Text("routeTableId") + o.Hex("id", 10) },
			ReplaceOn: []string{"routeTableId", "destinationCidrBlock", "destinationIpv6CidrBlock", "region"},
			Check:     checkRange("destinationCidrBlock"),
			Links:     links(nil, needsTable),
			Defaults:  map[string]any{"state": "active", "origin": "CreateRoute", "instanceId": "", "instanceOwnerId": ""},
		},
		{
			Token:   "aws:ec2/routeTableAssociation:RouteTableAssociation",
			Latency: seconds(1, 1, 1), ID: numbered("rtbassoc"), ReplaceOn: []string{"subnetId", "gatewayId", "region"},
			Links: links(nil, needsTable, once(needsSubnet)),
		},
	}
}

// checkRange refuses what is not an address range in canonical form.
func checkRange(path string) check {
	return wellFormed(path, func(text string) bool {
		prefix, err := netip.ParsePrefix(text)
		return err == nil && prefix.Masked() == prefix
	}, "is not a range of addresses")
}
