package eks

import (
	"strings"

	"github.com/pulumi/pulumi-aws/sdk/v7/go/aws/eks"
	"github.com/pulumi/pulumi/sdk/v3/go/pulumi"

	"mara/config/lists"
	"mara/projects"
	"mara/projects/infrastructure/aws/internal/environment"
)

// makeAccess lets the configured users and roles administer the cluster. Who
// creates it may already, and EKS adds its nodes itself.
func (b *builder) makeAccess(cluster *eks.Cluster) error {
	for _, arn := range b.cfg.List("eks:admin_principals") {
		// Colons separate the parts of a resource's URN.
		name := "admin-" + strings.ReplaceAll(arn, ":", "-")
		entry, err := eks.NewAccessEntry(b.Context, name, &eks.AccessEntryArgs{
			ClusterName:  cluster.Name,
			PrincipalArn: pulumi.String(arn),
			Tags:         environment.Tags(b.Context, b.name),
		})
		if err != nil {
			return err
		}
		_, err = eks.NewAccessPolicyAssociation(b.Context, name, &eks.AccessPolicyAssociationArgs{
			ClusterName:  cluster.Name,
			PrincipalArn: entry.PrincipalArn,
			PolicyArn:    pulumi.String("arn:" + b.partition + ":eks::aws:cluster-access-policy/AmazonEKSClusterAdminPolicy"),
			AccessScope:  eks.AccessPolicyAssociationAccessScopeArgs{Type: pulumi.String("cluster")},
		}, pulumi.DependsOn([]pulumi.Resource{entry}))
		if err != nil {
			return err
		}
	}
	return b.makeGroups(cluster)
}

// makeGroups puts IAM users and roles into groups of the cluster, whose roles the project access declares.
func (b *builder) makeGroups(cluster *eks.Cluster) error {
	groups, _ := projects.Principals(b.cfg.Map("eks:group_principals")) // a rule of the project has judged them
	for _, arn := range lists.Keys(groups) {
		if _, err := eks.NewAccessEntry(b.Context, "group-"+strings.ReplaceAll(arn, ":", "-"), &eks.AccessEntryArgs{
			ClusterName:      cluster.Name,
			PrincipalArn:     pulumi.String(arn),
			KubernetesGroups: pulumi.ToStringArray(groups[arn]),
			Tags:             environment.Tags(b.Context, b.name),
		}); err != nil {
			return err
		}
	}
	return nil
}
