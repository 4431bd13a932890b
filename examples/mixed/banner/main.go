// Command banner paints the greeting. It is a Pulumi program in Go that reads the
// outputs of a project in YAML.
package main

import (
	"fmt"

	"github.com/pulumi/pulumi/sdk/v3/go/pulumi"
	"github.com/pulumi/pulumi/sdk/v3/go/pulumi/config"
)

func main() {
	pulumi.Run(func(ctx *pulumi.Context) error {
		name := fmt.Sprintf("%s/greeting/%s", ctx.Organization(), ctx.Stack())
		greeting, err := pulumi.NewStackReference(ctx, name, nil)
		if err != nil {
			return err
		}
		colour := config.New(ctx, "").Require("colour")
		ctx.Export("banner", pulumi.Sprintf("%s, in %s", greeting.GetStringOutput(pulumi.String("message")), colour))
		return nil
	})
}
