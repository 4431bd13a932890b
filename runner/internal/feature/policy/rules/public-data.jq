# A bucket or a database can be reached by everybody.
def everybody: . == "*" or (objects | [.AWS?, .CanonicalUser?] | any(.[]; . == "*" or (arrays | index("*") != null)));

# The statements of a policy that let everybody in, under no condition.
def lets_in:
  (if type == "string" then fromjson? else . end) | objects | .Statement? | if type == "array" then .[] else . end | objects
  | select(.Effect == "Allow" and (.Condition // {}) == {} and (.Principal | everybody));

def deny:
  ( resources("aws:s3/(bucket:Bucket|bucketV2:BucketV2|bucketAcl:BucketAcl|bucketAclV2:BucketAclV2|bucketObject:BucketObject|bucketObjectv2:BucketObjectv2)")
    | select(.inputs.acl? // "" | strings | test("^(public-|authenticated-read)")) | finding("its list of access is \(.inputs.acl)") ),
  ( resources("aws:s3/bucketPublicAccessBlock:BucketPublicAccessBlock") | . as $step
    | [("blockPublicAcls", "blockPublicPolicy", "ignorePublicAcls", "restrictPublicBuckets") as $name | select($step.inputs[$name] | off) | $name]
    | select(length > 0) | . as $names | $step | finding("it does not set \($names | join(", "))") ),
  ( resources("aws:s3/bucketPolicy:BucketPolicy") | select([.inputs.policy | lets_in] | length > 0) | finding("its policy lets everybody in") ),
  ( resources("aws:(rds/instance:Instance|rds/clusterInstance:ClusterInstance|redshift/cluster:Cluster)") | select(.inputs.publiclyAccessible == true)
    | finding("has an address on the Internet") ),
  ( resources("(digitalocean:index/spacesBucket:SpacesBucket|linode:index/objectStorageBucket:ObjectStorageBucket)")
    | select(.inputs.acl? // "" | strings | test("^(public-|authenticated-read)")) | finding("its list of access is \(.inputs.acl)") );
