package cloudtest_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/linode/linodego"

	"mara/config"
	"mara/projects/model"
	"mara/projects/model/cloud"
	"mara/providers"
	"mara/providers/cloud/digitaloceancloud"
	"mara/providers/cloud/linodecloud"
	"mara/runner/internal/feature/firstrun/wizard"
	"mara/runner/internal/machine/prompt"
	"mara/runner/internal/testing/cloudtest"
)

// clients returns the client of each cloud at a server.
func clients(t *testing.T, c *cloudtest.Cloud, token string) map[string]cloud.Client {
	t.Helper()
	env := map[string]string{"LINODE_URL": c.URL, "LINODE_TOKEN": token, "DIGITALOCEAN_API_URL": c.URL, "DIGITALOCEAN_TOKEN": token}
	all := map[string]cloud.Client{}
	for name, connect := range map[string]cloud.Connect{"Linode": linodecloud.New, "DigitalOcean": digitaloceancloud.New} {
		client, err := connect(t.Context(), cloud.Access{Env: env})
		if err != nil {
			t.Fatal(err)
		}
		all[name] = client
	}
	return all
}

// questions returns all questions to a cloud.
func questions(client cloud.Client) map[string]func(context.Context) error {
	list := func(list model.List) func(context.Context) error {
		return func(ctx context.Context) error {
			_, err := client.Choices(ctx, list)
			return err
		}
	}
	return map[string]func(context.Context) error{
		"account": func(ctx context.Context) error {
			_, err := client.Account(ctx)
			return err
		},
		"regions": list(model.Regions), "versions": list(model.KubernetesVersions), "types": list(model.NodeTypes),
		"offers": func(ctx context.Context) error {
			_, err := client.(cloud.Catalogue).Offers(ctx, model.NodeTypes, []string{"nyc3"})
			return err
		},
		"remains": func(ctx context.Context) error {
			_, err := client.(cloud.Inventory).Remains(ctx, "try")
			return err
		},
	}
}

// TestFaults: whatever happens, each question to each cloud has one sentence as its answer, with
// what to do about it; it says whether the credentials are bad, and has no page of a proxy in it.
func TestFaults(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name        string
		fault       cloudtest.Fault
		text, next  string
		unsure, far bool
		but         []string // questions with another answer
	}{
		{"refused", cloudtest.Fault{Status: 401}, "refuses: Unauthorized (401)", "check ", false, false, nil},
		{"forbidden", cloudtest.Fault{Status: 403}, "refuses: Forbidden (403)", "", false, false, nil},
		{"throttled", cloudtest.Fault{Status: 429, RetryAfter: "7"}, "refuses: Too Many Requests (429)", "try again in 7s", true, false, nil},
		{"throttled without a time", cloudtest.Fault{Status: 429}, "refuses: Too Many Requests (429)", "try again in a minute", true, false, nil},
		{"failed", cloudtest.Fault{Status: 500}, "failed: Internal Server Error (500)", "try again in a few minutes", true, false, nil},
		{"a page", cloudtest.Fault{Status: 503, Body: "<html>the proxy says hello"}, "failed: Service Unavailable (503)", "try again in a few minutes", true, false, nil},
		{"a page that is no error", cloudtest.Fault{Status: 200, Body: "<html>the proxy says hello"}, "gave no answer", "check the network", true, true, nil},
		{"slow", cloudtest.Fault{Delay: time.Minute}, "did not answer in time", "check the network", true, true, nil},
		{"empty lists", cloudtest.Fault{Empty: true}, "the list of ", "", true, false, []string{"account", "offers", "remains"}},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			c := cloudtest.New(t)
			c.Set(t, test.fault)
			limit := 5 * time.Second // an answer takes no time
			if test.fault.Delay > 0 {
				limit = 100 * time.Millisecond
			}
			for name, client := range clients(t, c, cloudtest.Token) {
				for question, ask := range questions(client) {
					ctx, cancel := context.WithTimeout(t.Context(), limit)
					err := ask(ctx)
					cancel()
					if slices.Contains(test.but, question) {
						if err != nil {
							t.Errorf("%s, %s: %v", name, question, err)
						}
						continue
					}
					var e *cloud.Error
					if !errors.As(err, &e) || !strings.Contains(e.Text, test.text) || !strings.HasPrefix(e.Next, test.next) ||
						e.Unsure != test.unsure || e.Unreachable != test.far || strings.Contains(e.Text, "<") {
						t.Errorf("%s, %s: %#v", name, question, err)
					}
				}
			}
		})
	}
}

