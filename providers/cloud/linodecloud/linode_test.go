package linodecloud_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"mara/projects"
	"mara/projects/model"
	"mara/projects/model/cloud"
	"mara/projects/naming"
	"mara/providers/cloud/linodecloud"
)

func client(t *testing.T, token string, handler http.HandlerFunc) cloud.Client {
	t.Helper()
	server := httptest.NewServer(handler)
	t.Cleanup(server.Close)
	c, err := linodecloud.New(t.Context(), cloud.Access{Env: map[string]string{"LINODE_URL": server.URL, "LINODE_TOKEN": token}})
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// TestProxyOfTheEnvironmentFile: the stand-in is the proxy; where the question
// goes is nowhere.
func TestProxyOfTheEnvironmentFile(t *testing.T) {
	t.Parallel()
	asked := ""
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked = r.URL.String()
		w.Header().Set("Content-Type", "application/json")
		fmt.Fprint(w, `{"username": "ann"}`)
	}))
	t.Cleanup(server.Close)
	c, err := linodecloud.New(t.Context(), cloud.Access{Env: map[string]string{
		"LINODE_URL": "http://linode.invalid", "LINODE_TOKEN": "example", "HTTP_PROXY": server.URL,
	}})
	if err != nil {
		t.Fatal(err)
	}
	account, err := c.Account(t.Context())
	if err != nil || account.Name != "ann" || !strings.HasPrefix(asked, "http://linode.invalid/") {
		t.Errorf("account %s, %v; the proxy was asked for %q", account, err, asked)
	}
}

func TestLinode(t *testing.T) {
	t.Parallel()
	c := client(t, "example", func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Authorization") != "Bearer example" {
			t.Errorf("credentials: %q", r.Header.Get("Authorization"))
		}
		_, path, _ := strings.Cut(r.URL.Path, "/v4")
		data, ok := map[string]string{
			"/regions": `{"id": "us-ord", "label": "Chicago, IL", "status": "ok", "capabilities": ["Linodes", "Kubernetes"]},
				{"id": "eu-central", "label": "Frankfurt, DE", "status": "ok", "capabilities": ["Kubernetes"]},
				{"id": "no-lke", "label": "x", "status": "ok", "capabilities": ["Linodes"]}`,
			"/lke/versions": `{"id": "1.9"}, {"id": "1.35"}, {"id": "1.36"}`,
			"/linode/types": `{"id": "g6-nanode-1", "class": "nanode", "memory": 1024, "vcpus": 1},
				{"id": "g6-standard-4", "class": "standard", "memory": 8192, "vcpus": 4, "price": {"monthly": 48}},
				{"id": "g6-standard-1", "class": "standard", "memory": 2048, "vcpus": 1}`,
		}[path]
		w.Header().Set("Content-Type", "application/json")
		switch {
		case path == "/profile":
			fmt.Fprint(w, `{"username": "ann"}`)
		case path == "/account":
			fmt.Fprint(w, `{"euuid": "E1AF5EEC"}`)
		case !ok:
			t.Errorf("unexpected call %s", r.URL)
		default:
			fmt.Fprintf(w, `{"data": [%s], "page": 1, "pages": 1, "results": 1}`, data)
		}
	})
	if account, err := c.Account(t.Context()); err != nil || account.String() != "account E1AF5EEC as ann" {
		t.Errorf("got %s, %v", account, err)
	}
	for list, want := range map[model.List][]cloud.Choice{
		model.Regions:            {{Value: "eu-central", Note: "Frankfurt, DE"}, {Value: "us-ord", Note: "Chicago, IL"}},
		model.KubernetesVersions: {{Value: "1.36"}, {Value: "1.35"}, {Value: "1.9"}},
		model.NodeTypes:          {{Value: "g6-standard-4", Note: "4 CPUs, 8 GB, $48 a month"}},
	} {
		got, err := c.Choices(t.Context(), list)
		if diff := cmp.Diff(want, got); err != nil || diff != "" {
			t.Errorf("%s: %v %s", list, err, diff)
		}
	}
}

