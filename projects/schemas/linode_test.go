package schemas_test

import (
	"testing"

	linodesdk "github.com/pulumi/pulumi-linode/sdk/v5/go/linode"
)

func TestLinode(t *testing.T) {
	current(t, "linode", true, provider(linodesdk.NewProvider),
		resource("linode:index/lkeCluster:LkeCluster", linodesdk.NewLkeCluster),
		resource("linode:index/lkeNodePool:LkeNodePool", linodesdk.NewLkeNodePool),
		resource("linode:index/instance:Instance", linodesdk.NewInstance),
		resource("linode:index/stackScript:StackScript", linodesdk.NewStackScript),
		resource("linode:index/sshKey:SshKey", linodesdk.NewSshKey),
		resource("linode:index/token:Token", linodesdk.NewToken),
		resource("linode:index/firewall:Firewall", linodesdk.NewFirewall),
		resource("linode:index/domain:Domain", linodesdk.NewDomain),
		resource("linode:index/domainRecord:DomainRecord", linodesdk.NewDomainRecord),
		resource("linode:index/nodeBalancer:NodeBalancer", linodesdk.NewNodeBalancer),
		function("linode:index/getLkeVersions:getLkeVersions", linodesdk.GetLkeVersions),
		function("linode:index/getRegions:getRegions", linodesdk.GetRegions),
		function("linode:index/getInstanceTypes:getInstanceTypes", linodesdk.GetInstanceTypes),
	)
}
