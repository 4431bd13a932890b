package digitaloceancloud

import (
	"context"
	"net/http"
	"strings"

	"github.com/digitalocean/godo"

	"mara/projects"
	"mara/projects/model/cloud"
	"mara/projects/naming"
)

// pageSize is DigitalOcean's limit of an answer.
const pageSize = 200

// The types of resources at DigitalOcean that bear the name of an environment.
const (
	clusterType  = "digitalocean:index/kubernetesCluster:KubernetesCluster"
	registryType = "digitalocean:index/containerRegistry:ContainerRegistry"
)

// Remains implements cloud.Inventory: it lists the cluster and the registry with the name of
// an environment. Load balancers and volumes of the cluster do not name their owner.
func (c *Client) Remains(ctx context.Context, stack string) ([]string, error) {
	located, err := c.Locate(ctx, stack)
	return located.Describe(map[string]string{clusterType: "cluster", registryType: "registry"}), err
}

// Locate implements cloud.Locator.
func (c *Client) Locate(ctx context.Context, stack string) (cloud.Located, error) {
	if err := c.noToken(); err != nil {
		return cloud.Located{}, err
	}
	name := naming.Environment(stack, "", projects.DigitalOceanLimit)
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
			found := cloud.Resource{Type: registryType, ID: registry.Name, Name: registry.Name}
			located.Resources = append(located.Resources, found)
		}
	}
	return located, nil
}

// next returns the number of the next page, or 0 after the last one.
func next(page int, answer *godo.Response) int {
	if answer == nil || answer.Links == nil || answer.Links.IsLastPage() {
		return 0
	}
	return page + 1
}

// generatedDigits is how many digits Pulumi adds to a name.
const generatedDigits = 7

// isGenerated distinguishes Pulumi's digits from the name of another environment.
func isGenerated(digits string) bool {
	return len(digits) == generatedDigits && strings.Trim(digits, "0123456789abcdef") == ""
}

var (
	_ cloud.Inventory = (*Client)(nil)
	_ cloud.Locator   = (*Client)(nil)
)
