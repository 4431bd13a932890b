package dns_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/pulumi/pulumi/sdk/v3/go/common/resource"
	"github.com/pulumi/pulumi/sdk/v3/go/pulumi"

	"mara/projects"
	"mara/projects/infrastructure/digitalocean/dns"
	"mara/projects/internal/programtest"
)

const recordType = "digitalocean:index/dnsRecord:DnsRecord"

// lookup answers for DigitalOcean, which has the domain example.com.
func lookup(args pulumi.MockCallArgs) (resource.PropertyMap, error) {
	if name := args.Args["name"].StringValue(); args.Token != "digitalocean:index/getDomain:getDomain" || name != "example.com" {
		return nil, fmt.Errorf("404: there is no domain %q", name)
	}
	return resource.NewPropertyMapFromMap(map[string]any{"name": "example.com"}), nil
}

func run(t *testing.T, config map[string]string, ip string) programtest.Result {
	t.Helper()
	return programtest.Run(t, programtest.Case{
		Project: projects.DigitalOceanDNS(), Program: dns.Program, Config: config, Call: lookup,
		Stacks: map[string]resource.PropertyMap{"ingress-controller": resource.NewPropertyMapFromMap(map[string]any{"ip": ip, "hostname": ""})},
	})
}

func TestProgram(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name   string
		config map[string]string
		want   map[string]any // nil for no record
	}{
		{"nothing set", nil, nil},
		{"a host elsewhere", map[string]string{"bank-of-anthos:host": "bank.example.com"}, nil},
		{"a host in a domain", map[string]string{"bank-of-anthos:host": "bank.dev.example.com", "dns:domain": "example.com", "dns:ttl": "60"},
			map[string]any{"domain": "example.com", "type": "A", "name": "bank.dev", "value": "192.0.2.1", "ttl": 60.0}},
		{"the domain itself", map[string]string{"bank-of-anthos:host": "example.com", "dns:domain": "example.com"},
			map[string]any{"domain": "example.com", "type": "A", "name": "@", "value": "192.0.2.1", "ttl": 1800.0}},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			result := run(t, test.config, "192.0.2.1")
			if result.Err != nil {
				t.Fatal(result.Err)
			}
			if test.want == nil {
				if len(result.All(recordType)) != 0 || result.Export(t, "record").Value != "" {
					t.Errorf("declared %v", result.Names())
				}
			} else if diff := cmp.Diff(test.want, result.One(t, recordType, "application").Inputs.Mappable()); diff != "" {
				t.Errorf("record (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff([]string{"ingress-controller"}, result.References()); diff != "" {
				t.Errorf("references (-want +got):\n%s", diff)
			}
			result.CheckOutputs(t, projects.DigitalOceanDNS())
		})
	}
}

func TestRefusals(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name   string
		config map[string]string
		ip     string
		want   string
	}{
		{"a domain without a host", map[string]string{"dns:domain": "example.com"}, "192.0.2.1", "bank-of-anthos:host"},
		{"a host of another domain", map[string]string{"dns:domain": "example.com", "bank-of-anthos:host": "bank.notexample.com"}, "192.0.2.1",
			`is "example.com", which bank-of-anthos:host "bank.notexample.com" does not belong to`},
		{"a domain that is not there", map[string]string{"dns:domain": "example.org", "bank-of-anthos:host": "bank.example.org"}, "192.0.2.1",
			`dns:domain: looking for the domain "example.org"`},
		{"no address", map[string]string{"dns:domain": "example.com", "bank-of-anthos:host": "bank.example.com"}, "", "has no address yet"},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			if err := run(t, test.config, test.ip).Err; err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("error %v, want one that says %q", err, test.want)
			}
		})
	}
}
