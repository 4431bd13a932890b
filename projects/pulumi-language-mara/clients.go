//go:build !kindonly

package main

import (
	"mara/providers/cloud"
	"mara/providers/cloud/awscloud"
	"mara/providers/cloud/digitaloceancloud"
	"mara/providers/cloud/linodecloud"
)

// clouds returns the clients of all clouds, by provider.
func clouds() map[string]cloud.Connect {
	return map[string]cloud.Connect{"aws": awscloud.New, "digitalocean": digitaloceancloud.New, "linode": linodecloud.New}
}
