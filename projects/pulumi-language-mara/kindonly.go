//go:build kindonly

package main

import "mara/providers/cloud"

// clouds returns no clients.
func clouds() map[string]cloud.Connect { return nil }
