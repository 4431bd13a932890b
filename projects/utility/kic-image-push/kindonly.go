//go:build kindonly

package imagepush

import (
	"errors"

	"github.com/pulumi/pulumi/sdk/v3/go/pulumi"

	"mara/projects/internal/stackref"
)

// ecrTarget needs AWS' SDK.
func ecrTarget(*pulumi.Context, *stackref.Reference) (destination, error) {
	return destination{}, errors.New("this pulumi-language-mara cannot log in to ECR, " +
		"since `make demo` has built it for kind alone: `make build` builds all")
}
