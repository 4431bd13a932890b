# A firewall lets everybody in, on a port that is not for the web.
def web: . == 80 or . == 443;

def deny:
  ( resources("aws:ec2/securityGroup:SecurityGroup")
    | . as $step | .inputs.ingress[]? | objects
    | select(((.cidrBlocks // []) + (.ipv6CidrBlocks // [])) | open)
    | select((.fromPort == .toPort and (.fromPort | web)) | not)
    | . as $rule | $step | finding("port \($rule.fromPort) to \($rule.toPort) is open to everybody") ),
  ( resources("aws:vpc/securityGroupIngressRule:SecurityGroupIngressRule")
    | select([.inputs.cidrIpv4, .inputs.cidrIpv6] | open)
    | select((.inputs.fromPort == .inputs.toPort and (.inputs.fromPort | web)) | not)
    | finding("port \(.inputs.fromPort // "any") to \(.inputs.toPort // "any") is open to everybody") ),
  ( resources("linode:index/firewall:Firewall")
    | . as $step | .inputs.inbounds[]? | objects | select(.action == "ACCEPT" and (((.ipv4s // []) + (.ipv6s // [])) | open))
    | select((.ports // "") | test("^(80|443|80, ?443)$") | not)
    | . as $rule | $step | finding("ports \($rule.ports // "all") are open to everybody") );
