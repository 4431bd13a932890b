package clouds

import (
	"cmp"
	"fmt"
	"regexp"
	"strings"

	"mara/config/lists"
	"mara/runner/internal/feature/simulate"
)

const (
	eksFact   = "aws/eks/cluster/"
	nodesFact = "aws/eks/nodes/"
)

var (
	needsCluster     = needs("clusterName", eksFact, "ResourceNotFoundException: No cluster found for name:")
	needsClusterOnly = once(needsCluster) // of what vanishes together with the cluster
)

// awsClusters returns the types of EKS. Measured: EKS clusters take 8.5 to 10 minutes,
// node groups almost 2.
func awsClusters() []simulate.Resource {
	return []simulate.Resource{
		{
			Token:   "aws:eks/cluster:Cluster",
			Latency: seconds(540, 120, 150), ID: field("name"), AutoName: "name",
			// https://github.com/hashicorp/terraform-provider-aws/blob/v6.0.0/internal/service/eks/cluster.go
			ReplaceOn: []string{
				"name", "roleArn", "accessConfig.bootstrapClusterCreatorAdminPermissions", "bootstrapSelfManagedAddons",
				"kubernetesNetworkConfig.ipFamily", "kubernetesNetworkConfig.serviceIpv4Cidr", "remoteNetworkConfig", "region",
			},
			Renews: eksRenews,
			// https://github.com/terraform-aws-modules/terraform-aws-eks/issues/2607 (up), and
			// https://github.com/rancher/rancher/issues/28939 (down)
			Refuses: upByOne("version", func(_, from, to string) string {
				return "InvalidParameterException: Unsupported Kubernetes minor version update from " + from + " to " + to
			}),
			Check: every(versionAt("version"),
				wellFormed("name", eksName.MatchString, "is not a name for a cluster"), checkZones),
			Outputs: eksCluster, Links: eksLinks,
			Defaults: map[string]any{"clusterId": "", "platformVersion": "eks.1", "version": "1.36"},
		},
		{
			Token:   "aws:eks/nodeGroup:NodeGroup",
			Latency: seconds(114, 90, 180), ID: fields(":", "clusterName", "nodeGroupName"), AutoName: "nodeGroupName",
			ReplaceOn: []string{
				"clusterName", "nodeGroupName", "nodeRoleArn", "subnetIds", "amiType", "capacityType", "diskSize",
				"instanceTypes", "region",
			},
			Check: every(versionAt("version"), checkScaling), Outputs: eksNodeGroup,
			Defaults: map[string]any{
				"amiType": "AL2023_x86_64_STANDARD", "capacityType": "ON_DEMAND", "diskSize": 20,
				"releaseVersion": "1.36.4-20261023",
				"version":        "1.36",
			},
			Links: links(func(o simulate.Object) []simulate.Fact {
				return []simulate.Fact{{Name: nodesFact + o.Text("clusterName")}}
			}, needsCluster, once(needsRole("nodeRoleArn")), needsSubnets("subnetIds")),
		},
		{
			Token:   "aws:eks/addon:Addon",
			Latency: seconds(30, 30, 15), ID: fields(":", "clusterName", "addonName"),
			ReplaceOn: []string{"clusterName", "addonName", "region"},
			Links:     links(nil, needsClusterOnly, once(needsNodes)), Defaults: map[string]any{"configurationValues": ""},
			Outputs: func(o simulate.Object) map[string]any {
				return map[string]any{"addonVersion": o.TextOr("addonVersion", addonVersionFor(o.Text("addonName"), "1.36"))}
			},
		},
		{
			Token:   "aws:eks/accessEntry:AccessEntry",
			Latency: seconds(2, 2, 1), ID: fields(":", "clusterName", "principalArn"), Links: links(nil, needsClusterOnly),
			ReplaceOn: []string{"clusterName", "principalArn", "type", "region"},
			Outputs: func(o simulate.Object) map[string]any {
				return map[string]any{
					"accessEntryArn": arn(o, o.ID), "userName": o.TextOr("userName", o.Text("principalArn")),
				}
			},
		},
		{
			Token:   "aws:eks/accessPolicyAssociation:AccessPolicyAssociation",
			Latency: seconds(2, 2, 1), ID: fields("#", "clusterName", "principalArn", "policyArn"),
			Links:     links(nil, needsClusterOnly),
			ReplaceOn: []string{"clusterName", "principalArn", "policyArn", "accessScope", "region"},
		},
		{
			Token:   "aws:eks/podIdentityAssociation:PodIdentityAssociation",
			Latency: seconds(2, 2, 1), ID: func(o simulate.Object) string { return "a-" + o.Hex("id", 17) },
			Links:     links(nil, needsClusterOnly, once(needsRole("roleArn"))),
			ReplaceOn: []string{"clusterName", "namespace", "serviceAccount", "region"},
			Outputs: func(o simulate.Object) map[string]any {
				return map[string]any{"associationId": o.ID, "associationArn": arn(o, o.ID), "externalId": ""}
			},
		},
	}
}

// needsNodes holds for the add-ons that run as ordinary pods.
func needsNodes(o simulate.Object) []simulate.Requirement {
	switch o.Text("addonName") {
	case "coredns", "aws-ebs-csi-driver", "metrics-server":
		return []simulate.Requirement{{
			Fact: nodesFact + o.Text("clusterName"),
			Missing: "unexpected state 'DEGRADED', wanted 'ACTIVE': InsufficientNumberOfReplicas: " +
				"the cluster has no nodes for " + o.Text("addonName"),
		}}
	}
	return nil
}

