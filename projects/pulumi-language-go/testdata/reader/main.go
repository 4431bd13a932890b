// A program of a user: it exports what another stack exports.
package main

import "github.com/pulumi/pulumi/sdk/v3/go/pulumi"

func main() {
	pulumi.Run(func(ctx *pulumi.Context) error {
		other, err := pulumi.NewStackReference(ctx, "organization/greeting/"+ctx.Stack(), nil)
		if err != nil {
			return err
		}
		ctx.Export("heard", other.GetOutput(pulumi.String("greeting")))
		ctx.Export("key", other.GetOutput(pulumi.String("key")))
		ctx.Export("id", other.GetOutput(pulumi.String("id")))
		return nil
	})
}
