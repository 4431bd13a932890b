// Package credential makes random values that a program keeps: generated when
// they are first needed, held as a secret in the state of the stack, and never
// changed by a later run.
package credential

import (
	"fmt"

	"mara/projects/model/password"

	"github.com/pulumi/pulumi/sdk/v3/go/pulumi"
)

const (
	lower   = "abcdefghijkmnopqrstuvwxyz" // without l: hard to tell from 1 and I
	upper   = "ABCDEFGHJKLMNPQRSTUVWXYZ"  // without I and O
	digits  = "23456789"                  // without 0 and 1
	special = "-_."                       // safe in URLs, shells and configuration files
)

// Password keeps a random password of the given length with lower case, upper
// case, a digit and a special character. Destroying the stack forgets it.
func Password(ctx *pulumi.Context, name string, length int) (pulumi.StringOutput, error) {
	fresh, err := password.Draw(length, lower, upper, digits, special)
	if err != nil {
		return pulumi.StringOutput{}, fmt.Errorf("making the password %s: %w", name, err)
	}
	// The value is fresh in every run; a stash keeps the first one as its
	// output, and ignoring changes of the input keeps a run that changes
	// nothing free of changes.
	kept := &stash{}
	err = ctx.RegisterResource("pulumi:index:Stash", name,
		pulumi.Map{"input": pulumi.ToSecret(pulumi.String(fresh))}, kept,
		pulumi.IgnoreChanges([]string{"input"}),
		pulumi.AdditionalSecretOutputs([]string{"input", "output"}))
	if err != nil {
		return pulumi.StringOutput{}, err
	}
	return pulumi.ToSecret(kept.Output).(pulumi.StringOutput), nil
}

// stash is Pulumi's Stash with a text in it. The SDK's own type holds anything: package stackoutputs says what that
// costs.
type stash struct {
	pulumi.CustomResourceState

	Output pulumi.StringOutput `pulumi:"output"`
}
