package requests

import (
	"context"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/linode/linodego"
)

// linode makes the requests of Linode's SDK from the inputs of a resource, as Pulumi's provider does.
// Secrets and unknown values are replaced by values that are valid.
var linode = map[string]func(ctx context.Context, api linodego.Client, inputs json.RawMessage) error{
	"linode:index/lkeCluster:LkeCluster": func(ctx context.Context, api linodego.Client, inputs json.RawMessage) error {
		var in struct {
			Label, Region, K8sVersion string
			Tags                      []string
			ControlPlane              struct {
				HighAvailability bool
				ACL              *struct {
					Enabled   bool
					Addresses []struct{ Ipv4s, Ipv6s []string }
				} `json:"acl"`
			}
			Pools []struct {
				Type       string
				Count      int
				Autoscaler *struct{ Min, Max int }
			}
		}
		if err := decode(inputs, &in); err != nil {
			return err
		}
		options := linodego.LKEClusterCreateOptions{Label: in.Label, Region: in.Region, K8sVersion: in.K8sVersion, Tags: in.Tags,
			ControlPlane: &linodego.LKEClusterControlPlaneOptions{HighAvailability: &in.ControlPlane.HighAvailability}}
		if acl := in.ControlPlane.ACL; acl != nil {
			options.ControlPlane.ACL = &linodego.LKEClusterControlPlaneACLOptions{Enabled: &acl.Enabled}
			for _, a := range acl.Addresses {
				options.ControlPlane.ACL.Addresses = &linodego.LKEClusterControlPlaneACLAddressesOptions{IPv4: &a.Ipv4s, IPv6: &a.Ipv6s}
			}
		}
		for _, pool := range in.Pools {
			created := linodego.LKENodePoolCreateOptions{Type: pool.Type, Count: pool.Count}
			if scaler := pool.Autoscaler; scaler != nil {
				created.Autoscaler = &linodego.LKENodePoolAutoscaler{Enabled: true, Min: scaler.Min, Max: scaler.Max}
				created.Count = max(created.Count, scaler.Min)
			}
			options.NodePools = append(options.NodePools, created)
		}
		_, err := api.CreateLKECluster(ctx, options)
		return err
	},
	"linode:index/firewall:Firewall": func(ctx context.Context, api linodego.Client, inputs json.RawMessage) error {
		type rule struct {
			Label, Action, Ports, Protocol, Description string
			Ipv4s, Ipv6s                                []string
		}
		var in struct {
			Label, InboundPolicy, OutboundPolicy string
			Tags, Linodes                        []string
			Inbounds, Outbounds                  []rule
		}
		if err := decode(inputs, &in); err != nil {
			return err
		}
		rules := func(of []rule) []linodego.FirewallRule {
			all := []linodego.FirewallRule{}
			for _, r := range of {
				all = append(all, linodego.FirewallRule{Label: r.Label, Action: r.Action, Ports: r.Ports, Description: r.Description,
					Protocol: linodego.NetworkProtocol(r.Protocol), Addresses: linodego.NetworkAddresses{IPv4: &r.Ipv4s, IPv6: &r.Ipv6s}})
			}
			return all
		}
		machines := make([]int, len(in.Linodes)) // their IDs are unknown
		for i := range machines {
			machines[i] = i + 1
		}
		_, err := api.CreateFirewall(ctx, linodego.FirewallCreateOptions{Label: in.Label, Tags: in.Tags, Devices: linodego.DevicesCreationOptions{Linodes: machines}, Rules: linodego.FirewallRuleSet{
			Inbound: rules(in.Inbounds), InboundPolicy: in.InboundPolicy, Outbound: rules(in.Outbounds), OutboundPolicy: in.OutboundPolicy,
		}})
		return err
	},
	"linode:index/stackScript:StackScript": func(ctx context.Context, api linodego.Client, inputs json.RawMessage) error {
		var in linodego.StackscriptCreateOptions
		if err := decode(inputs, &in); err != nil {
			return err
		}
		_, err := api.CreateStackscript(ctx, in)
		return err
	},
	"linode:index/instance:Instance": func(ctx context.Context, api linodego.Client, inputs json.RawMessage) error {
		var in struct {
			Label, Region, Type, Image            string
			Tags, AuthorizedKeys, AuthorizedUsers []string
			FirewallID                            string `json:"firewallId"`
			StackscriptID                         string `json:"stackscriptId"`
			StackscriptData                       string
			BackupsEnabled, PrivateIP             bool
		}
		if err := decode(inputs, &in); err != nil {
			return err
		}
		options := linodego.InstanceCreateOptions{Label: in.Label, Region: in.Region, Type: in.Type, Image: in.Image, Tags: in.Tags,
			AuthorizedKeys: in.AuthorizedKeys, AuthorizedUsers: in.AuthorizedUsers, BackupsEnabled: in.BackupsEnabled, PrivateIP: in.PrivateIP,
			RootPass: strings.Repeat("x", 32)} // the provider makes one up
		if in.FirewallID == unknown {
			options.FirewallID = 1
		}
		if in.StackscriptID == unknown {
			options.StackScriptID = 1
		}
		if in.StackscriptData == secret {
			options.StackScriptData = map[string]string{"admin_password": "x"}
		}
		_, err := api.CreateInstance(ctx, options)
		return err
	},
}

