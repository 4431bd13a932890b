//go:build !kindonly

package main

import (
	"mara/providers/cloud"
	"mara/providers/cloud/awscloud"
	"mara/providers/cloud/digitaloceancloud"
	"mara/providers/cloud/linodecloud"
)

// clouds are those that can be asked, by provider.
func clouds() map[string]cloud.Connect {
	return map[string]cloud.Connect{"aws": awscloud.New, "digitalocean": digitaloceancloud.New, "linode": linodecloud.New}
}
