# The API server of a cluster is open to the Internet.
def deny:
  ( resources("aws:eks/cluster:Cluster") | .inputs.vpcConfig as $v
    | select($v.endpointPublicAccess != false and (($v.publicAccessCidrs // ["0.0.0.0/0"]) | arrays | open))
    | finding("its API server can be reached from everywhere; name the ranges that may, or make it private") ),
  ( resources("linode:index/lkeCluster:LkeCluster")
    | select((.inputs.controlPlane.acl.enabled // false) != true)
    | finding("its API server can be reached from everywhere; give it an access list") ),
  ( resources("kind:index:Cluster")
    | select((.inputs.apiServerAddress // "127.0.0.1") | test("^(127\\.|::1$|localhost$)") | not)
    | finding("its API server listens on \(.inputs.apiServerAddress), which others on the network can reach") );
