package cluster

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"

	"github.com/pulumi/pulumi-kubernetes/sdk/v4/go/kubernetes"
	"github.com/pulumi/pulumi/sdk/v3/go/pulumi"

	"mara/projects"
)

// Definitions declares the custom resource definitions in a chart's crds/
// directory as resources of the program, which go when the program's other
// resources go, unless they are to be kept. Helm would install them once, and
// then neither upgrade nor remove them: leave them out of its release with
// SkipCRDs. In a preview before the cluster exists there are none.
func (c *Cluster) Definitions(ctx *pulumi.Context, chart Chart, keep bool) ([]pulumi.Resource, error) {
	objects, err := c.render(ctx, chart)
	if err != nil {
		return nil, err
	}
	provider, err := c.adopter(ctx)
	if err != nil {
		return nil, err
	}
	var definitions []pulumi.Resource
	for _, object := range objects {
		if object["apiVersion"] != "apiextensions.k8s.io/v1" || object["kind"] != "CustomResourceDefinition" {
			continue
		}
		definition, err := c.definition(ctx, object, pulumi.Provider(provider), pulumi.RetainOnDelete(keep))
		if err != nil {
			return nil, err
		}
		definitions = append(definitions, definition)
	}
	if len(definitions) == 0 && !ctx.DryRun() {
		return nil, fmt.Errorf("chart %s %s has no custom resource definitions; configuration key %q names the version",
			chart.Chart, c.version(chart), projects.ChartKey(chart.Group, projects.ChartVersion))
	}
	return definitions, nil
}

// adopter returns a provider that takes over existing objects: definitions that outlived a
// destroy still exist when the environment comes back.
func (c *Cluster) adopter(ctx *pulumi.Context) (*kubernetes.Provider, error) {
	args := c.providerArgs()
	args.UpsertExistingObjects = pulumi.Bool(true)
	provider, err := kubernetes.NewProvider(ctx, "definitions", args)
	if err != nil {
		return nil, fmt.Errorf("connecting to the cluster: %w", err)
	}
	return provider, nil
}

// definition declares one definition as the chart has it.
func (c *Cluster) definition(
	ctx *pulumi.Context, object map[string]any, opts ...pulumi.ResourceOption,
) (*Declared, error) {
	metadata, _ := object["metadata"].(map[string]any)
	name, _ := metadata["name"].(string)
	if name == "" {
		return nil, errors.New("a custom resource definition of the chart has no name")
	}
	metadata["labels"] = with(metadata["labels"], c.labels)
	// Whoever has put it there before, Helm or an earlier environment, may have
	// left another version.
	metadata["annotations"] = with(metadata["annotations"], map[string]string{"pulumi.com/patchForce": "true"})
	definition := &Declared{}
	// The schemas in it have names that the SDK's own arguments spell differently.
	err := ctx.RegisterResource(
		"kubernetes:apiextensions.k8s.io/v1:CustomResourceDefinition",
		name, kubernetes.UntypedArgs(object), definition, opts...)
	return definition, err
}

// with adds texts to a map of an object's metadata, which may be missing.
func with(base any, texts map[string]string) map[string]any {
	existing, _ := base.(map[string]any)
	merged := make(map[string]any, len(existing)+len(texts))
	maps.Copy(merged, existing)
	for key, text := range texts {
		merged[key] = text
	}
	return merged
}

// templateOptions are what the Kubernetes provider's function wants to know.
// https://github.com/pulumi/pulumi-kubernetes/blob/v4.33.0/provider/pkg/provider/invoke_helm_template.go
type templateOptions struct {
	Chart       string       `json:"chart"`
	Version     string       `json:"version"`
	Namespace   string       `json:"namespace"`
	ReleaseName string       `json:"release_name"`
	Fetch       fetchOptions `json:"fetch_opts"`
}

type fetchOptions struct {
	Repository string `json:"repo,omitempty"`
}

// render has the Kubernetes provider fetch a chart, from where its release
// fetches it, and list the chart's objects. The values do not matter to those
// in crds/, which are no templates.
func (c *Cluster) render(ctx *pulumi.Context, chart Chart) ([]map[string]any, error) {
	location, repository := c.locate(chart)
	options, err := json.Marshal(templateOptions{
		Chart: location, Version: c.version(chart), Namespace: "default", ReleaseName: chart.Release,
		Fetch: fetchOptions{Repository: repository},
	})
	if err != nil {
		return nil, err
	}
	args := struct {
		JSONOpts string `pulumi:"jsonOpts"`
	}{string(options)}
	var rendered struct {
		Result []map[string]any `pulumi:"result"`
	}
	if err := ctx.Invoke("kubernetes:helm:template", &args, &rendered, pulumi.Provider(c.provider)); err != nil {
		return nil, fmt.Errorf("reading the custom resource definitions of chart %s: %w", chart.Chart, err)
	}
	return rendered.Result, nil
}
