// Package cloudtest serves small clouds for tests: what the runner itself asks of Linode and
// DigitalOcean, with the resources that a test has put there. Faults are set at a control address, so
// that a test of a program can set them as well. Its clouds know nothing of networks and machines.
package cloudtest

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
)

// Token is the only token that the clouds accept.
const Token = "example-of-a-token-of-a-cloud"

// Control is the path of the control address: a PUT sets the Fault in its body, a DELETE removes all
// faults.
const Control = "/control"

// Fault is what the clouds do instead of answering.
type Fault struct {
	Path       string        `json:"path"`        // of the requests that it meets; a prefix, "" for all
	Status     int           `json:"status"`      // 0 for the usual answer
	Body       string        `json:"body"`        // "" for an error as the cloud writes it; HTML is served as such
	RetryAfter string        `json:"retry_after"` // the header; "" for none
	Delay      time.Duration `json:"delay"`       // before the answer
	Empty      bool          `json:"empty"`       // lists are empty
	Times      int           `json:"times"`       // how often it is met; 0 for always
}

// Cloud is a running server of all clouds.
type Cloud struct {
	URL string

	mu        sync.Mutex // holds what follows
	faults    []*Fault
	resources map[string][]map[string]any // by the path of their list
	asked     []string                    // methods and paths
	sent      []Request                   // that have a body
	nextID    int

	readyAfter time.Duration       // of a new cluster
	made       map[string]*cluster // of Linode, by ID
	events     []object            // of Linode: nodes that were deleted

	api *httptest.Server // of all clusters
}

// New starts a server, which ends with the test.
func New(t *testing.T) *Cloud {
	t.Helper()
	c := &Cloud{resources: map[string][]map[string]any{}, made: map[string]*cluster{}}
	server := httptest.NewServer(http.HandlerFunc(c.serve))
	t.Cleanup(server.Close)
	c.api = httptest.NewUnstartedServer(http.HandlerFunc(c.serveAPI))
	c.api.Config.ErrorLog = log.New(io.Discard, "", 0) // of requests that clients give up
	c.api.StartTLS()
	t.Cleanup(c.api.Close)
	c.URL = server.URL
	return c
}

// Env returns the variables with which the clients of all clouds ask this server.
func (c *Cloud) Env() []string {
	return []string{
		"LINODE_URL=" + c.URL, "LINODE_TOKEN=" + Token, "DIGITALOCEAN_API_URL=" + c.URL, "DIGITALOCEAN_TOKEN=" + Token,
	}
}

// Set sets a fault at the control address.
func (c *Cloud) Set(t *testing.T, fault Fault) {
	t.Helper()
	body, err := json.Marshal(fault)
	if err != nil {
		t.Fatal(err)
	}
	c.request(t, http.MethodPut, Control, body)
}

// Clear removes all faults at the control address.
func (c *Cloud) Clear(t *testing.T) {
	t.Helper()
	c.request(t, http.MethodDelete, Control, nil)
}

// Delete deletes a resource by its path.
func (c *Cloud) Delete(t *testing.T, path string) {
	t.Helper()
	c.request(t, http.MethodDelete, path, nil)
}

// request sends a request that has no content as its answer.
func (c *Cloud) request(t *testing.T, method, path string, body []byte) {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), method, c.URL+path, bytes.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Authorization", "Bearer "+Token)
	response, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	if response.StatusCode != http.StatusNoContent {
		t.Fatalf("%s %s: %s", method, path, response.Status)
	}
}

// Asked returns the requests since the last call, without those to the control address.
func (c *Cloud) Asked() []string {
	c.mu.Lock()
	defer c.mu.Unlock()
	asked := c.asked
	c.asked = nil
	return asked
}

// Request is a request with a body.
type Request struct {
	Method string          `json:"method"`
	Path   string          `json:"path"`
	Body   json.RawMessage `json:"body"`
}

// Sent returns all requests with a body.
func (c *Cloud) Sent() []Request {
	c.mu.Lock()
	defer c.mu.Unlock()
	return slices.Clone(c.sent)
}

