package digitaloceancloud

import (
	"context"
	"net/http"
	"strings"

	"github.com/digitalocean/godo"

	"mara/projects/naming"
	"mara/providers/cloud"
)

// nameLimit is more than the programs' names have.
const nameLimit = 50

// pageSize is the most that DigitalOcean puts into an answer.
const pageSize = 200

// Remains implements cloud.Inventory: the cluster and the registry with the name
// of an environment. Load balancers and volumes that the cluster has made do not
// say whose they are.
func (c *Client) Remains(ctx context.Context, stack string) ([]string, error) {
	if err := c.noToken(); err != nil {
		return nil, err
	}
	name := naming.Environment(stack, "", nameLimit)
	var found []string
	for page := 1; page != 0; {
		clusters, answer, err := c.api.Kubernetes.List(ctx, &godo.ListOptions{Page: page, PerPage: pageSize})
		if err != nil {
			return nil, explain(ctx, err)
		}
		for _, cluster := range clusters {
			if cluster.Name == name {
				found = append(found, "cluster "+name)
			}
		}
		page = next(page, answer)
	}
	registries, _, err := c.api.Registries.List(ctx)
	if err != nil && status(err) != http.StatusNotFound { // an account without a registry
		return nil, explain(ctx, err)
	}
	for _, registry := range registries {
		if digits, ours := strings.CutPrefix(registry.Name, name+"-"); ours && isGenerated(digits) {
			found = append(found, "registry "+registry.Name)
		}
	}
	return found, nil
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

var _ cloud.Inventory = (*Client)(nil)
