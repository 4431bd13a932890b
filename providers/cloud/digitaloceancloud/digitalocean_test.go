package digitaloceancloud_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"mara/projects/model"
	"mara/projects/model/cloud"
	"mara/providers/cloud/digitaloceancloud"
)

func client(t *testing.T, token string, handler http.HandlerFunc) cloud.Client {
	t.Helper()
	server := httptest.NewServer(handler)
	t.Cleanup(server.Close)
	c, err := digitaloceancloud.New(t.Context(), cloud.Access{Env: map[string]string{"DIGITALOCEAN_API_URL": server.URL, "DIGITALOCEAN_TOKEN": token}})
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// answers maps paths to a server's responses.
func answers(t *testing.T, of map[string]string) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Authorization") != "Bearer example" {
			t.Errorf("credentials: %q", r.Header.Get("Authorization"))
		}
		answer, ok := of[r.URL.Path]
		if !ok {
			t.Errorf("unexpected question for %s", r.URL)
		}
		w.Header().Set("Content-Type", "application/json")
		fmt.Fprint(w, answer)
	}
}

func TestProxyOfTheEnvironmentFile(t *testing.T) {
	t.Parallel()
	asked := ""
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked = r.URL.String()
		fmt.Fprint(w, `{"account": {"email": "ann@example.com"}}`)
	}))
	t.Cleanup(server.Close)
	c, err := digitaloceancloud.New(t.Context(), cloud.Access{Env: map[string]string{
		"DIGITALOCEAN_API_URL": "http://digitalocean.invalid", "DIGITALOCEAN_TOKEN": "example", "HTTP_PROXY": server.URL,
	}})
	if err != nil {
		t.Fatal(err)
	}
	account, err := c.Account(t.Context())
	if err != nil || account.Name != "ann@example.com" || asked != "http://digitalocean.invalid/v2/account" {
		t.Errorf("account %s, %v; the proxy was asked for %q", account, err, asked)
	}
}

func TestDigitalOcean(t *testing.T) {
	t.Parallel()
	c := client(t, "example", answers(t, map[string]string{
		"/v2/account": `{"account": {"email": "ann@example.com", "team": {"name": "Platform"}}}`,
		"/v2/kubernetes/options": `{"options": {
			"regions": [{"name": "New York 3", "slug": "nyc3"}, {"name": "Frankfurt 1", "slug": "fra1"}],
			"versions": [{"slug": "1.9.9-do.0"}, {"slug": "1.35.2-do.10"}, {"slug": "1.36.1-do.3"}, {"slug": "1.35.2-do.9"}, {"slug": "odd"}],
			"sizes": [{"slug": "s-4vcpu-8gb"}, {"slug": "s-2vcpu-4gb"}, {"slug": "s-1vcpu-2gb"}, {"slug": "full"}, {"slug": "gpu"}]}}`,
		"/v2/sizes": `{"sizes": [
			{"slug": "s-1vcpu-2gb", "memory": 2048, "vcpus": 1, "price_monthly": 12, "available": true},
			{"slug": "s-4vcpu-8gb", "memory": 8192, "vcpus": 4, "price_monthly": 48, "available": true},
			{"slug": "s-2vcpu-4gb", "memory": 4096, "vcpus": 2, "price_monthly": 24, "available": true},
			{"slug": "full", "memory": 8192, "vcpus": 4, "price_monthly": 40},
			{"slug": "gpu", "memory": 8192, "vcpus": 4, "price_monthly": 40, "available": true, "gpu_info": {"count": 1}},
			{"slug": "not-for-clusters", "memory": 8192, "vcpus": 4, "price_monthly": 40, "available": true}]}`,
	}))
	if account, err := c.Account(t.Context()); err != nil || account.String() != "account Platform as ann@example.com" {
		t.Errorf("got %s, %v", account, err)
	}
	for list, want := range map[model.List][]cloud.Choice{
		model.Regions:            {{Value: "fra1", Note: "Frankfurt 1"}, {Value: "nyc3", Note: "New York 3"}},
		model.KubernetesVersions: {{Value: "1.36", Note: "now 1.36.1-do.3"}, {Value: "1.35", Note: "now 1.35.2-do.10"}, {Value: "1.9", Note: "now 1.9.9-do.0"}},
		model.NodeTypes:          {{Value: "s-2vcpu-4gb", Note: "2 CPUs, 4 GB, $24 a month"}, {Value: "s-4vcpu-8gb", Note: "4 CPUs, 8 GB, $48 a month"}},
	} {
		got, err := c.Choices(t.Context(), list)
		if diff := cmp.Diff(want, got); err != nil || diff != "" {
			t.Errorf("%s: %v %s", list, err, diff)
		}
	}
}

