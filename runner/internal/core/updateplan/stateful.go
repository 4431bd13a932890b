package updateplan

import (
	"fmt"
	"slices"
	"strings"
)

// stateful are the types of resources, or their prefixes, that hold data.
var stateful = []string{
	"aws:backup/vault:", "aws:docdb/", "aws:dynamodb/table:", "aws:ebs/snapshot:", "aws:ebs/volume:", "aws:ec2/volume:",
	"aws:ecr/repository:", "aws:efs/fileSystem:", "aws:eks/cluster:", "aws:elasticache/", "aws:elasticsearch/domain:",
	"aws:fsx/", "aws:kinesis/stream:", "aws:kms/key:", "aws:msk/cluster:", "aws:neptune/", "aws:opensearch/domain:",
	"aws:rds/cluster:", "aws:rds/clusterInstance:", "aws:rds/globalCluster:", "aws:rds/instance:",
	"aws:redshift/cluster:", "aws:route53/zone:", "aws:s3/bucket:", "aws:s3/bucketV2:", "aws:s3/bucketObject",
	"aws:secretsmanager/secret:", "aws:sqs/queue:", "azure-native:containerservice:ManagedCluster",
	"azure-native:sql:", "azure-native:storage:StorageAccount",
	"digitalocean:index/databaseCluster:", "digitalocean:index/kubernetesCluster:",
	"digitalocean:index/containerRegistry:", "digitalocean:index/spacesBucket:", "digitalocean:index/volume:",
	"gcp:bigquery/", "gcp:container/cluster:", "gcp:sql/databaseInstance:", "gcp:storage/bucket:", "kind:index:Cluster",
	"kind:index:Registry", "kubernetes:core/v1:Namespace", "kubernetes:core/v1:PersistentVolume",
	"kubernetes:apps/v1:StatefulSet", "kubernetes:apiextensions.k8s.io/v1:CustomResourceDefinition",
	"linode:index/database", "linode:index/instance:", "linode:index/lkeCluster:", "linode:index/objectStorageBucket:",
	"linode:index/volume:",
}

// IsStateful reports whether deleting a resource of a type is known to lose data.
func IsStateful(token string) bool { return hasPrefix(token, stateful) }

// clusters are the types of resources, or their prefixes, that are Kubernetes clusters.
var clusters = []string{
	"aws:eks/cluster:", "azure-native:containerservice:ManagedCluster", "digitalocean:index/kubernetesCluster:",
	"gcp:container/cluster:", "kind:index:Cluster", "linode:index/lkeCluster:",
}

// IsCluster reports whether a resource of a type is a Kubernetes cluster: everything in it goes with it.
func IsCluster(token string) bool { return hasPrefix(token, clusters) }

// LosesCluster reports whether a step deletes a Kubernetes cluster, for good or to replace it.
func (s Step) LosesCluster() bool { return s.IsLoss() && IsCluster(s.Type) }

// IsLoss reports whether a step deletes a resource, for good or to replace it.
func (s Step) IsLoss() bool { return s.Op == "replace" || s.Op == "delete" }

// LosesNodes returns the pools of a cluster, as paths, whose nodes the cloud deletes before new ones are ready. LKE
// does so where the type of a pool changes that is declared inside the cluster.
func (s Step) LosesNodes() []string {
	if s.Op != "update" || !strings.HasPrefix(s.Type, "linode:index/lkeCluster:") {
		return nil
	}
	var lost []string
	before, _ := s.Old["pools"].([]any)
	after, _ := s.Inputs["pools"].([]any)
	for i, pool := range after {
		if i < len(before) && typeOfPool(pool) != typeOfPool(before[i]) {
			lost = append(lost, fmt.Sprintf("pools[%d]: %v -> %v", i, typeOfPool(before[i]), typeOfPool(pool)))
		}
	}
	return lost
}

func typeOfPool(pool any) any {
	properties, _ := pool.(map[string]any)
	return properties["type"]
}

// harmless are the types of resources, or their prefixes up to a ":" or "/", that can be deleted without a loss:
// their program declares everything they hold, and nothing else depends on their identity.
var harmless = []string{
	"aws:cloudwatch/metricAlarm:", "aws:ec2/route:", "aws:ec2/routeTableAssociation:", "aws:ec2/securityGroupRule:",
	"aws:ecs/taskDefinition:", "aws:iam/policyAttachment:", "aws:iam/rolePolicy:", "aws:iam/rolePolicyAttachment:",
	"aws:iam/userPolicyAttachment:", "aws:lambda/permission:", "aws:s3/bucketPolicy:",
	"aws:vpc/securityGroupEgressRule:", "aws:vpc/securityGroupIngressRule:", "docker-build:index:Image",
	"docker:index/image:", "gcp:projects/iAMMember:", "kubernetes:apps/v1:DaemonSet", "kubernetes:apps/v1:Deployment",
	"kubernetes:apps/v1:ReplicaSet", "kubernetes:autoscaling/", "kubernetes:batch/v1:CronJob",
	"kubernetes:batch/v1:Job", "kubernetes:core/v1:ConfigMap", "kubernetes:core/v1:Pod",
	"kubernetes:core/v1:ServiceAccount", "kubernetes:networking.k8s.io/v1:NetworkPolicy", "kubernetes:policy/",
	"kubernetes:rbac.authorization.k8s.io/",
}

// IsHarmless reports whether deleting a resource of a type loses nothing. more lists the
// types, or prefixes, that the user declared harmless.
func IsHarmless(token string, more []string) bool {
	isOf := func(kind string) bool {
		isBeginning := strings.HasSuffix(kind, ":") || strings.HasSuffix(kind, "/")
		return token == kind || isBeginning && strings.HasPrefix(token, kind)
	}
	return slices.ContainsFunc(harmless, isOf) || slices.ContainsFunc(more, isOf)
}

func hasPrefix(token string, prefixes []string) bool {
	return slices.ContainsFunc(prefixes, func(prefix string) bool { return strings.HasPrefix(token, prefix) })
}
