# Storage is not encrypted.
def deny:
  ( resources("aws:(ebs/volume:Volume|efs/fileSystem:FileSystem)") | select(.inputs.encrypted != true) | finding("is not encrypted") ),
  ( resources("aws:(rds/instance:Instance|rds/cluster:Cluster|docdb/cluster:Cluster|neptune/cluster:Cluster)")
    | select(.inputs.storageEncrypted != true) | finding("is not encrypted") ),
  ( resources("kubernetes:storage.k8s.io/v1:StorageClass") | select(.inputs.provisioner == "ebs.csi.aws.com")
    | select((.inputs.parameters.encrypted? // "false" | tostring) != "true") | finding("its volumes are not encrypted") ),
  ( resources("linode:index/volume:Volume") | select(.inputs.encryption != "enabled") | finding("is not encrypted") );