func TestNoAnswer(t *testing.T) {
	t.Parallel()
	refuse := func(status int, answer string) http.HandlerFunc {
		return func(w http.ResponseWriter, _ *http.Request) {
			w.WriteHeader(status)
			fmt.Fprint(w, answer)
		}
	}
	for _, tt := range []struct {
		name, token string
		handler     http.HandlerFunc
		text, next  string
		unsure      bool
	}{
		{"no token", "", nil, "there is no DigitalOcean token", "set DIGITALOCEAN_TOKEN", false},
		{"bad token", "x", refuse(401, `{"id": "Unauthorized", "message": "Unable to authenticate you"}`), "DigitalOcean refuses: Unable to authenticate you (401)", "check DIGITALOCEAN_TOKEN", false},
		{"a token for something else", "x", refuse(403, `{"message": "You are not authorized"}`), "DigitalOcean refuses: You are not authorized (403)", "give the token the scopes", false},
		{"throttled", "x", refuse(429, `{"message": "API Rate limit exceeded."}`), "DigitalOcean refuses: API Rate limit exceeded. (429)", "try again in a minute", true},
		{"in trouble", "x", refuse(502, "<html>Hello"), "DigitalOcean failed: Bad Gateway (502)", "try again in a few minutes", true},
		{"asks to wait", "x", func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Retry-After", "7")
			w.WriteHeader(503)
		}, "DigitalOcean failed: Service Unavailable (503)", "try again in 7s", true},
		{"malformed", "x", refuse(200, "<html>Hello"), "DigitalOcean gave no answer: ", "check the network and its proxy", true},
		{"sent elsewhere", "x", func(w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, "http://elsewhere.invalid/", http.StatusFound)
		}, "DigitalOcean refuses: Found (302)", "", true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			c := client(t, tt.token, tt.handler)
			_, err := c.Account(t.Context())
			var reported *cloud.Error
			if !errors.As(err, &reported) || !strings.HasPrefix(reported.Text, tt.text) || !strings.HasPrefix(reported.Next, tt.next) || reported.Unsure != tt.unsure {
				t.Errorf("got %#v", err)
			}
			if _, err := c.Choices(t.Context(), model.Regions); !errors.As(err, &reported) || !strings.HasPrefix(reported.Text, tt.text) {
				t.Errorf("choices: got %#v", err)
			}
		})
	}
}

// TestTokenForClustersOnly: such a token is valid, though it may not read the account; the
// answer also has the time.
func TestTokenForClustersOnly(t *testing.T) {
	t.Parallel()
	c := client(t, "x", func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Date", time.Now().Add(time.Hour).UTC().Format(http.TimeFormat))
		if r.URL.Path == "/v2/kubernetes/clusters" {
			fmt.Fprint(w, `{"kubernetes_clusters": []}`)
			return
		}
		w.WriteHeader(http.StatusForbidden)
	})
	account, err := c.Account(t.Context())
	if err != nil || account.Name == "" || account.ClockAhead.Round(time.Minute) != -time.Hour {
		t.Errorf("got %+v, %v", account, err)
	}
}

func TestLate(t *testing.T) {
	t.Parallel()
	c := client(t, "x", func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() })
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	if _, err := c.Choices(ctx, model.Regions); err == nil || err.Error() != "DigitalOcean did not answer in time" {
		t.Errorf("got %v", err)
	}
}

func TestRemains(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name, registries string
		want             []string
	}{
		{"a cluster and a registry", `{"registries": [{"name": "mara-try-1a2b3c4"}, {"name": "mara-try-another"}, {"name": "example"}]}`, []string{"cluster mara-try", "registry mara-try-1a2b3c4"}},
		{"an account without a registry", "", []string{"cluster mara-try"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			c := client(t, "example", func(w http.ResponseWriter, r *http.Request) {
				switch page := r.URL.Query().Get("page"); {
				case r.URL.Path == "/v2/registries" && tt.registries == "":
					w.WriteHeader(http.StatusNotFound)
				case r.URL.Path == "/v2/registries":
					fmt.Fprint(w, tt.registries)
				case r.URL.Path == "/v2/kubernetes/clusters" && page == "1":
					fmt.Fprint(w, `{"kubernetes_clusters": [{"name": "mara-tryout"}], "links": {"pages": {"next": "https://x.invalid/?page=2", "last": "https://x.invalid/?page=2"}}}`)
				case r.URL.Path == "/v2/kubernetes/clusters" && page == "2":
					fmt.Fprint(w, `{"kubernetes_clusters": [{"name": "mara-try"}], "links": {"pages": {"prev": "https://x.invalid/?page=1"}}}`)
				default:
					t.Errorf("unexpected question for %s", r.URL)
				}
			})
			left, err := c.(cloud.Inventory).Remains(t.Context(), "try")
			if diff := cmp.Diff(tt.want, left); err != nil || diff != "" {
				t.Errorf("remains (-want +got):\n%s\nerror %v", diff, err)
			}
		})
	}
}
