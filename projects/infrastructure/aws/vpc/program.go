// Package vpc is the project "aws-vpc": a network with a public and a private
// subnet in each availability zone. Nodes live in the private subnets and reach
// the internet through NAT gateways; public subnets hold those gateways and the
// load balancers.
package vpc

import (
	"github.com/pulumi/pulumi-aws/sdk/v7/go/aws/ec2"
	"github.com/pulumi/pulumi/sdk/v3/go/pulumi"

	"mara/config/lists"
	"mara/projects"
	"mara/projects/infrastructure/aws/internal/environment"
	"mara/projects/internal/settings"
)

// Program declares the network.
func Program(ctx *pulumi.Context) error {
	wanted, err := readConfiguration(ctx, settings.New(ctx, projects.AWSVPC()))
	if err != nil {
		return err
	}
	n := &network{ctx: ctx, name: environment.ClusterName(ctx.Stack()), configuration: wanted}
	for _, step := range []func() error{n.makeVPC, n.makePublicSubnets, n.makeNATGateways, n.makePrivateSubnets} {
		if err := step(); err != nil {
			return err
		}
	}
	n.export()
	return nil
}

// network collects what has been declared so far.
type network struct {
	configuration
	ctx  *pulumi.Context
	name string // of the environment: prefix of all names

	vpc     *ec2.Vpc
	gateway *ec2.InternetGateway
	public  []*ec2.Subnet // in the order of the zones
	private []*ec2.Subnet // in the order of the zones
	nat     []*ec2.NatGateway
	natIPs  pulumi.StringArray
}

// makeVPC declares the network and its way to the internet.
func (n *network) makeVPC() error {
	var err error
	n.vpc, err = ec2.NewVpc(n.ctx, "vpc", &ec2.VpcArgs{
		CidrBlock:          pulumi.String(n.cidr.String()),
		EnableDnsSupport:   pulumi.Bool(true),
		EnableDnsHostnames: pulumi.Bool(true),
		Tags:               n.tags(n.name),
	})
	if err != nil {
		return err
	}
	n.gateway, err = ec2.NewInternetGateway(n.ctx, "internet-gateway", &ec2.InternetGatewayArgs{
		VpcId: n.vpc.ID(),
		Tags:  n.tags(n.name),
	})
	return err
}

// makePublicSubnets declares the public subnets, which share one route table.
func (n *network) makePublicSubnets() error {
	table, err := n.makeRouteTable("public")
	if err != nil {
		return err
	}
	route, err := ec2.NewRoute(n.ctx, "public", &ec2.RouteArgs{
		RouteTableId:         table.ID(),
		DestinationCidrBlock: pulumi.String(everywhere),
		GatewayId:            n.gateway.ID(),
	})
	if err != nil {
		return err
	}
	for _, zone := range n.zones {
		subnet, err := n.makeSubnet("public-"+zone.name, &ec2.SubnetArgs{
			AvailabilityZone:    pulumi.String(zone.name),
			CidrBlock:           pulumi.String(zone.Public.String()),
			MapPublicIpOnLaunch: pulumi.Bool(true),
		}, "kubernetes.io/role/elb", table, pulumi.DependsOn([]pulumi.Resource{route}))
		if err != nil {
			return err
		}
		n.public = append(n.public, subnet)
	}
	return nil
}

// makePrivateSubnets declares the private subnets. Each has its own route
// table, so that a zone can be given its own NAT gateway later without moving
// a subnet.
func (n *network) makePrivateSubnets() error {
	for i, zone := range n.zones {
		name := "private-" + zone.name
		table, err := n.makeRouteTable(name)
		if err != nil {
			return err
		}
		if err := n.routeThroughNAT(name, table, i); err != nil {
			return err
		}
		subnet, err := n.makeSubnet(name, &ec2.SubnetArgs{
			AvailabilityZone: pulumi.String(zone.name),
			CidrBlock:        pulumi.String(zone.Private.String()),
		}, "kubernetes.io/role/internal-elb", table)
		if err != nil {
			return err
		}
		n.private = append(n.private, subnet)
	}
	return nil
}

// makeSubnet declares a subnet with the tag by which Kubernetes finds it for
// load balancers of its role, and joins it to its route table.
func (n *network) makeSubnet(
	name string, args *ec2.SubnetArgs, role string, table *ec2.RouteTable, opts ...pulumi.ResourceOption,
) (*ec2.Subnet, error) {
	args.VpcId = n.vpc.ID()
	args.Tags = n.tags(n.name+"-"+name, role, "1", "kubernetes.io/cluster/"+n.name, "shared")
	// Two subnets cannot have the same range at the same time.
	subnet, err := ec2.NewSubnet(n.ctx, name, args, append(opts, pulumi.DeleteBeforeReplace(true))...)
	if err != nil {
		return nil, err
	}
	_, err = ec2.NewRouteTableAssociation(n.ctx, name, &ec2.RouteTableAssociationArgs{
		SubnetId:     subnet.ID(),
		RouteTableId: table.ID(),
	}, pulumi.DeleteBeforeReplace(true))
	return subnet, err
}

func (n *network) makeRouteTable(name string) (*ec2.RouteTable, error) {
	return ec2.NewRouteTable(n.ctx, name, &ec2.RouteTableArgs{VpcId: n.vpc.ID(), Tags: n.tags(n.name + "-" + name)})
}

func (n *network) tags(name string, others ...string) pulumi.StringMap {
	return environment.Tags(n.ctx, name, others...)
}

func (n *network) export() {
	n.ctx.Export("vpc_id", n.vpc.ID())
	n.ctx.Export("vpc_cidr", n.vpc.CidrBlock)
	n.ctx.Export("azs", pulumi.ToStringArray(lists.Map(n.zones, func(zone zone) string { return zone.name })))
	n.ctx.Export("public_subnet_ids", ids(n.public))
	n.ctx.Export("private_subnet_ids", ids(n.private))
	n.ctx.Export("nat_public_ips", n.natIPs)
}

func ids(subnets []*ec2.Subnet) pulumi.StringArray {
	return lists.Map(subnets, func(subnet *ec2.Subnet) pulumi.StringInput { return subnet.ID() })
}
