// Package kindsdk is the Go SDK of the resource provider "kind": clusters in
// containers on this machine (kind.sigs.k8s.io) and a registry beside them.
// It has the shape of the SDKs that Pulumi generates, so that whatever works by
// reflection on those (marshalling, mocks, simulation) works here as well:
// an Args type answers ElementType with the struct whose `pulumi` tags name the
// inputs, where a pointer, slice or map is optional and anything else required,
// and the resource struct lists the outputs. Inputs that cannot be changed say
// so with the tag that the provider uses. Types are registered nowhere: the
// programs lift none of them, so no init function is needed.
package kindsdk

import "github.com/pulumi/pulumi/sdk/v3/go/pulumi"

// The type tokens of the provider's resources.
const (
	ClusterToken  = "kind:index:Cluster"
	RegistryToken = "kind:index:Registry"
	ProviderToken = "pulumi:providers:kind"
)

// secretOutputs returns opts with one more: the named outputs are secret.
func secretOutputs(opts []pulumi.ResourceOption, names ...string) []pulumi.ResourceOption {
	return append([]pulumi.ResourceOption{pulumi.AdditionalSecretOutputs(names)}, opts...)
}
