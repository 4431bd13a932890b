//go:build kindonly

package programs

import "github.com/pulumi/pulumi/sdk/v3/go/pulumi"

// OfClouds returns no programs.
func OfClouds() map[string]pulumi.RunFunc { return nil }
