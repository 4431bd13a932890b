package schemas_test

import (
	"testing"

	awssdk "github.com/pulumi/pulumi-aws/sdk/v7/go/aws"
	"github.com/pulumi/pulumi-aws/sdk/v7/go/aws/cloudwatch"
	"github.com/pulumi/pulumi-aws/sdk/v7/go/aws/ec2"
	"github.com/pulumi/pulumi-aws/sdk/v7/go/aws/ecr"
	"github.com/pulumi/pulumi-aws/sdk/v7/go/aws/eks"
	"github.com/pulumi/pulumi-aws/sdk/v7/go/aws/iam"
	"github.com/pulumi/pulumi-aws/sdk/v7/go/aws/kms"
)

func TestAWS(t *testing.T) {
	current(t, "aws", true, provider(awssdk.NewProvider),
		resource("aws:ec2/vpc:Vpc", ec2.NewVpc),
		resource("aws:ec2/subnet:Subnet", ec2.NewSubnet),
		resource("aws:ec2/securityGroup:SecurityGroup", ec2.NewSecurityGroup),
		resource("aws:ec2/securityGroupRule:SecurityGroupRule", ec2.NewSecurityGroupRule),
		resource("aws:ec2/internetGateway:InternetGateway", ec2.NewInternetGateway),
		resource("aws:ec2/eip:Eip", ec2.NewEip),
		resource("aws:ec2/natGateway:NatGateway", ec2.NewNatGateway),
		resource("aws:ec2/routeTable:RouteTable", ec2.NewRouteTable),
		resource("aws:ec2/route:Route", ec2.NewRoute),
		resource("aws:ec2/routeTableAssociation:RouteTableAssociation", ec2.NewRouteTableAssociation),
		resource("aws:eks/cluster:Cluster", eks.NewCluster),
		resource("aws:eks/nodeGroup:NodeGroup", eks.NewNodeGroup),
		resource("aws:eks/addon:Addon", eks.NewAddon),
		resource("aws:eks/accessEntry:AccessEntry", eks.NewAccessEntry),
		resource("aws:eks/accessPolicyAssociation:AccessPolicyAssociation", eks.NewAccessPolicyAssociation),
		resource("aws:eks/podIdentityAssociation:PodIdentityAssociation", eks.NewPodIdentityAssociation),
		function("aws:eks/getAddonVersion:getAddonVersion", eks.GetAddonVersion),
		function("aws:eks/getClusterVersions:getClusterVersions", eks.GetClusterVersions),
		function("aws:eks/getClusterAuth:getClusterAuth", eks.GetClusterAuth),
		resource("aws:iam/role:Role", iam.NewRole),
		resource("aws:iam/instanceProfile:InstanceProfile", iam.NewInstanceProfile),
		resource("aws:iam/openIdConnectProvider:OpenIdConnectProvider", iam.NewOpenIdConnectProvider),
		resource("aws:iam/rolePolicyAttachment:RolePolicyAttachment", iam.NewRolePolicyAttachment),
		resource("aws:iam/rolePolicy:RolePolicy", iam.NewRolePolicy),
		resource("aws:iam/policy:Policy", iam.NewPolicy),
		resource("aws:ecr/repository:Repository", ecr.NewRepository),
		resource("aws:ecr/lifecyclePolicy:LifecyclePolicy", ecr.NewLifecyclePolicy),
		resource("aws:kms/key:Key", kms.NewKey),
		resource("aws:kms/alias:Alias", kms.NewAlias),
		resource("aws:cloudwatch/logGroup:LogGroup", cloudwatch.NewLogGroup),
		function("aws:ecr/getAuthorizationToken:getAuthorizationToken", ecr.GetAuthorizationToken),
		function("aws:index/getAvailabilityZones:getAvailabilityZones", awssdk.GetAvailabilityZones),
		function("aws:index/getCallerIdentity:getCallerIdentity", awssdk.GetCallerIdentity),
		function("aws:index/getRegion:getRegion", awssdk.GetRegion),
		function("aws:index/getPartition:getPartition", awssdk.GetPartition),
	)
}
