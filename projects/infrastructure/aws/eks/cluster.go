package eks

import (
	"github.com/pulumi/pulumi-aws/sdk/v7/go/aws/cloudwatch"
	"github.com/pulumi/pulumi-aws/sdk/v7/go/aws/eks"
	"github.com/pulumi/pulumi/sdk/v3/go/pulumi"

	"mara/projects/infrastructure/aws/internal/environment"
)

// The keys that are read twice.
const (
	publicAccess = "eks:endpoint_public_access"
	logTypes     = "eks:log_types"
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
		Version: pulumi.String(b.cfg.String("eks:k8s_version")),
		AccessConfig: eks.ClusterAccessConfigArgs{
			AuthenticationMode:                      pulumi.String("API"),
			BootstrapClusterCreatorAdminPermissions: pulumi.Bool(true),
		},
		// All add-ons are managed ones, declared here.
		BootstrapSelfManagedAddons: pulumi.Bool(false),
		EnabledClusterLogTypes:     pulumi.ToStringArray(b.cfg.List(logTypes)),
		KubernetesNetworkConfig: eks.ClusterKubernetesNetworkConfigArgs{
			ServiceIpv4Cidr: pulumi.String(b.cfg.String("eks:service_cidr")),
		},
		UpgradePolicy: eks.ClusterUpgradePolicyArgs{SupportType: pulumi.String(b.cfg.String("eks:support_type"))},
		VpcConfig: eks.ClusterVpcConfigArgs{
			SubnetIds:             subnets,
			EndpointPublicAccess:  pulumi.Bool(b.cfg.Bool(publicAccess)),
			EndpointPrivateAccess: pulumi.Bool(b.cfg.Bool("eks:endpoint_private_access")),
			PublicAccessCidrs:     b.publicRanges(),
		},
		Tags: environment.Tags(b.Context, b.name),
	}
}

// publicRanges returns the addresses that may reach the public endpoint, if there is one.
func (b *builder) publicRanges() pulumi.StringArrayInput {
	ranges := b.cfg.List("eks:public_access_cidrs")
	switch {
	case !b.cfg.Bool(publicAccess):
		return nil
	case len(ranges) == 0:
		return pulumi.ToStringArray([]string{"0.0.0.0/0"})
	}
	return pulumi.ToStringArray(ranges)
}

// makeLogGroup declares where the control plane's logs go. EKS would make the
// group itself, but without a limit in time, and it would stay behind.
func (b *builder) makeLogGroup() ([]pulumi.Resource, error) {
	if len(b.cfg.List(logTypes)) == 0 {
		return nil, nil
	}
	name := "/aws/eks/" + b.name + "/cluster"
	group, err := cloudwatch.NewLogGroup(b.Context, "logs", &cloudwatch.LogGroupArgs{
		Name:            pulumi.String(name),
		RetentionInDays: pulumi.Int(b.cfg.Int("eks:log_retention_days")),
		Tags:            environment.Tags(b.Context, name),
	})
	return []pulumi.Resource{group}, err
}
