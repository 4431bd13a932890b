//go:build kindonly

package programs

import "github.com/pulumi/pulumi/sdk/v3/go/pulumi"

// OfClouds are none.
func OfClouds() map[string]pulumi.RunFunc { return nil }
