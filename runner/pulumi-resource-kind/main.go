// Command pulumi-resource-kind is the Pulumi resource provider "kind". Pulumi
// starts it; with --schema it prints what it offers.
package main

import (
	"context"
	"fmt"
	"os"

	"github.com/pulumi/pulumi/sdk/v3/go/pulumi/provider"
	pulumirpc "github.com/pulumi/pulumi/sdk/v3/proto/go"

	"mara/projects/loopback"
	"mara/runner/internal/feature/kind/kindprovider"
)

func main() {
	loopback.Guard()
	if err := run(context.Background(), os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "pulumi-resource-kind:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, args []string) error {
	if len(args) == 1 && args[0] == "--schema" {
		schema, err := kindprovider.Schema(ctx)
		if err != nil {
			return err
		}
		_, err = fmt.Println(schema)
		return err
	}
	return provider.MainContext(ctx, kindprovider.Name,
		func(engine *provider.HostClient) (pulumirpc.ResourceProviderServer, error) {
			return kindprovider.Serve(kindprovider.OpenMachine, engine)
		})
}