// The placeholders of a saved plan.
const (
	unknown = "[unknown]"
	secret  = "[secret]"
)

// decode decodes inputs, and refuses inputs that no request would contain.
func decode(inputs json.RawMessage, into any) error {
	decoder := json.NewDecoder(strings.NewReader(string(inputs)))
	decoder.DisallowUnknownFields()
	return decoder.Decode(into)
}

// TestLinode: the SDK's requests are valid for names of environments of all sorts, and with every
// setting that changes a request.
func TestLinode(t *testing.T) {
	t.Parallel()
	d := read(t, "testdata/linode-v4.189.0.json.gz")
	for _, test := range []struct {
		name, stack string
		config      []string
	}{
		{"defaults", "dev", nil},
		{"a long name", "a-very-long-name-of-an-environment-from-a-branch", nil},
		{"capitals and dots", "Test.Env_1", nil},
		{"two hyphens in a row", "x--y", nil},
		{"a hyphen first", "-x", nil},
		{"underscores in a row", "x__y", nil},
		{"one letter", "x", nil},
		{"a pool that scales", "dev", []string{"lke:min_nodes=2", "lke:max_nodes=5"}},
		{"high availability", "dev", []string{"lke:high_availability=true"}},
		{"an access list", "dev", []string{`lke:api_allowed_cidrs=["203.0.113.0/24","2001:db8::/32"]`}},
		{"SSH keys", "dev", []string{`harbor:ssh_authorized_keys=["ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIJqfA3hPpkZQbLrDVHMHCmwqLh0tE3yF0zQ0rHDkTWzX me"]`}},
		{"a region and types", "dev", []string{"lke:region=eu-central", "lke:node_type=g6-dedicated-8", "harbor:instance_type=g6-dedicated-4"}},
	} {
		t.Run(test.name, func(t *testing.T) {
			args := []string{"-p", "linode", "--stack=" + test.stack, "--only", "+linode-harbor"}
			var made []string
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				if err := d.invalid(r); err != nil {
					t.Errorf("%s %s: %v", r.Method, r.URL.Path, err)
				}
				w.Header().Set("Content-Type", "application/json")
				_, _ = w.Write([]byte("{}"))
			}))
			defer server.Close()
			api := linodego.NewClient(nil)
			api.SetBaseURL(server.URL)
			for _, r := range plan(t, append(args, settings(test.config)...)...) {
				request := linode[r.Type]
				switch {
				case request != nil:
					made = append(made, r.Type)
					if err := request(t.Context(), api, r.Inputs); err != nil {
						t.Errorf("%s %s: %v in %s", r.Type, r.Name, err, r.Inputs)
					}
				case strings.HasPrefix(r.Type, "linode:"):
					t.Errorf("no request is known for %s", r.Type)
				}
			}
			if slices.Sort(made); len(slices.Compact(made)) != len(linode) {
				t.Errorf("requests were made for %v only", made)
			}
		})
	}
}

// TestDescriptionRefuses: the validation finds what the cloud would refuse.
func TestDescriptionRefuses(t *testing.T) {
	t.Parallel()
	d := read(t, "testdata/linode-v4.189.0.json.gz")
	for path, wrong := range map[string][]string{
		"/v4/lke/clusters": {`{"label":"x"}`, `{"label":"a-label-of-more-than-32-characters","region":"r","k8s_version":"1","node_pools":[]}`,
			`{"label":"x","region":"r","k8s_version":"1","node_pools":[{"type":"t","count":101}]}`, `{"label":"x","region":"r","k8s_version":"1","node_pools":[],"hue":"red"}`},
		"/v4/linode/instances":     {`{"type":"t"}`, `{"type":"t","region":"r","label":"x--y"}`, `{"type":"t","region":"r","hue":"red"}`},
		"/v4/networking/firewalls": {`{"label":"abc"}`, `{"label":"-abc","rules":{"inbound_policy":"DROP","outbound_policy":"ACCEPT"}}`},
		"/v4/unknown":              {`{}`},
	} {
		for _, body := range wrong {
			r := httptest.NewRequestWithContext(t.Context(), http.MethodPost, path, strings.NewReader(body))
			if d.invalid(r) == nil {
				t.Errorf("%s %s is valid", path, body)
			}
		}
	}
}

// TestVersions: the main module has the same versions of the SDKs.
func TestVersions(t *testing.T) {
	t.Parallel()
	for _, sdk := range []string{"github.com/linode/linodego", "github.com/digitalocean/godo"} {
		version := regexp.MustCompile(regexp.QuoteMeta(sdk) + ` (v\S+)`)
		var found []string
		for _, path := range []string{"go.mod", "../../go.mod"} {
			content, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			found = append(found, version.FindStringSubmatch(string(content))[1])
		}
		if found[0] != found[1] {
			t.Errorf("versions of %s are %v", sdk, found)
		}
	}
}
