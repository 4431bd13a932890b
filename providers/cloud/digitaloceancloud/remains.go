package digitaloceancloud

import (
	"context"
	"net/http"
	"strings"

	"github.com/digitalocean/godo"
	"github.com/pulumi/pulumi/sdk/v3/go/common/slice"

	"mara/projects/naming"
	"mara/providers/cloud"
)

// pageSize is the most that DigitalOcean puts into an answer.
const pageSize = 200

// The types of resources at DigitalOcean that bear the name of an environment.
const (
	clusterType  = "digitalocean:index/kubernetesCluster:KubernetesCluster"
	registryType = "digitalocean:index/containerRegistry:ContainerRegistry"
)

// Remains implements cloud.Inventory: the cluster and the registry with the name
// of an environment. Load balancers and volumes that the cluster has made do not
// say whose they are.
func (c *Client) Remains(ctx context.Context, stack string) ([]string, error) {
	located, err := c.Locate(ctx, stack)
	words := map[string]string{clusterType: "cluster", registryType: "registry"}
	return slice.Map(located.Resources, func(r cloud.Resource) string { return words[r.Type] + " " + r.Name }), err
}

// Locate implements cloud.Locator.
func (c *Client) Locate(ctx context.Context, stack string) (cloud.Located, error) {
	if err := c.noToken(); err != nil {
		return cloud.Located{}, err
	}
	name := naming.Environment(stack, "", naming.DigitalOceanLimit)
	located := cloud.Located{Types: []string{clusterType, registryType}}
	for page := 1; page != 0; {
		clusters, answer, err := c.api.Kubernetes.List(ctx, &godo.ListOptions{Page: page, PerPage: pageSize})
		if err != nil {
			return cloud.Located{}, explain(ctx, err)
		}
		for _, cluster := range clusters {
			if cluster.Name == name {
				located.Resources = append(located.Resources, cloud.Resource{Type: clusterType, ID: cluster.ID, Name: name})
			}
		}
		page = next(page, answer)
	}
	registries, _, err := c.api.Registries.List(ctx)
	if err != nil && status(err) != http.StatusNotFound { // an account without a registry
		return cloud.Located{}, explain(ctx, err)
	}
	for _, registry := range registries {
		if digits, ours := strings.CutPrefix(registry.Name, name+"-"); ours && isGenerated(digits) {
			located.Resources = append(located.Resources, cloud.Resource{Type: registryType, ID: registry.Name, Name: registry.Name})
		}
	}
	return located, nil
}

// next is the page behind a page; 0 when it was the last.
func next(page int, answer *godo.Response) int {
	if answer == nil || answer.Links == nil || answer.Links.IsLastPage() {
		return 0
	}
	return page + 1
}

// generatedDigits is how many digits Pulumi adds to a name.
const generatedDigits = 7

// isGenerated tells Pulumi's digits from the name of another environment.
func isGenerated(digits string) bool {
	return len(digits) == generatedDigits && strings.Trim(digits, "0123456789abcdef") == ""
}

var (
	_ cloud.Inventory = (*Client)(nil)
	_ cloud.Locator   = (*Client)(nil)
)
