// A program of a user: it reads its configuration and another stack.
package main

import (
	"github.com/pulumi/pulumi/sdk/v3/go/pulumi"
	"github.com/pulumi/pulumi/sdk/v3/go/pulumi/config"
)

func main() {
	pulumi.Run(func(ctx *pulumi.Context) error {
		other, err := pulumi.NewStackReference(ctx, "organization/greeting/"+ctx.Stack(), nil)
		if err != nil {
			return err
		}
		ctx.Export("heard", other.GetOutput(pulumi.String("greeting")))
		ctx.Export("token", config.RequireSecret(ctx, "token"))
		return nil
	})
}