func TestNoAnswer(t *testing.T) {
	t.Parallel()
	refuse := func(status int, reason string) http.HandlerFunc {
		return func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "application/json")
			w.WriteHeader(status)
			fmt.Fprintf(w, `{"errors": [{"reason": %q}]}`, reason)
		}
	}
	for _, tt := range []struct {
		name, token string
		handler     http.HandlerFunc
		text, next  string
		unsure      bool
	}{
		{"no token", "", nil, "there is no Linode token", "set LINODE_TOKEN", false},
		{"bad token", "x", refuse(401, "Invalid Token"), "Linode refuses: Invalid Token (401)", "check LINODE_TOKEN", false},
		{"throttled", "x", refuse(429, "Too many requests"), "Linode refuses: Too many requests (429)", "try again in a minute", true},
		{"in trouble", "x", refuse(500, "Internal Server Error"), "Linode failed: Internal Server Error (500)", "try again in a few minutes", true},
		{"in trouble with a page", "x", func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "text/html")
			w.WriteHeader(503)
			fmt.Fprint(w, "<html>Hello")
		}, "Linode failed: Service Unavailable (503)", "try again in a few minutes", true},
		{"asks to wait", "x", func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Retry-After", "7")
			refuse(429, "Too many requests")(w, r)
		}, "Linode refuses: Too many requests (429)", "try again in 7s", true},
		{"malformed", "x", func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "application/json")
			fmt.Fprint(w, "<html>Hello")
		}, "Linode gave no answer: ", "check the network and its proxy", true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			_, err := client(t, tt.token, tt.handler).Account(t.Context())
			var reported *cloud.Error
			if !errors.As(err, &reported) || !strings.HasPrefix(reported.Text, tt.text) || reported.Next != tt.next || reported.Unsure != tt.unsure {
				t.Errorf("got %#v", err)
			}
		})
	}
}

// TestTokenForClustersOnly: such a token is valid, though it may not read profiles; the answer
// also has the time.
func TestTokenForClustersOnly(t *testing.T) {
	t.Parallel()
	c := client(t, "x", func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		w.Header().Set("Date", time.Now().Add(time.Hour).UTC().Format(http.TimeFormat))
		if strings.HasSuffix(r.URL.Path, "/lke/clusters") {
			fmt.Fprint(w, `{"data": [], "page": 1, "pages": 1, "results": 0}`)
			return
		}
		w.WriteHeader(http.StatusUnauthorized)
		fmt.Fprint(w, `{"errors": [{"reason": "Your OAuth token is not authorized to use this endpoint."}]}`)
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
	if _, err := c.Choices(ctx, model.Regions); err == nil || err.Error() != "Linode did not answer in time" {
		t.Errorf("got %v", err)
	}
}

// TestRemains looks for the labels that the programs give, also where they are
// shortened: a cluster's would be "mara-" and 49 characters.
func TestRemains(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("x", 49)
	for stack, labels := range map[string][2]string{
		"try": {"mara-try", "mara-try-harbor"},
		long:  {naming.Environment(long, "", projects.LinodeLimit), naming.Environment(long, "harbor", projects.LinodeLimit)},
	} {
		page := func(items string) string { return `{"page": 1, "pages": 1, "results": 2, "data": [` + items + `]}` }
		answers := map[string]string{
			"/lke/clusters":         page(fmt.Sprintf(`{"id": 1, "label": %q}, {"id": 2, "label": "mara-tryout"}`, labels[0])),
			"/linode/instances":     page(fmt.Sprintf(`{"id": 3, "label": %q}`, labels[1])),
			"/networking/firewalls": page(``),
		}
		c := client(t, "example", func(w http.ResponseWriter, r *http.Request) {
			_, path, _ := strings.Cut(r.URL.Path, "/v4")
			answer, ok := answers[strings.TrimPrefix(path, "beta")]
			if !ok {
				t.Errorf("unexpected question for %s", path)
			}
			if filter := r.Header.Get("X-Filter"); !strings.Contains(filter, strconv.Quote(labels[0])) || !strings.Contains(filter, strconv.Quote(labels[1])) {
				t.Errorf("%s is asked with the filter %s", path, filter)
			}
			w.Header().Set("Content-Type", "application/json")
			fmt.Fprint(w, answer)
		})
		left, err := c.(cloud.Inventory).Remains(t.Context(), stack)
		if diff := cmp.Diff([]string{"cluster " + labels[0], "machine " + labels[1]}, left); err != nil || diff != "" {
			t.Errorf("remains (-want +got):\n%s\nerror %v", diff, err)
		}
		located, err := c.(cloud.Locator).Locate(t.Context(), stack)
		want := []cloud.Resource{
			{Type: "linode:index/lkeCluster:LkeCluster", ID: "1", Name: labels[0]}, {Type: "linode:index/instance:Instance", ID: "3", Name: labels[1]},
		}
		if diff := cmp.Diff(want, located.Resources); err != nil || diff != "" || len(located.Types) != 3 {
			t.Errorf("located (-want +got):\n%s\n%v, error %v", diff, located.Types, err)
		}
	}
}
