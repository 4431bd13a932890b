package cmd

import (
	"slices"

	"mara/config"
	"mara/runner/internal/core/session"
)

// ProviderOfStack returns the provider of a stack: the configured one, the recorded
// one, or the one whose cluster is deployed. It ignores a broken stack file.
func ProviderOfStack(s *session.Resolved, o Common, stack string, deployed []string) string {
	if file, _, err := o.ReadStack(stack); err == nil {
		if named := file.Text(config.InfraType); named.IsSet() {
			return named.Text
		}
	}
	if recorded, err := o.RememberedProvider(s.Directory, stack, config.Value{}); err == nil && recorded.IsSet() {
		return recorded.Text
	}
	for _, p := range o.Known().Providers {
		if slices.Contains(deployed, p.ClusterProject) {
			return p.Name
		}
	}
	return ""
}