// keep keeps a request with a body, which can still be read.
func (c *Cloud) keep(r *http.Request) {
	body, err := io.ReadAll(r.Body)
	r.Body = io.NopCloser(bytes.NewReader(body))
	if err != nil || len(body) == 0 || !json.Valid(body) {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.sent = append(c.sent, Request{r.Method, r.URL.Path, body})
}

// Add puts a resource into a list, such as /v4/lke/clusters, and returns its ID.
func (c *Cloud) Add(list string, resource map[string]any) int {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.nextID++
	resource["id"] = c.nextID
	if strings.HasPrefix(list, "/v2/") {
		resource["id"] = fmt.Sprint(c.nextID)
	}
	c.resources[list] = append(c.resources[list], resource)
	return c.nextID
}

// serve answers a request to the control address or to a cloud.
func (c *Cloud) serve(w http.ResponseWriter, r *http.Request) {
	if r.URL.Path == Control {
		c.serveControl(w, r)
		return
	}
	c.keep(r)
	fault := c.meet(r)
	select {
	case <-time.After(fault.Delay):
	case <-r.Context().Done():
		return
	}
	kind := "application/json"
	if strings.HasPrefix(fault.Body, "<") {
		kind = "text/html"
	}
	w.Header().Set("Content-Type", kind)
	if fault.RetryAfter != "" {
		w.Header().Set("Retry-After", fault.RetryAfter)
	}
	status, answer := fault.Status, json.RawMessage(nil)
	switch {
	case status != 0:
	case r.Header.Get("Authorization") != "Bearer "+Token:
		status = http.StatusUnauthorized
	default:
		status, answer = c.answer(r, fault.Empty)
	}
	w.WriteHeader(status)
	switch {
	case fault.Body != "":
		fmt.Fprint(w, fault.Body)
	case status >= http.StatusBadRequest:
		_ = json.NewEncoder(w).Encode(failure(r, status))
	case status != http.StatusNoContent:
		_ = json.NewEncoder(w).Encode(answer)
	}
}

func (c *Cloud) serveControl(w http.ResponseWriter, r *http.Request) {
	c.mu.Lock()
	defer c.mu.Unlock()
	fault := &Fault{}
	switch {
	case r.Method == http.MethodDelete:
		c.faults = nil
	case r.Method != http.MethodPut:
		w.WriteHeader(http.StatusMethodNotAllowed)
		return
	case json.NewDecoder(r.Body).Decode(fault) != nil:
		w.WriteHeader(http.StatusBadRequest)
		return
	default:
		c.faults = append(c.faults, fault)
	}
	w.WriteHeader(http.StatusNoContent)
}

// meet records a request, and returns the fault that it meets, if any.
func (c *Cloud) meet(r *http.Request) Fault {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.asked = append(c.asked, r.Method+" "+r.URL.Path)
	for i, fault := range c.faults {
		if !strings.HasPrefix(r.URL.Path, fault.Path) {
			continue
		}
		met := *fault
		if fault.Times--; fault.Times == 0 {
			c.faults = slices.Delete(c.faults, i, i+1)
		}
		return met
	}
	return Fault{}
}

// failure returns an error as the cloud writes it.
func failure(r *http.Request, status int) any {
	if strings.HasPrefix(r.URL.Path, "/v4/") {
		return map[string]any{"errors": []any{map[string]any{"reason": http.StatusText(status)}}}
	}
	return map[string]any{"id": "failed", "message": http.StatusText(status)}
}

// answer returns what a cloud answers, in JSON.
func (c *Cloud) answer(r *http.Request, empty bool) (status int, content json.RawMessage) {
	c.mu.Lock()
	defer c.mu.Unlock()
	status, answer := c.find(r, empty)
	content, err := json.Marshal(answer)
	if err != nil {
		return http.StatusInternalServerError, nil
	}
	return status, content
}

// find returns what a cloud answers, which others may change.
func (c *Cloud) find(r *http.Request, empty bool) (status int, answer any) {
	path := r.URL.Path
	if status, answer, ok := c.cluster(r); ok {
		return status, answer
	}
	if r.Method == http.MethodDelete {
		list, id := path[:strings.LastIndex(path, "/")], path[strings.LastIndex(path, "/")+1:]
		before := len(c.resources[list])
		c.resources[list] = slices.DeleteFunc(c.resources[list], func(resource map[string]any) bool {
			return fmt.Sprint(resource["id"]) == id
		})
		if len(c.resources[list]) == before {
			return http.StatusNotFound, nil
		}
		return http.StatusNoContent, nil
	}
	if strings.HasPrefix(path, "/v4/") {
		return c.linode(path, empty)
	}
	return c.digitalOcean(path, empty)
}

// linode returns an answer of Linode: a list is one page.
func (c *Cloud) linode(path string, empty bool) (status int, answer any) {
	var data []object
	switch path {
	case "/v4/profile":
		return http.StatusOK, object{"username": "ann"}
	case "/v4/account":
		return http.StatusOK, object{"euuid": "E1AF5EEC-526F-487D-B317EBEB34C87D71"}
	case "/v4/regions":
		data = []object{
			{"id": "us-ord", "label": "Chicago, IL", "status": "ok", "capabilities": []string{"Kubernetes"}},
			{"id": "eu-central", "label": "Frankfurt, DE", "status": "ok", "capabilities": []string{"Kubernetes"}},
		}
	case "/v4/regions/availability": // what one region lacks
		data = []object{{"region": "eu-central", "plan": "g6-standard-4", "available": false}}
	case "/v4/lke/versions":
		data = []object{{"id": "1.36"}, {"id": "1.35"}}
	case "/v4/linode/types":
		data = []object{
			{"id": "g6-standard-2", "class": "standard", "memory": 4096, "vcpus": 2},
			{"id": "g6-standard-4", "class": "standard", "memory": 8192, "vcpus": 4},
		}
	case "/v4/account/events":
		data = c.events
	case "/v4/lke/clusters", "/v4/linode/instances", "/v4/networking/firewalls":
		data = c.resources[path]
	default:
		return http.StatusNotFound, nil
	}
	if empty {
		data = nil
	}
	return http.StatusOK, page(data)
}

// digitalOcean returns an answer of DigitalOcean: a list is one page.
func (c *Cloud) digitalOcean(path string, empty bool) (status int, answer any) {
	list := func(of ...object) []object {
		if empty || of == nil {
			return []object{}
		}
		return of
	}
	switch path {
	case "/v2/account":
		return http.StatusOK, object{"account": object{"email": "ann@example.com"}}
	case "/v2/kubernetes/options":
		return http.StatusOK, object{"options": object{
			"regions":  list(object{"name": "New York 3", "slug": "nyc3"}, object{"name": "Frankfurt 1", "slug": "fra1"}),
			"versions": list(object{"slug": "1.36.1-do.3"}, object{"slug": "1.35.2-do.9"}),
			"sizes":    list(object{"slug": "s-2vcpu-4gb"}, object{"slug": "s-4vcpu-8gb"}),
		}}
	case "/v2/sizes":
		small := object{"slug": "s-2vcpu-4gb", "memory": 4096, "vcpus": 2, "price_monthly": 24, "available": true,
			"regions": []string{"nyc3", "fra1"}}
		large := object{"slug": "s-4vcpu-8gb", "memory": 8192, "vcpus": 4, "price_monthly": 48, "available": true,
			"regions": []string{"nyc3"}}
		return http.StatusOK, object{"sizes": list(small, large)}
	case "/v2/kubernetes/clusters":
		return http.StatusOK, object{"kubernetes_clusters": list(c.resources[path]...)}
	case "/v2/registries":
		return http.StatusOK, object{"registries": list(c.resources[path]...)}
	}
	return http.StatusNotFound, nil
}
