// A program of a user: it exports what another stack exports, and keeps something as long
// as that says so.
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
		ctx.Export("key", other.GetOutput(pulumi.String("key")))
		ctx.Export("id", other.GetOutput(pulumi.String("id")))
		at := config.Get(ctx, "keepAt")
		greeting, err := other.GetOutputDetails("greeting")
		if err != nil || at == "" || greeting.Value != at {
			return err
		}
		_, err = pulumi.NewStash(ctx, "kept", &pulumi.StashArgs{Input: pulumi.Any(at)})
		return err
	})
}
