package eks

import (
	"github.com/pulumi/pulumi-aws/sdk/v7/go/aws/eks"
	"github.com/pulumi/pulumi/sdk/v3/go/pulumi"

	"mara/projects/infrastructure/aws/internal/environment"
)

// storagePolicy lets the EBS driver manage volumes.
const storagePolicy = "AmazonEBSCSIDriverPolicy"

// storageClass makes the EBS driver's add-on declare a default StorageClass,
// which is gp3. Since Kubernetes 1.30, EKS has no default of its own, and
// claims that name no class stay pending.
const storageClass = `{"defaultStorageClass":{"enabled":true}}`

// addon is a piece of software that EKS installs in the cluster.
type addon struct {
	name           string
	configuration  string // JSON; "" for the defaults
	serviceAccount string // with role: the account that works under it
	role           role
}

// basicAddons returns the add-ons that nodes need in order to become ready, and the agent
// through which later add-ons get their permissions.
func basicAddons() []addon {
	return []addon{{name: "vpc-cni"}, {name: "kube-proxy"}, {name: "eks-pod-identity-agent"}}
}

// storageAddon returns the EBS driver with its role.
func (b *builder) storageAddon() (addon, error) {
	granted, err := b.makeRole("eks-storage", trust{service: "pods.eks.amazonaws.com", tagSessions: true}, storagePolicy)
	return addon{
		name: "aws-ebs-csi-driver", configuration: storageClass,
		serviceAccount: "ebs-csi-controller-sa", role: granted,
	}, err
}

// makeAddons declares add-ons, each after its role's permissions and the other
// things that it needs.
func (b *builder) makeAddons(
	cluster *eks.Cluster, addons []addon, needs ...pulumi.Resource,
) ([]pulumi.Resource, error) {
	var made []pulumi.Resource
	for _, wanted := range addons {
		needs := append(append([]pulumi.Resource{}, needs...), wanted.role.permissions...)
		resource, err := eks.NewAddon(b.Context, wanted.name, b.addonArgs(cluster, wanted), pulumi.DependsOn(needs))
		if err != nil {
			return nil, err
		}
		made = append(made, resource)
	}
	return made, nil
}

func (b *builder) addonArgs(cluster *eks.Cluster, wanted addon) *eks.AddonArgs {
	args := &eks.AddonArgs{
		ClusterName:              cluster.Name,
		AddonName:                pulumi.String(wanted.name),
		ResolveConflictsOnCreate: pulumi.String("OVERWRITE"),
		ResolveConflictsOnUpdate: pulumi.String("PRESERVE"),
		Tags:                     environment.Tags(b.Context, wanted.name),
	}
	if version, _ := b.cfg.Map("eks:addon_versions")[wanted.name].(string); version != "" {
		args.AddonVersion = pulumi.String(version)
	} else {
		// EKS never updates an add-on by itself, not even when the control plane goes up.
		args.AddonVersion = eks.GetAddonVersionOutput(b.Context, eks.GetAddonVersionOutputArgs{
			AddonName: pulumi.String(wanted.name), KubernetesVersion: cluster.Version,
		}).Version()
	}
	if wanted.configuration != "" {
		args.ConfigurationValues = pulumi.String(wanted.configuration)
	}
	if wanted.serviceAccount != "" {
		args.PodIdentityAssociations = eks.AddonPodIdentityAssociationArray{eks.AddonPodIdentityAssociationArgs{
			RoleArn:        wanted.role.arn,
			ServiceAccount: pulumi.String(wanted.serviceAccount),
		}}
	}
	return args
}
