package vpc

import (
	"github.com/pulumi/pulumi-aws/sdk/v7/go/aws/ec2"
	"github.com/pulumi/pulumi/sdk/v3/go/pulumi"
)

// everywhere is the destination of a default route.
const everywhere = "0.0.0.0/0"

// makeNATGateways declares the gateways, in the first zones.
func (n *network) makeNATGateways() error {
	n.natIPs = pulumi.StringArray{}
	for i := range n.gateways() {
		if err := n.makeNATGateway(i); err != nil {
			return err
		}
	}
	return nil
}

// gateways returns the number of NAT gateways.
func (n *network) gateways() int {
	switch n.natMode {
	case natNone:
		return 0
	case natPerZone:
		return len(n.zones)
	}
	return 1
}

// makeNATGateway declares the gateway of one zone and its address.
func (n *network) makeNATGateway(zone int) error {
	name := "nat-" + n.zones[zone].name
	// An address can be released only while the internet gateway still exists.
	afterGateway := pulumi.DependsOn([]pulumi.Resource{n.gateway})
	address, err := ec2.NewEip(n.ctx, name, &ec2.EipArgs{
		Domain: pulumi.String("vpc"),
		Tags:   n.tags(n.name + "-" + name),
	}, afterGateway)
	if err != nil {
		return err
	}
	gateway, err := ec2.NewNatGateway(n.ctx, name, &ec2.NatGatewayArgs{
		SubnetId:     n.public[zone].ID(),
		AllocationId: address.ID(),
		Tags:         n.tags(n.name + "-" + name),
	}, afterGateway)
	if err != nil {
		return err
	}
	n.nat = append(n.nat, gateway)
	n.natIPs = append(n.natIPs, address.PublicIp)
	return nil
}

// routeThroughNAT gives a zone's route table its default route: to the zone's
// own gateway, or to the only one.
func (n *network) routeThroughNAT(name string, table *ec2.RouteTable, zone int) error {
	if len(n.nat) == 0 {
		return nil
	}
	_, err := ec2.NewRoute(n.ctx, name, &ec2.RouteArgs{
		RouteTableId:         table.ID(),
		DestinationCidrBlock: pulumi.String(everywhere),
		NatGatewayId:         n.nat[min(zone, len(n.nat)-1)].ID(),
	})
	return err
}