func needsSubnets(path string) func(simulate.Object) []simulate.Requirement {
	return func(o simulate.Object) []simulate.Requirement {
		return lists.Map(o.List(path), func(subnet any) simulate.Requirement {
			id := fmt.Sprint(subnet)
			return simulate.Requirement{
				Fact: subnetFact + id, Missing: "InvalidRequestException: The subnet ID " + quote(id) + " does not exist",
			}
		})
	}
}

// eksRenews returns the encryption of secrets if it is switched off: that cannot be undone, so the
// provider replaces the cluster.
func eksRenews(before, after simulate.Object) []string {
	if before.Map("encryptionConfig") != nil && after.Value("encryptionConfig") == nil {
		return []string{"encryptionConfig"}
	}
	return nil
}

// eksHost makes the digits of a cluster's end point, which follow from its id.
func eksHost(o simulate.Object) string {
	return fmt.Sprintf("%s.gr7.%s.eks", strings.ToUpper(o.Hex("endpoint", 32)), region(o))
}

func eksCluster(o simulate.Object) map[string]any {
	return map[string]any{
		"certificateAuthority": map[string]any{"data": certificate},
		"endpoint":             apiServer(eksHost(o)),
		"identities":           []any{map[string]any{"oidcs": []any{map[string]any{"issuer": oidcIssuer(o)}}}},
		"accessConfig": map[string]any{
			"authenticationMode": o.TextOr("accessConfig.authenticationMode", "CONFIG_MAP"),
		},
		"upgradePolicy": map[string]any{"supportType": o.TextOr("upgradePolicy.supportType", "EXTENDED")},
		"kubernetesNetworkConfig": map[string]any{
			"ipFamily":        o.TextOr("kubernetesNetworkConfig.ipFamily", "ipv4"),
			"serviceIpv4Cidr": o.TextOr("kubernetesNetworkConfig.serviceIpv4Cidr", "172.20.0.0/16"),
		},
		"vpcConfig": map[string]any{
			"clusterSecurityGroupId": "sg-0" + o.Hex("sg", 16), "vpcId": "vpc-0" + o.Hex("vpc", 16),
		},
	}
}

func oidcIssuer(o simulate.Object) string {
	return fmt.Sprintf("https://oidc.eks.%s.simulated%s/id/%s", region(o), nowhere, strings.ToUpper(o.Hex("oidc", 32)))
}

func eksLinks(o simulate.Object) simulate.Links {
	l := links(func(o simulate.Object) []simulate.Fact {
		return []simulate.Fact{
			{Name: eksFact + o.ID, InUse: "ResourceInUseException: Cluster has nodegroups attached"},
			{Name: reachable(apiServer(eksHost(o)))},
		}
	}, once(needsRole("roleArn")), needsSubnets("vpcConfig.subnetIds"))(o)
	if on, _ := o.Value("computeConfig.enabled").(bool); on {
		l.Provides = append(l.Provides, simulate.Fact{Name: nodesFact + o.ID})
	}
	return l
}

func eksNodeGroup(o simulate.Object) map[string]any {
	return map[string]any{
		"resources": []any{map[string]any{
			"autoscalingGroups": []any{map[string]any{"name": "eks-" + o.Text("nodeGroupName") + "-" +
				uuid(o, "group")}},
			"remoteAccessSecurityGroupId": "",
		}},
		"updateConfig":        map[string]any{"maxUnavailable": o.Number("updateConfig.maxUnavailable", 1)},
		"nodeGroupNamePrefix": "",
	}
}

var minorVersion = regexp.MustCompile(`^1\.[0-9]+$`)

// versionAt refuses what is not a version without a patch.
func versionAt(path string) check {
	return wellFormed(path, minorVersion.MatchString, "is not a version such as 1.36")
}

var eksName = regexp.MustCompile(`^[0-9A-Za-z][A-Za-z0-9_-]{0,99}$`)

func checkZones(o simulate.Object) []simulate.Problem {
	if subnets := o.List("vpcConfig.subnetIds"); len(subnets) == 1 {
		return refuse("vpcConfig.subnetIds", "subnets must be in at least two different availability zones")
	}
	return nil
}

func checkScaling(o simulate.Object) []simulate.Problem {
	least, most := o.Number("scalingConfig.minSize", 0), o.Number("scalingConfig.maxSize", 0)
	size := o.Number("scalingConfig.desiredSize", least)
	if known := o.Value("scalingConfig.maxSize") != nil; known && (size < least || size > most || most < 1) {
		return refuse("scalingConfig", "minSize %d, desiredSize %d and maxSize %d do not fit together", least, size, most)
	}
	return nil
}

// addonVersionFor returns the default version of an add-on for a version of Kubernetes, which kube-proxy's begins with.
func addonVersionFor(name, kubernetes string) string {
	versions := map[string]string{
		"vpc-cni": "v1.21.1-eksbuild.1", "kube-proxy": "v" + kubernetes + ".0-eksbuild.2", "coredns": "v1.13.1-eksbuild.1",
		"aws-ebs-csi-driver": "v1.64.0-eksbuild.1", "eks-pod-identity-agent": "v1.3.9-eksbuild.3",
	}
	return cmp.Or(versions[name], "v1.0.0-eksbuild.1")
}