// TestFaultsPass: after a fault that is met once, the cloud answers.
func TestFaultsPass(t *testing.T) {
	t.Parallel()
	c := cloudtest.New(t)
	for name, client := range clients(t, c, cloudtest.Token) {
		for question := range questions(client) {
			ask := questions(clients(t, c, cloudtest.Token)[name])[question] // Linode's SDK keeps lists that it has
			c.Set(t, cloudtest.Fault{Status: 500, Times: 1})
			if first, second := ask(t.Context()), ask(t.Context()); first == nil || second != nil {
				t.Errorf("%s, %s: %v, then %v", name, question, first, second)
			}
		}
	}
	c.Set(t, cloudtest.Fault{Status: 500})
	c.Clear(t)
	for name, client := range clients(t, c, "another token") {
		if _, err := client.Account(t.Context()); err == nil || !strings.Contains(err.Error(), "(401)") {
			t.Errorf("%s: another token is accepted: %v", name, err)
		}
	}
}

// TestRemains: what is left in a cloud is found until it is deleted, and nothing of other environments.
func TestRemains(t *testing.T) {
	t.Parallel()
	c := cloudtest.New(t)
	c.Add("/v4/lke/clusters", map[string]any{"label": "mara-try"})
	c.Add("/v4/lke/clusters", map[string]any{"label": "mara-tryout"})
	machine := c.Add("/v4/linode/instances", map[string]any{"label": "mara-try-harbor"})
	c.Add("/v4/networking/firewalls", map[string]any{"label": "mara-try-harbor"})
	c.Add("/v2/kubernetes/clusters", map[string]any{"name": "mara-try"})
	c.Add("/v2/registries", map[string]any{"name": "mara-try-1a2b3c4"})
	all := clients(t, c, cloudtest.Token)
	remains := func(name string) []string {
		left, err := all[name].(cloud.Inventory).Remains(t.Context(), "try")
		if err != nil {
			t.Error(err)
		}
		return left
	}
	want := map[string][]string{"Linode": {"cluster mara-try", "machine mara-try-harbor", "firewall mara-try-harbor"}, "DigitalOcean": {"cluster mara-try", "registry mara-try-1a2b3c4"}}
	if diff := cmp.Diff(want, map[string][]string{"Linode": remains("Linode"), "DigitalOcean": remains("DigitalOcean")}); diff != "" {
		t.Error(diff)
	}
	c.Delete(t, fmt.Sprintf("/v4/linode/instances/%d", machine))
	if diff := cmp.Diff([]string{"cluster mara-try", "firewall mara-try-harbor"}, remains("Linode")); diff != "" {
		t.Error(diff)
	}
}

// TestOffers: a cloud names all that it offers, and what nodes of a region can be.
func TestOffers(t *testing.T) {
	t.Parallel()
	all := clients(t, cloudtest.New(t), cloudtest.Token)
	for _, test := range []struct {
		cloud  string
		list   model.List
		region string
		want   []string
	}{
		{"Linode", model.Regions, "", []string{"eu-central", "us-ord"}},
		{"Linode", model.KubernetesVersions, "us-ord", []string{"1.36", "1.35"}},
		{"Linode", model.NodeTypes, "us-ord", []string{"g6-standard-2", "g6-standard-4"}},
		{"Linode", model.NodeTypes, "eu-central", []string{"g6-standard-2"}},
		{"Linode", model.NodeTypes, "", []string{"g6-standard-2", "g6-standard-4"}},
		{"DigitalOcean", model.Regions, "", []string{"fra1", "nyc3"}},
		{"DigitalOcean", model.KubernetesVersions, "", []string{"1.36", "1.35", "1.36.1-do.3", "1.35.2-do.9"}},
		{"DigitalOcean", model.NodeTypes, "nyc3", []string{"s-2vcpu-4gb", "s-4vcpu-8gb"}},
		{"DigitalOcean", model.NodeTypes, "fra1", []string{"s-2vcpu-4gb"}},
		{"DigitalOcean", model.NodeTypes, "nowhere", []string{"s-2vcpu-4gb", "s-4vcpu-8gb"}},
	} {
		var places []string
		if test.region != "" {
			places = []string{test.region}
		}
		got, err := all[test.cloud].(cloud.Catalogue).Offers(t.Context(), test.list, places)
		if diff := cmp.Diff(test.want, got); err != nil || diff != "" {
			t.Errorf("%s of %s in %q: %v %s", test.list, test.cloud, test.region, err, diff)
		}
	}
}

// TestSent: the cloud keeps what clients want it to change.
func TestSent(t *testing.T) {
	t.Parallel()
	c := cloudtest.New(t)
	api := linodego.NewClient(nil)
	api.SetBaseURL(c.URL)
	api.SetToken(cloudtest.Token)
	made, err := api.CreateLKECluster(t.Context(), linodego.LKEClusterCreateOptions{Label: "mara-dev", Region: "us-ord", K8sVersion: "1.36"})
	if err != nil {
		t.Fatal(err)
	}
	if err := api.DeleteLKECluster(t.Context(), made.ID); err != nil {
		t.Fatal(err)
	}
	sent := c.Sent()
	if len(sent) != 1 || sent[0].Method != "POST" || sent[0].Path != "/v4/lke/clusters" || !strings.Contains(string(sent[0].Body), `"label":"mara-dev"`) {
		t.Errorf("sent: %v", sent)
	}
}

