//go:build kindonly

package programs

import (
	"github.com/pulumi/pulumi/sdk/v3/go/pulumi"

	"mara/projects/model/cloud"
)

// OfClouds returns no programs.
func OfClouds() map[string]pulumi.RunFunc { return nil }

// Clients returns no clients.
func Clients() map[string]cloud.Connect { return nil }
