package harbor_test

import (
	"maps"
	"strings"
	"sync"
	"testing"

	"github.com/pulumi/pulumi/sdk/v3/go/common/resource"
	"github.com/pulumi/pulumi/sdk/v3/go/pulumi"
	"github.com/pulumi/pulumi/sdk/v3/go/pulumi/internals"

	"mara/projects/internal/programtest"
)

// cloud is a mock engine that gives numbers for ids, as Linode does.
type cloud struct {
	test programtest.Case

	mu        sync.Mutex // guards resources
	resources []programtest.Resource
}

// runNumbered runs the case as programtest does, with numbers for ids.
func runNumbered(t *testing.T, test programtest.Case) programtest.Result {
	t.Helper()
	mock := &cloud{test: test}
	var exports map[string]programtest.Export
	err := pulumi.RunErr(func(ctx *pulumi.Context) error {
		err := test.Program(ctx)
		if err == nil {
			exports, err = awaitExports(ctx)
		}
		return err
	}, pulumi.WithMocks(test.Project.Name, programtest.Stack, mock), func(info *pulumi.RunInfo) {
		info.Config = maps.Clone(test.Config)
	})
	return programtest.Result{Resources: mock.resources, Exports: exports, Err: err}
}

func awaitExports(ctx *pulumi.Context) (map[string]programtest.Export, error) {
	exports := map[string]programtest.Export{}
	for name, input := range ctx.GetCurrentExportMap() {
		got, err := internals.UnsafeAwaitOutput(ctx.Context(), pulumi.ToOutput(input))
		if err != nil {
			return nil, err
		}
		exports[name] = programtest.Export{Value: got.Value, Known: got.Known, Secret: got.Secret}
	}
	return exports, nil
}

func (c *cloud) NewResource(args pulumi.MockResourceArgs) (string, resource.PropertyMap, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.resources = append(c.resources, programtest.Resource{
		Type: args.TypeToken, Name: args.Name, ID: args.ID, Read: args.ReadRPC != nil, Inputs: args.Inputs,
	})
	if args.TypeToken == "pulumi:pulumi:StackReference" {
		project := strings.Split(args.Name, "/")[1]
		return args.ID, resource.PropertyMap{
			"name": resource.NewProperty(args.Name), "outputs": resource.NewProperty(c.test.Stacks[project]),
		}, nil
	}
	outputs := maps.Clone(args.Inputs)
	maps.Copy(outputs, c.test.Outputs[args.TypeToken])
	return numbers()[args.TypeToken], outputs, nil
}

func (c *cloud) Call(pulumi.MockCallArgs) (resource.PropertyMap, error) {
	return resource.PropertyMap{}, nil
}

// numbers returns the IDs of the resources by their type.
func numbers() map[string]string {
	return map[string]string{
		scriptType: "11", firewallType: "22", instanceType: "33",
		secretType: "harbor/harbor-credentials", "pulumi:providers:kubernetes": "cluster",
	}
}
