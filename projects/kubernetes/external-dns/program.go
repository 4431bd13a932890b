// Package externaldns is the Pulumi program that deploys external-dns, which makes the DNS records of Ingresses and
// Services. It changes records of its own only: a TXT record next to each names the owner.
package externaldns

import (
	"cmp"

	"github.com/pulumi/pulumi/sdk/v3/go/pulumi"

	"mara/projects"
	"mara/projects/internal/cluster"
	"mara/projects/internal/settings"
	"mara/projects/naming"
)

const (
	account     = "external-dns"       // its ServiceAccount, to which aws-eks gives rights
	credentials = "external-dns-token" // the Secret with the token
	longestName = 50
)

// Program deploys external-dns.
func Program(ctx *pulumi.Context) error {
	project := projects.ExternalDNS()
	s := settings.New(ctx, project)
	o := read(ctx, s)
	c, namespace, err := cluster.ConnectIn(ctx, s, project.Namespace)
	if err != nil {
		return err
	}
	var needs []pulumi.Resource
	if o.variable != "" {
		secret, err := c.Secret(ctx, credentials, namespace, cluster.Opaque, pulumi.StringMap{
			"token": cluster.Hidden(o.token),
		})
		if err != nil {
			return err
		}
		needs = append(needs, secret)
	}
	if _, err := c.Release(ctx, cluster.Chart{
		Release: "external-dns", Chart: "external-dns", Group: "external-dns", Namespace: namespace, Values: values(c, o),
		SkipCRDs: true, // of a kind that is no source of its
	}, pulumi.DependsOn(needs)); err != nil {
		return err
	}
	ctx.Export("owner", pulumi.String(o.owner))
	return nil
}

// options is what the configuration says.
type options struct {
	domains                 []string
	policy, provider, owner string
	variable, token         string // variable is "" where Pods have rights without a token
}

// read takes the options from the configuration. The cloud of the cluster has defaults for the provider and its
// token.
func read(ctx *pulumi.Context, s *settings.Settings) options {
	host := s.Infrastructure()
	s.List("eks:dns_zones") // a rule of the project requires them
	o := options{
		domains: s.List("external-dns:domains"), policy: s.String("external-dns:policy"),
		provider: cmp.Or(s.String("external-dns:provider"), host.Name),
		owner:    cmp.Or(s.String("external-dns:owner"), naming.Environment(ctx.Stack(), "", longestName)),
		variable: s.String("external-dns:token_variable"),
	}
	// In a cloud with regions in its account, Pods have rights without a token.
	hasToken := host.Account.Region == "" && len(host.Account.Credentials) > 0
	if o.variable == "" && o.provider == host.Name && hasToken {
		o.variable = host.Account.Credentials[0].Variable
	}
	if o.variable != "" {
		o.token = s.Secret(projects.ExternalDNS().Secrets[0])
	}
	return o
}

// values returns the chart's values. Its Pods meet the level "restricted" by themselves.
// https://github.com/kubernetes-sigs/external-dns/blob/external-dns-helm-chart-1.21.1/charts/external-dns/values.yaml
func values(c *cluster.Cluster, o options) cluster.Values {
	values := cluster.Values{
		"image":          cluster.Values{"repository": c.Image("registry.k8s.io/external-dns/external-dns")},
		"provider":       cluster.Values{"name": o.provider},
		"serviceAccount": cluster.Values{"name": account},
		"sources":        []string{"ingress", "service"},
		"policy":         o.policy,
		"domainFilters":  o.domains,
		"registry":       "txt",
		"txtOwnerId":     o.owner,
		// Without requests it would be the first to be evicted from a node that is short of memory.
		"resources": cluster.Resources("10m", "64Mi", "512Mi"),
		// Written down, because later versions have other defaults: records would change hands.
		"annotationPrefix": "external-dns.alpha.kubernetes.io/",
		"txtPrefix":        "mara-%{record_type}.", // the dot lets it own the record of a domain itself
	}
	if o.variable != "" {
		values["env"] = []cluster.Values{{
			"name": o.variable, "valueFrom": cluster.Values{"secretKeyRef": cluster.Values{"name": credentials, "key": "token"}},
		}}
	}
	return values
}
