//go:build !kindonly

package programs

import (
	"github.com/pulumi/pulumi/sdk/v3/go/pulumi"

	"mara/projects"
	"mara/projects/infrastructure/aws/ecr"
	"mara/projects/infrastructure/aws/eks"
	"mara/projects/infrastructure/aws/vpc"
	docr "mara/projects/infrastructure/digitalocean/container-registry"
	docrcredentials "mara/projects/infrastructure/digitalocean/container-registry-credentials"
	"mara/projects/infrastructure/digitalocean/dns"
	"mara/projects/infrastructure/digitalocean/doks"
	registrycredentials "mara/projects/infrastructure/linode/container-registry-credentials"
	"mara/projects/infrastructure/linode/harbor"
	harborconfiguration "mara/projects/infrastructure/linode/harbor-configuration"
	"mara/projects/infrastructure/linode/lke"
	"mara/projects/model/cloud"
	"mara/providers/cloud/awscloud"
	"mara/providers/cloud/digitaloceancloud"
	"mara/providers/cloud/linodecloud"
)

// OfClouds returns the programs that need a cloud's SDK, which kind's plan does not use. A
// build with the tag kindonly has none of them, which saves a third of what a first `make
// demo` compiles.
func OfClouds() map[string]pulumi.RunFunc {
	return map[string]pulumi.RunFunc{
		projects.AWSVPC().Name:                          vpc.Program,
		projects.AWSEKS().Name:                          eks.Program,
		projects.AWSECR().Name:                          ecr.Program,
		projects.DigitalOceanDOKS().Name:                doks.Program,
		projects.DigitalOceanRegistry().Name:            docr.Program,
		projects.DigitalOceanRegistryCredentials().Name: docrcredentials.Program,
		projects.DigitalOceanDNS().Name:                 dns.Program,
		projects.LinodeLKE().Name:                       lke.Program,
		projects.LinodeHarbor().Name:                    harbor.Program,
		projects.LinodeHarborConfiguration().Name:       harborconfiguration.Program,
		projects.LinodeRegistryCredentials().Name:       registrycredentials.Program,
	}
}

// Clients returns the clients of all clouds, by provider.
func Clients() map[string]cloud.Connect {
	return map[string]cloud.Connect{"aws": awscloud.New, "digitalocean": digitaloceancloud.New, "linode": linodecloud.New}
}
