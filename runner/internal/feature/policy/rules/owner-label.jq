# A resource does not say whose it is: it has no tag or label "owner".
def owned: any(keys[]; ascii_downcase == "owner");

# What takes tags, where a resource has none at all.
def takes_tags:
  test("^aws:(ec2/(vpc|subnet|instance|securityGroup|natGateway|eip|internetGateway|launchTemplate|routeTable|vpcEndpoint):" +
    "|ebs/(volume|snapshot):|efs/fileSystem:|s3/(bucket|bucketV2):|rds/(instance|cluster):|dynamodb/table:|elasticache/(cluster|replicationGroup):" +
    "|opensearch/domain:|eks/(cluster|nodeGroup):|ecs/(cluster|service|taskDefinition):|ecr/repository:|lambda/function:|lb/(loadBalancer|targetGroup):" +
    "|kms/key:|iam/(role|policy):|sns/topic:|sqs/queue:|cloudwatch/logGroup:|secretsmanager/secret:|redshift/cluster:|msk/cluster:)");

def warn:
  ( resources("aws:.*") | select((.inputs | has("tags") or has("tagsAll")) or (.type | takes_tags))
    | select([.inputs | .tags, .tagsAll] | any(. == "[unknown]" or (objects | owned)) | not)
    | finding("has no tag owner") ),
  ( resources("(linode|digitalocean):index/.*")
    | select((.inputs | has("tags"))
      or (.type | test(":index/(instance|lkeCluster|volume|nodeBalancer|firewall|domain|droplet|kubernetesCluster|databaseCluster|loadBalancer):")
          and . != "digitalocean:index/domain:Domain" and . != "digitalocean:index/loadBalancer:LoadBalancer"))
    | select([.inputs.tags | strings, (arrays | .[] | strings)] | any(.[]; . == "[unknown]" or (ascii_downcase | test("^owner([:=_-]|$)"))) | not)
    | finding("has no tag owner, such as owner:team-a") ),
  ( resources("kubernetes:core/v1:Namespace") | select((.inputs.metadata | if . == "[unknown]" or .labels? == "[unknown]" then true else .labels? // {} | objects | owned end) | not)
    | finding("has no label owner") );
