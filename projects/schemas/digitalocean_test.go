package schemas_test

import (
	"testing"

	"github.com/pulumi/pulumi-digitalocean/sdk/v4/go/digitalocean"
)

func TestDigitalOcean(t *testing.T) {
	current(t, "digitalocean", true, provider(digitalocean.NewProvider),
		resource("digitalocean:index/kubernetesCluster:KubernetesCluster", digitalocean.NewKubernetesCluster),
		resource("digitalocean:index/kubernetesNodePool:KubernetesNodePool", digitalocean.NewKubernetesNodePool),
		resource("digitalocean:index/containerRegistry:ContainerRegistry", digitalocean.NewContainerRegistry),
		resource("digitalocean:index/containerRegistryDockerCredentials:ContainerRegistryDockerCredentials", digitalocean.NewContainerRegistryDockerCredentials),
		resource("digitalocean:index/dnsRecord:DnsRecord", digitalocean.NewDnsRecord),
		function("digitalocean:index/getContainerRegistry:getContainerRegistry", digitalocean.LookupContainerRegistry),
		function("digitalocean:index/getDomain:getDomain", digitalocean.LookupDomain),
		function("digitalocean:index/getKubernetesVersions:getKubernetesVersions", digitalocean.GetKubernetesVersions),
	)
}
