package eks

import (
	"github.com/pulumi/pulumi-aws/sdk/v7/go/aws/eks"
	"github.com/pulumi/pulumi-aws/sdk/v7/go/aws/iam"
	"github.com/pulumi/pulumi/sdk/v3/go/pulumi"

	"mara/projects"
	"mara/projects/infrastructure/aws/internal/environment"
)

// workload is a service account in the cluster and the AWS permissions it needs.
type workload struct {
	name, namespace string // name of the role and of the account
	statements      []statement
}

// makeWorkloads gives rights to the optional projects that change AWS: a role for each, which their Pods get
// through Pod Identity. The rights are here, and not in the projects, for only this project has the credentials
// of AWS.
func (b *builder) makeWorkloads(cluster *eks.Cluster) error {
	var all []workload
	if b.autoscaled() {
		all = append(all, b.autoscaler())
	}
	proves := b.cfg.String("certmgr:acme_dns") == projects.Route53
	if zones := b.cfg.List("eks:dns_zones"); len(zones) > 0 {
		all = append(all, b.records(zones))
		if proves {
			all = append(all, b.proofs(zones))
		}
	}
	for _, w := range all {
		if err := b.makeWorkload(cluster, w); err != nil {
			return err
		}
	}
	return nil
}

// makeWorkload declares the role of a workload.
func (b *builder) makeWorkload(cluster *eks.Cluster, w workload) error {
	granted, err := b.makeRole("eks-"+w.name, trust{service: "pods.eks.amazonaws.com", tagSessions: true})
	if err != nil {
		return err
	}
	policy, err := document(w.statements...)
	if err != nil {
		return err
	}
	permission, err := iam.NewRolePolicy(b.Context, w.name, &iam.RolePolicyArgs{
		Name: pulumi.String(w.name), Role: granted.name, Policy: pulumi.String(policy),
	})
	if err != nil {
		return err
	}
	_, err = eks.NewPodIdentityAssociation(b.Context, w.name, &eks.PodIdentityAssociationArgs{
		ClusterName:    cluster.Name,
		Namespace:      pulumi.String(w.namespace),
		ServiceAccount: pulumi.String(w.name),
		RoleArn:        granted.arn,
		Tags:           environment.Tags(b.Context, b.name+"-"+w.name),
	}, pulumi.DependsOn([]pulumi.Resource{permission}))
	return err
}

// autoscaler returns the rights of the cluster autoscaler: it may read all groups, and change those of this
// cluster.
// https://github.com/kubernetes/autoscaler/tree/cluster-autoscaler-1.36.1/cluster-autoscaler/cloudprovider/aws
func (b *builder) autoscaler() workload {
	return workload{
		name: "cluster-autoscaler", namespace: projects.ClusterAutoscaler().Namespace,
		statements: []statement{
			{
				Effect: "Allow", Resource: "*",
				Action: []string{
					"autoscaling:DescribeAutoScalingGroups", "autoscaling:DescribeAutoScalingInstances",
					"autoscaling:DescribeLaunchConfigurations", "autoscaling:DescribeScalingActivities",
					"ec2:DescribeImages", "ec2:DescribeInstanceTypes", "ec2:DescribeLaunchTemplateVersions",
					"ec2:GetInstanceTypesFromInstanceRequirements", "eks:DescribeNodegroup",
				},
			},
			{
				Effect: "Allow", Resource: "*",
				Action: []string{"autoscaling:SetDesiredCapacity", "autoscaling:TerminateInstanceInAutoScalingGroup"},
				Condition: map[string]map[string]string{
					"StringEquals": {"aws:ResourceTag/k8s.io/cluster-autoscaler/" + b.name: "owned"},
				},
			},
		},
	}
}

// records returns the rights of external-dns: it may change the records of some zones.
// https://github.com/kubernetes-sigs/external-dns/blob/v0.21.0/docs/tutorials/aws.md
func (b *builder) records(zones []string) workload {
	statements := []statement{{
		Effect: "Allow", Resource: "*",
		Action: []string{"route53:ListHostedZones", "route53:ListResourceRecordSets", "route53:ListTagsForResources"},
	}}
	for _, zone := range zones {
		statements = append(statements, statement{
			Effect: "Allow", Resource: b.zoneARN(zone),
			Action: []string{"route53:ChangeResourceRecordSets"},
		})
	}
	return workload{name: "external-dns", namespace: projects.ExternalDNS().Namespace, statements: statements}
}

// zoneARN returns the ARN of a zone of Route 53.
func (b *builder) zoneARN(id string) string {
	return "arn:" + b.partition + ":route53:::hostedzone/" + id
}

// proofs returns the rights of cert-manager: it may change the TXT records of some zones.
// https://cert-manager.io/docs/configuration/acme/dns01/route53/
func (b *builder) proofs(zones []string) workload {
	statements := []statement{
		{Effect: "Allow", Resource: "arn:" + b.partition + ":route53:::change/*", Action: []string{"route53:GetChange"}},
		{Effect: "Allow", Resource: "*", Action: []string{"route53:ListHostedZonesByName"}},
	}
	for _, zone := range zones {
		arn := b.zoneARN(zone)
		statements = append(statements,
			statement{Effect: "Allow", Resource: arn, Action: []string{"route53:ListResourceRecordSets"}},
			statement{
				Effect: "Allow", Resource: arn, Action: []string{"route53:ChangeResourceRecordSets"},
				Condition: map[string]map[string]string{
					"ForAllValues:StringEquals": {"route53:ChangeResourceRecordSetsRecordTypes": "TXT"},
				},
			})
	}
	return workload{name: "cert-manager", namespace: projects.CertManager().Namespace, statements: statements}
}
