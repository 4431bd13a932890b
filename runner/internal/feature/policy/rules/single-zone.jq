# Everything is in one availability zone.
def warn:
  ( [resources("aws:ec2/subnet:Subnet")]
    | select(length > 0 and all(.[]; .inputs.availabilityZone != "[unknown]") and (map(.inputs.availabilityZone) | unique | length) == 1)
    | .[0] | finding("all subnets are in the zone \(.inputs.availabilityZone)") ),
  ( resources("aws:rds/instance:Instance") | select(.inputs.multiAz | off) | select(.inputs.replicateSourceDb == null)
    | finding("has no standby in another zone") );
