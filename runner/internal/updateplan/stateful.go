package updateplan

import (
	"slices"
	"strings"
)

// stateful are types of resources, or their beginnings, that hold data which is
// lost with them.
var stateful = []string{
	"aws:backup/vault:", "aws:docdb/", "aws:dynamodb/table:", "aws:ebs/snapshot:", "aws:ebs/volume:", "aws:ec2/volume:", "aws:ecr/repository:", "aws:efs/fileSystem:",
	"aws:eks/cluster:", "aws:elasticache/", "aws:elasticsearch/domain:", "aws:fsx/", "aws:kinesis/stream:", "aws:kms/key:", "aws:msk/cluster:",
	"aws:neptune/", "aws:opensearch/domain:", "aws:rds/cluster:", "aws:rds/clusterInstance:", "aws:rds/globalCluster:", "aws:rds/instance:", "aws:redshift/cluster:",
	"aws:route53/zone:", "aws:s3/bucket:", "aws:s3/bucketV2:", "aws:s3/bucketObject", "aws:secretsmanager/secret:", "aws:sqs/queue:",
	"azure-native:sql:", "azure-native:storage:StorageAccount", "digitalocean:index/databaseCluster:", "digitalocean:index/kubernetesCluster:",
	"digitalocean:index/containerRegistry:", "digitalocean:index/spacesBucket:", "digitalocean:index/volume:",
	"gcp:bigquery/", "gcp:container/cluster:", "gcp:sql/databaseInstance:", "gcp:storage/bucket:",
	"kind:index:Cluster", "kind:index:Registry",
	"kubernetes:core/v1:Namespace", "kubernetes:core/v1:PersistentVolume", "kubernetes:apps/v1:StatefulSet",
	"kubernetes:apiextensions.k8s.io/v1:CustomResourceDefinition",
	"linode:index/database", "linode:index/instance:", "linode:index/lkeCluster:", "linode:index/objectStorageBucket:", "linode:index/volume:",
}

// isStateful reports whether data is lost with a resource of a type.
func isStateful(token string) bool {
	return slices.ContainsFunc(stateful, func(prefix string) bool { return strings.HasPrefix(token, prefix) })
}