// person takes the default of each question, and remembers which questions had a list.
type person struct{ listed []string }

func (p *person) Ask(_ context.Context, q prompt.Question) (string, error) { return q.Default, nil }

func (p *person) Choose(_ context.Context, c prompt.Choice) (string, error) {
	if c.Other { // the cloud's list
		p.listed = append(p.listed, c.Text)
	}
	return c.Default, nil
}

func (p *person) ChooseMany(context.Context, prompt.Choice) ([]string, error) {
	return nil, errors.New("unexpected")
}

// TestFirstRun: what happens to one list of a cloud, with its real client, does not take the other lists
// away; a cloud that is out of reach is asked once.
func TestFirstRun(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name, provider string
		fault          cloudtest.Fault
		listed         []string
		printed        string
	}{
		{"Linode", "linode", cloudtest.Fault{},
			[]string{"Linode region", "Kubernetes version", "Type of the nodes", "Type of the registry's machine"}, "Linode: account E1AF5EEC-526F-487D-B317EBEB34C87D71 as ann\n"},
		{"no regions", "linode", cloudtest.Fault{Path: "/v4/regions", Empty: true},
			[]string{"Kubernetes version", "Type of the nodes", "Type of the registry's machine"},
			"Linode: account E1AF5EEC-526F-487D-B317EBEB34C87D71 as ann\nwarning: the list of regions is empty; there is no list to choose from\n"},
		{"one failure", "linode", cloudtest.Fault{Path: "/v4/lke/versions", Status: 503, Body: "<html>hello"},
			[]string{"Linode region", "Type of the nodes", "Type of the registry's machine"},
			"Linode: account E1AF5EEC-526F-487D-B317EBEB34C87D71 as ann\nwarning: Linode failed: Service Unavailable (503); there is no list to choose from\nhint: try again in a few minutes\n"},
		{"throttled once", "linode", cloudtest.Fault{Path: "/v4/linode/types", Status: 429, RetryAfter: "7", Times: 1},
			[]string{"Linode region", "Kubernetes version", "Type of the registry's machine"},
			"Linode: account E1AF5EEC-526F-487D-B317EBEB34C87D71 as ann\nwarning: Linode refuses: Too Many Requests (429); there is no list to choose from\nhint: try again in 7s\n"},
		{"refused", "linode", cloudtest.Fault{Status: 401}, nil,
			"warning: Linode refuses: Unauthorized (401); there is no list to choose from\nhint: check LINODE_TOKEN\n"},
		{"a page", "linode", cloudtest.Fault{Body: "<html>hello", Status: 200}, nil,
			"warning: Linode gave no answer: it is a page instead of JSON, perhaps of a proxy; there is no list to choose from\nhint: check the network and its proxy\n"},
		{"DigitalOcean", "digitalocean", cloudtest.Fault{},
			[]string{"DigitalOcean region", "Kubernetes version", "Size of the nodes"}, "DigitalOcean: ann@example.com\n"},
		{"DigitalOcean without prices", "digitalocean", cloudtest.Fault{Path: "/v2/sizes", Status: 500},
			[]string{"DigitalOcean region", "Kubernetes version"},
			"DigitalOcean: ann@example.com\nwarning: DigitalOcean failed: Internal Server Error (500); there is no list to choose from\nhint: try again in a few minutes\n"},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			c := cloudtest.New(t)
			c.Set(t, test.fault)
			p, err := providers.ByName(test.provider)
			if err != nil {
				t.Fatal(err)
			}
			file, err := config.ParseStack("f", nil)
			if err != nil {
				t.Fatal(err)
			}
			asker, printed := &person{}, &bytes.Buffer{}
			all := clients(t, c, cloudtest.Token)
			w := wizard.Wizard{First: true, Asker: asker, Out: printed, Clouds: func(context.Context, string, cloud.Access) (cloud.Client, error) {
				return all[p.Title], nil
			}}
			if _, err := w.Begin(p, file).Complete(t.Context()); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(test.listed, asker.listed); diff != "" {
				t.Error(diff)
			}
			if diff := cmp.Diff(test.printed, printed.String()); diff != "" {
				t.Error(diff)
			}
			if asked := c.Asked(); test.name == "a page" && len(asked) != 1 { // for the account
				t.Errorf("asked for %q", asked)
			}
		})
	}
}
