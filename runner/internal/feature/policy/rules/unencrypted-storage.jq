# Storage is not encrypted.
def deny:
  ( resources("aws:(ebs/volume:Volume|efs/fileSystem:FileSystem|redshift/cluster:Cluster)") | select(.inputs.encrypted | off) | finding("is not encrypted") ),
  ( resources("aws:(rds/instance:Instance|rds/cluster:Cluster|docdb/cluster:Cluster|neptune/cluster:Cluster)")
    | select(.inputs.storageEncrypted | off) | finding("is not encrypted") ),
  ( resources("aws:elasticache/replicationGroup:ReplicationGroup") | select(.inputs.atRestEncryptionEnabled | off) | finding("is not encrypted") ),
  ( resources("aws:elasticache/cluster:Cluster") | select(.inputs.engine // "" | test("^(redis|valkey)$")) | select(.inputs.replicationGroupId == null)
    | finding("is not encrypted, and cannot be; a replication group can") ),
  ( resources("aws:(opensearch|elasticsearch)/domain:Domain")
    | select(.inputs.encryptAtRest != "[unknown]" and (.inputs.encryptAtRest.enabled? | off)) | finding("is not encrypted") ),
  ( resources("aws:ec2/instance:Instance") | . as $step
    | ( (.inputs.rootBlockDevice | select(. != "[unknown]") | select(.encrypted? | off) | "its root volume"),
        (.inputs.ebsBlockDevices | each | select(.encrypted | off) | "its volume \(.deviceName // "")") )
    | . as $what | $step | finding("\($what) is not encrypted") ),
  ( resources("aws:ec2/launchTemplate:LaunchTemplate") | . as $step
    | .inputs.blockDeviceMappings | each | .deviceName as $device | .ebs? | objects | select(.encrypted | off)
    | $step | finding("the volume \($device // "") of its instances is not encrypted") ),
  ( resources("kubernetes:storage.k8s.io/v1:StorageClass") | select(.inputs.provisioner == "ebs.csi.aws.com")
    | select(.inputs.parameters | . != "[unknown]" and (.encrypted? | off)) | finding("its volumes are not encrypted") ),
  ( resources("linode:index/volume:Volume") | select(.inputs.encryption | . != "enabled" and . != "[unknown]") | finding("is not encrypted") ),
  ( resources("linode:index/instance:Instance") | select(.inputs.diskEncryption == "disabled") | finding("its disks are not encrypted") ),
  ( resources("linode:index/(lkeCluster:LkeCluster|lkeNodePool:LkeNodePool)")
    | select([.inputs.diskEncryption?, (.inputs.pools[]? | objects | .diskEncryption)] | any(. == "disabled"))
    | finding("the disks of its nodes are not encrypted") );
