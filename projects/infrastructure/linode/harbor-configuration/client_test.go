package harborconfiguration

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

const (
	user     = "admin"
	password = "harbor-password"
)

// harbor is a stand-in for Harbor's API. It fails on what it does not know.
type harbor struct {
	*httptest.Server
	t *testing.T

	mu       sync.Mutex      // guards what follows
	illFor   int             // health questions that it still answers with what is wrong
	public   map[string]bool // projects
	requests []string        // other than for its health
}

func newHarbor(t *testing.T, illFor int, public map[string]bool) *harbor {
	t.Helper()
	h := &harbor{t: t, illFor: illFor, public: public}
	h.Server = httptest.NewTLSServer(h)
	t.Cleanup(h.Close)
	return h
}

// client makes a client that trusts the stand-in's certificate.
func (h *harbor) client(password string) *client {
	return &client{base: h.URL, user: user, password: password, http: h.Client()}
}

func (h *harbor) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	h.mu.Lock()
	defer h.mu.Unlock()
	path := strings.TrimPrefix(r.URL.Path, "/api/v2.0/")
	if path == "health" {
		h.health(w, r)
		return
	}
	h.requests = append(h.requests, r.Method+" "+path)
	if name, secret, _ := r.BasicAuth(); name != user || secret != password {
		w.WriteHeader(http.StatusUnauthorized)
		return
	}
	h.project(w, r, strings.Split(strings.TrimPrefix(path, "projects"), "/"))
}

func (h *harbor) health(w http.ResponseWriter, r *http.Request) {
	if _, _, sent := r.BasicAuth(); sent {
		h.t.Error("the password is sent to ask for Harbor's health")
	}
	if h.illFor == 0 {
		fmt.Fprint(w, `{"status": "healthy", "components": [{"name": "core", "status": "healthy"}]}`)
		return
	}
	h.illFor--
	fmt.Fprint(w, `{"status": "unhealthy", "components": [
		{"name": "core", "status": "healthy"}, {"name": "database", "status": "unhealthy"}]}`)
}

// project answers for projects/NAME[/metadatas/public].
func (h *harbor) project(w http.ResponseWriter, r *http.Request, path []string) {
	var body struct {
		Public   string
		Name     string `json:"project_name"`
		Metadata struct{ Public string }
	}
	if r.Method != http.MethodGet {
		if err := json.NewDecoder(r.Body).Decode(&body); err != nil {
			h.t.Errorf("%s %s: %v", r.Method, r.URL, err)
		}
	}
	switch {
	case r.Method == http.MethodPost && len(path) == 1:
		h.public[body.Name] = body.Metadata.Public != "false"
		w.WriteHeader(http.StatusCreated)
	case r.Method == http.MethodPut && len(path) == 4:
		h.public[path[1]] = body.Public != "false"
	case r.Method == http.MethodGet && len(path) == 2:
		public, ok := h.public[path[1]]
		if !ok {
			w.WriteHeader(http.StatusNotFound)
			return
		}
		fmt.Fprintf(w, `{"metadata": {"public": "%v"}}`, public)
	default:
		h.t.Errorf("unexpected request: %s %s", r.Method, r.URL)
	}
}

// quiet drops messages.
func quiet(string) {}

func TestWait(t *testing.T) {
	t.Parallel()
	registry := newHarbor(t, 3, nil)
	var said []string
	err := registry.client(password).wait(context.Background(), time.Minute, time.Millisecond,
		func(message string) { said = append(said, message) })
	if err != nil {
		t.Fatal(err)
	}
	want := []string{"waiting up to 1m0s for Harbor at " + registry.URL + ": not healthy yet: database"}
	if diff := cmp.Diff(want, said); diff != "" {
		t.Errorf("said (-want +got):\n%s", diff)
	}
}

func TestWaitIsBounded(t *testing.T) {
	t.Parallel()
	registry := newHarbor(t, -1, nil) // never healthy
	err := registry.client(password).wait(context.Background(), 50*time.Millisecond, time.Millisecond, quiet)
	want := "was not healthy within 50ms (not healthy yet: database): run again, or raise harbor:ready_timeout"
	if err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("error %v, want one that says %q", err, want)
	}
}

func TestWaitCanBeCancelled(t *testing.T) {
	t.Parallel()
	registry := newHarbor(t, -1, nil)
	stop := errors.New("stopped by the user")
	ctx, cancel := context.WithCancelCause(context.Background())
	err := registry.client(password).wait(ctx, 10*time.Second, time.Millisecond, func(string) { cancel(stop) })
	if !errors.Is(err, stop) {
		t.Errorf("error %v, want the cause of the cancellation", err)
	}
}

func TestWaitForAMachineThatDoesNotAnswer(t *testing.T) {
	t.Parallel()
	registry := newHarbor(t, 0, nil)
	registry.Close()
	err := registry.client(password).wait(context.Background(), 20*time.Millisecond, time.Millisecond, quiet)
	if err == nil || !strings.Contains(err.Error(), "connection refused") {
		t.Errorf("error %v, want one with the reason", err)
	}
}

func TestMakePrivate(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name   string
		public map[string]bool
		want   []string
	}{
		{
			name:   "a public project",
			public: map[string]bool{"library": true},
			want:   []string{"GET projects/library", "PUT projects/library/metadatas/public"},
		},
		{
			name:   "a private project",
			public: map[string]bool{"library": false},
			want:   []string{"GET projects/library"},
		},
		{
			name:   "no project",
			public: map[string]bool{},
			want:   []string{"GET projects/library", "POST projects"},
		},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			registry := newHarbor(t, 0, test.public)
			if err := registry.client(password).makePrivate(context.Background(), "library", quiet); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(test.want, registry.requests); diff != "" {
				t.Errorf("requests (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(map[string]bool{"library": false}, registry.public); diff != "" {
				t.Errorf("projects (-want +got):\n%s", diff)
			}
		})
	}
}

func TestWrongPassword(t *testing.T) {
	t.Parallel()
	registry := newHarbor(t, 0, map[string]bool{"library": true})
	err := registry.client("another-password").makePrivate(context.Background(), "library", quiet)
	if err == nil || !strings.Contains(err.Error(), `refuses the login of "admin"`) {
		t.Errorf("error %v, want one that says that the login is refused", err)
	}
	if strings.Contains(fmt.Sprint(err), "another-password") {
		t.Errorf("the error tells the password: %v", err)
	}
}

func TestUnknownAnswer(t *testing.T) {
	t.Parallel()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(http.StatusTeapot)
	}))
	t.Cleanup(server.Close)
	c := &client{base: server.URL, http: server.Client()}
	if got := c.unhealthy(context.Background()); got != "it answers 418 I'm a teapot" {
		t.Errorf("not healthy because %q", got)
	}
	err := c.makePrivate(context.Background(), "library", quiet)
	if err == nil || !strings.Contains(err.Error(), "answers 418 I'm a teapot to GET projects/library") {
		t.Errorf("error %v, want one with the answer", err)
	}
}
