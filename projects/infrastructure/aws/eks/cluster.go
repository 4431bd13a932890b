package eks

import (
	"github.com/pulumi/pulumi-aws/sdk/v7/go/aws/cloudwatch"
	"github.com/pulumi/pulumi-aws/sdk/v7/go/aws/eks"
	"github.com/pulumi/pulumi/sdk/v3/go/pulumi"

	"mara/projects/infrastructure/aws/internal/environment"
)

// makeCluster declares the control plane.
func (b *builder) makeCluster(subnets pulumi.StringArrayInput) (*eks.Cluster, error) {
	granted, err := b.makeRole("eks-cluster", trust{service: "eks.amazonaws.com"}, "AmazonEKSClusterPolicy")
	if err != nil {
		return nil, err
	}
	needs := granted.permissions
	encryption, permission, err := b.makeEncryption(granted)
	if err != nil {
		return nil, err
	}
	logGroup, err := b.makeLogGroup()
	if err != nil {
		return nil, err
	}
	args := b.clusterArgs(granted, subnets)
	args.EncryptionConfig = encryption
	needs = append(append(needs, permission...), logGroup...)
	// The name is fixed, so a cluster that replaces another has to wait for it to go.
	return eks.NewCluster(b.Context, "cluster", args, pulumi.DependsOn(needs), pulumi.DeleteBeforeReplace(true))
}

func (b *builder) clusterArgs(role role, subnets pulumi.StringArrayInput) *eks.ClusterArgs {
	return &eks.ClusterArgs{
		Name:    pulumi.String(b.name),
		RoleArn: role.arn,
		Version: pulumi.String(b.version),
		AccessConfig: eks.ClusterAccessConfigArgs{
			AuthenticationMode:                      pulumi.String("API"),
			BootstrapClusterCreatorAdminPermissions: pulumi.Bool(true),
		},
		// All add-ons are managed ones, declared here.
		BootstrapSelfManagedAddons: pulumi.Bool(false),
		EnabledClusterLogTypes:     pulumi.ToStringArray(b.logs.types),
		KubernetesNetworkConfig:    eks.ClusterKubernetesNetworkConfigArgs{ServiceIpv4Cidr: pulumi.String(b.serviceCIDR)},
		UpgradePolicy:              eks.ClusterUpgradePolicyArgs{SupportType: pulumi.String(b.support)},
		VpcConfig: eks.ClusterVpcConfigArgs{
			SubnetIds:             subnets,
			EndpointPublicAccess:  pulumi.Bool(b.endpoint.public),
			EndpointPrivateAccess: pulumi.Bool(b.endpoint.private),
			PublicAccessCidrs:     b.publicRanges(),
		},
		Tags: environment.Tags(b.Context, b.name),
	}
}

// publicRanges returns the addresses that may reach the public endpoint, if there is one.
func (b *builder) publicRanges() pulumi.StringArrayInput {
	switch {
	case !b.endpoint.public:
		return nil
	case len(b.endpoint.cidrs) == 0:
		return pulumi.ToStringArray([]string{"0.0.0.0/0"})
	}
	return pulumi.ToStringArray(b.endpoint.cidrs)
}

// makeLogGroup declares where the control plane's logs go. EKS would make the
// group itself, but without a limit in time, and it would stay behind.
func (b *builder) makeLogGroup() ([]pulumi.Resource, error) {
	if len(b.logs.types) == 0 {
		return nil, nil
	}
	name := "/aws/eks/" + b.name + "/cluster"
	group, err := cloudwatch.NewLogGroup(b.Context, "logs", &cloudwatch.LogGroupArgs{
		Name:            pulumi.String(name),
		RetentionInDays: pulumi.Int(b.logs.days),
		Tags:            environment.Tags(b.Context, name),
	})
	return []pulumi.Resource{group}, err
}
