// Command variable is a Pulumi program that shows which profile of AWS it runs with.
package main

import (
	"os"

	"github.com/pulumi/pulumi/sdk/v3/go/pulumi"
)

func main() {
	pulumi.Run(func(ctx *pulumi.Context) error {
		ctx.Export("profile", pulumi.String(os.Getenv("AWS_PROFILE")))
		return nil
	})
}
