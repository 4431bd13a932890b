// Package certmgr is the Pulumi program that deploys cert-manager and the
// ClusterIssuer that every Ingress with TLS asks for its certificate.
package certmgr

import (
	"github.com/pulumi/pulumi/sdk/v3/go/pulumi"

	"mara/projects"
	"mara/projects/helm"
	"mara/projects/internal/cluster"
	"mara/projects/internal/settings"
)

// acme is the kind of issuer that proves to an authority on the internet that
// it owns a host name; the other kind, self-signed, needs no authority.
const acme = "acme"

// credentials is the Secret with the token for records.
const credentials = "acme-dns-token"

// issuer is where certificates come from.
type issuer struct {
	kind, email, server string
	dns, token          string // who serves the domains, to prove by a record that they are ours; the token for that
}

// Program deploys cert-manager and its issuer.
func Program(ctx *pulumi.Context) error {
	project := projects.CertManager()
	s := settings.New(ctx, project)
	from := read(s)
	c, err := cluster.Connect(ctx, s)
	if err != nil {
		return err
	}
	var needs []pulumi.Resource
	if s.Bool(projects.InstallCertKey) {
		release, err := install(ctx, c, s, project.Namespace)
		if err != nil {
			return err
		}
		// The release is ready only when its webhook answers, which the issuer needs.
		needs = append(needs, release)
	}
	if from.token != "" {
		secret, err := c.Secret(ctx, credentials, pulumi.String(project.Namespace), cluster.Opaque, pulumi.StringMap{
			"token": cluster.Hidden(from.token),
		}, pulumi.DependsOn(needs))
		if err != nil {
			return err
		}
		needs = append(needs, secret)
	}
	if _, err := c.Declare(ctx, cluster.Object{
		APIVersion: "cert-manager.io/v1", Kind: "ClusterIssuer", Name: projects.ClusterIssuer,
		Fields: cluster.Values{"spec": from.spec()},
	}, pulumi.DependsOn(needs)); err != nil {
		return err
	}
	ctx.Export("cluster_issuer", pulumi.String(projects.ClusterIssuer))
	ctx.Export("issuer_kind", pulumi.String(from.kind))
	return nil
}

// install deploys cert-manager.
func install(ctx *pulumi.Context, c *cluster.Cluster, s *settings.Settings, name string) (*helm.Release, error) {
	namespace, err := c.Namespace(ctx, name)
	if err != nil {
		return nil, err
	}
	return c.Release(ctx, cluster.Chart{
		Release: "cert-manager", Chart: "cert-manager", Group: "certmgr",
		Namespace: namespace, Values: values(c, s.Bool("certmgr:keep_crds")),
	})
}

// read takes the issuer from the configuration.
func read(s *settings.Settings) issuer {
	s.List("eks:dns_zones") // a rule of the project requires them
	from := issuer{
		kind: s.String("certmgr:issuer"), email: s.String("certmgr:acme_email"), server: s.String("certmgr:acme_server"),
		dns: s.String("certmgr:acme_dns"),
	}
	if from.kind == acme && from.dns != "" && from.dns != projects.Route53 {
		from.token = s.Secret(projects.CertManager().Secrets[0])
	}
	return from
}

// spec returns the ClusterIssuer's specification.
// https://cert-manager.io/docs/reference/api-docs/#cert-manager.io/v1.ClusterIssuer
func (i issuer) spec() cluster.Values {
	if i.kind != acme {
		return cluster.Values{"selfSigned": cluster.Values{}}
	}
	return cluster.Values{"acme": cluster.Values{
		"email": i.email, "server": i.server,
		"privateKeySecretRef": cluster.Values{"name": projects.ClusterIssuer + "-acme-account"},
		"solvers":             []cluster.Values{i.solver()},
	}}
}

// solver returns how the authority is shown that a domain is ours.
func (i issuer) solver() cluster.Values {
	token := cluster.Values{"name": credentials, "key": "token"}
	switch i.dns {
	case "":
		return cluster.Values{"http01": cluster.Values{"ingress": cluster.Values{"ingressClassName": "nginx"}}}
	case "cloudflare":
		return cluster.Values{"dns01": cluster.Values{i.dns: cluster.Values{"apiTokenSecretRef": token}}}
	case projects.Route53: // Pod Identity gives the Pods credentials and a region
		return cluster.Values{"dns01": cluster.Values{i.dns: cluster.Values{}}}
	}
	return cluster.Values{"dns01": cluster.Values{i.dns: cluster.Values{"tokenSecretRef": token}}}
}

// values returns the chart's values.
// https://github.com/cert-manager/cert-manager/blob/v1.21.1/deploy/charts/cert-manager/values.yaml
func values(c *cluster.Cluster, keepCRDs bool) cluster.Values {
	replicas := c.Replicas("certmgr:replicas", 2)
	resources := cluster.Resources("10m", "64Mi", "1Gi") // it keeps what it watches of a cluster
	budget := cluster.Values{"enabled": replicas > 1}
	values := cluster.Values{
		"crds":                cluster.Values{"enabled": true, "keep": keepCRDs},
		"replicaCount":        replicas,
		"resources":           resources,
		"podDisruptionBudget": budget,
		"webhook":             cluster.Values{"replicaCount": replicas, "resources": resources, "podDisruptionBudget": budget},
		"cainjector":          cluster.Values{"replicaCount": replicas, "resources": resources, "podDisruptionBudget": budget},
		// A Job that waits for the webhook, so that the release is ready only
		// when issuers can be made.
		"startupapicheck": cluster.Values{"enabled": true, "timeout": "5m"},
		"prometheus":      cluster.Values{"enabled": true},
	}
	if registry := c.Registry(""); registry != "" {
		values["imageRegistry"] = registry
	}
	return values
}
