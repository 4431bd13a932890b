//go:build !kindonly

package imagepush

import (
	"github.com/pulumi/pulumi-aws/sdk/v7/go/aws/ecr"
	"github.com/pulumi/pulumi/sdk/v3/go/pulumi"

	"mara/projects/internal/contain"
	"mara/projects/internal/stackref"
)

// ecrTarget returns the repository at AWS. Its password lasts twelve hours, so each run
// requests a new one: outside a simulation an `up` that pushes nothing still shows one updated
// resource.
func ecrTarget(ctx *pulumi.Context, outputs *stackref.Reference) (destination, error) {
	repository := outputs.String("repository_url")
	token := ecr.GetAuthorizationTokenOutput(ctx, ecr.GetAuthorizationTokenOutputArgs{
		RegistryId: outputs.String("registry_id"),
	})
	return destination{
		repository: repository,
		address:    repository.ApplyT(contain.Value(registryURL)).(pulumi.StringOutput),
		user:       token.UserName(),
		password:   token.Password().ApplyT(contain.Value(secret)).(pulumi.StringOutput),
	}, nil
}

// secret marks a text as secret.
func secret(text string) pulumi.StringOutput {
	return pulumi.ToSecret(pulumi.String(text)).(pulumi.StringOutput)
}
