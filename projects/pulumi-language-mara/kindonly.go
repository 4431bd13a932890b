//go:build kindonly

package main

import "mara/providers/cloud"

// clouds are none.
func clouds() cloud.Clients { return cloud.Connected(nil) }
