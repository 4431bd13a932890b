//go:build kindonly

package main

import "mara/providers/cloud"

// clouds are none.
func clouds() map[string]cloud.Connect { return nil }
