// Package dns is the project "digitalocean-dns": the record that leads the
// application's host name to the load balancer, in a domain that DigitalOcean's
// DNS has already.
package dns

import (
	"errors"
	"fmt"
	"strings"

	"github.com/pulumi/pulumi-digitalocean/sdk/v4/go/digitalocean"
	"github.com/pulumi/pulumi/sdk/v3/go/pulumi"

	"mara/projects"
	"mara/projects/internal/contain"
	"mara/projects/internal/settings"
	"mara/projects/internal/stackref"
)

// Program declares the record, if there is to be one.
func Program(ctx *pulumi.Context) error {
	cfg := settings.New(ctx, projects.DigitalOceanDNS())
	domain, host, ttl := cfg.String("dns:domain"), cfg.String("bank-of-anthos:host"), cfg.Int("dns:ttl")
	if err := cfg.Err(); err != nil {
		return err
	}
	// The reference stays when no record is wanted, so that every plan has it.
	controller := stackref.New(ctx, projects.IngressController().Name)
	if domain == "" {
		ctx.Export("record", pulumi.String(""))
		return nil
	}
	if _, err := digitalocean.LookupDomain(ctx, &digitalocean.LookupDomainArgs{Name: domain}); err != nil {
		return fmt.Errorf("dns:domain: looking for the domain %q in DigitalOcean's DNS: %w", domain, err)
	}
	record, err := digitalocean.NewDnsRecord(ctx, "application", &digitalocean.DnsRecordArgs{
		Domain: pulumi.String(domain), Type: digitalocean.RecordTypeA, Name: pulumi.String(nameIn(domain, host)),
		Value: controller.String("ip").ApplyT(contain.Try(address)).(pulumi.StringOutput), Ttl: pulumi.Int(ttl),
	})
	if err != nil {
		return err
	}
	ctx.Export("record", record.Fqdn)
	return nil
}

// nameIn returns the name of a host's record in its domain: "@" for the domain itself.
func nameIn(domain, host string) string {
	if host == domain {
		return "@"
	}
	return strings.TrimSuffix(host, "."+domain)
}

// address returns the address of the load balancer, or an error while it has none.
func address(ip string) (string, error) {
	if ip == "" {
		return "", errors.New(
			"the ingress controller's load balancer has no address yet: run the same command again in a minute")
	}
	return ip, nil
}
