# The API server of a cluster is open to the Internet.
def deny:
  ( resources("aws:eks/cluster:Cluster") | (.inputs.vpcConfig // {} | objects) as $v
    | select($v.endpointPublicAccess != "[unknown]" and $v.endpointPublicAccess != false and (($v.publicAccessCidrs // ["0.0.0.0/0"]) | arrays | open))
    | finding("its API server can be reached from everywhere; name the ranges that may, or make it private") ),
  ( resources("linode:index/lkeCluster:LkeCluster") | (.inputs.controlPlane | if type == "string" then . else .acl end) as $acl
    | select($acl != "[unknown]" and $acl.enabled? != "[unknown]")
    | if $acl.enabled? != true then finding("its API server can be reached from everywhere; give it an access list")
      elif [$acl.addresses | each | .ipv4s, .ipv6s | texts] | open
      then finding("the access list of its API server has everybody on it") else empty end ),
  ( resources("digitalocean:index/kubernetesCluster:KubernetesCluster") | .inputs.controlPlaneFirewall as $f
    | select($f != "[unknown]" and $f.enabled? != "[unknown]")
    | if $f.enabled? != true then finding("its API server can be reached from everywhere; give it a firewall")
      elif [$f.allowedAddresses | texts] | open then finding("the firewall of its API server lets everybody in") else empty end ),
  ( resources("kind:index:Cluster")
    | select((.inputs.apiServerAddress // "127.0.0.1") | . == "[unknown]" or test("^(127\\.|::1$|localhost$)") | not)
    | finding("its API server listens on \(.inputs.apiServerAddress), which others on the network can reach") );
