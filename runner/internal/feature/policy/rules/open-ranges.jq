# A firewall lets everybody in, on a port that is not for the web.
def web: . == 80 or . == 443 or . == "[unknown]";
def only_web: . == "[unknown]" or (split(",") | length > 0 and all(.[]; test("^ *(80|443) *$")));
def ports: if .fromPort == .toPort then "port \(.fromPort // "any")" else "port \(.fromPort // "any") to \(.toPort // "any")" end;
def other: (.fromPort == .toPort and (.fromPort | web) or .fromPort == "[unknown]" or .toPort == "[unknown]") | not;

# Whether the annotations of a load balancer keep it inside, or may do so.
def internal:
  (if type == "string" then . else .annotations end)
  | if type == "string" then true
    else any(. // {} | to_entries[]; (.key | test("internal|scheme")) and (.value | . == "true" or . == "internal" or . == "[unknown]")) end;

def deny:
  ( resources("aws:ec2/(s|defaultS)ecurityGroup:(Default)?SecurityGroup")
    | . as $step | .inputs.ingress | each
    | select([.cidrBlocks, .ipv6CidrBlocks | texts] | open) | select(other)
    | ports as $ports | $step | finding("\($ports) is open to everybody") ),
  ( resources("aws:ec2/securityGroupRule:SecurityGroupRule") | .inputs as $rule
    | select($rule.type == "ingress" and ([$rule | .cidrBlocks, .ipv6CidrBlocks | texts] | open)) | select($rule | other)
    | finding("\($rule | ports) is open to everybody") ),
  ( resources("aws:vpc/securityGroupIngressRule:SecurityGroupIngressRule") | .inputs as $rule
    | select([$rule | .cidrIpv4, .cidrIpv6 | texts] | open) | select($rule | other)
    | finding("\($rule | ports) is open to everybody") ),
  ( resources("linode:index/firewall:Firewall") | select(.inputs.disabled != true)
    | . as $step | .inputs.inbounds | each
    | select(.action == "ACCEPT" and ([.ipv4s, .ipv6s | texts] | open)) | select(.ports // "" | only_web | not)
    | . as $rule | $step | finding("ports \($rule.ports // "all") are open to everybody") ),
  ( resources("linode:index/firewall:Firewall") | select(.inputs.inboundPolicy == "ACCEPT")
    | finding("it accepts what no rule names, from everybody; make DROP its policy") ),
  ( resources("linode:index/database[A-Za-z0-9]*:.*") | select([.inputs.allowLists, .inputs.allowList | texts] | open)
    | finding("the database is open to everybody") ),
  ( resources("digitalocean:index/firewall:Firewall")
    | . as $step | .inputs.inboundRules | each
    | select([.sourceAddresses | texts] | open) | select(.portRange // "" | only_web | not)
    | . as $rule | $step | finding("ports \($rule.portRange // "all") are open to everybody") ),
  ( resources("kubernetes:core/v1:Service(Patch)?") | select(.inputs.spec.type? == "LoadBalancer")
    | select(.inputs.metadata | internal | not)
    | select(.inputs.spec.loadBalancerSourceRanges | . == null or . == [] or ([texts] | open))
    | . as $step | .inputs.spec.ports | each | select(.port | numbers | web | not)
    | .port as $port | $step | finding("its load balancer opens port \($port) to everybody; name ranges in loadBalancerSourceRanges") );
