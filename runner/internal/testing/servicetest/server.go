// Package servicetest serves for tests what Pulumi's client asks of Pulumi Cloud: users, organizations, stacks with
// their tags, encryption with a key of each stack, updates with leases, checkpoints in each of their forms, events, and
// the environments of Pulumi ESC. It is written from the types of Pulumi's own client. Faults are set at a control
// address, and all requests are counted there, so that a test of a program can do both.
package servicetest

import (
	"compress/gzip"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/pulumi/pulumi/sdk/v3/go/common/apitype"
)

// Token is the access token of the first user.
const Token = "pul-example-of-an-access-token"

// User is the login of the first user, who is a member of Organization.
const User = "alice"

// Organization is the default organization of the first user.
const Organization = "acme"

// Options say what a server offers. The zero value offers what a small server does: whole checkpoints and one request
// for each step of an update.
type Options struct {
	// Replay makes a deployment of a base and the entries of an update's journal; nil offers no journals. It is a
	// function of the test because only Pulumi's own packages have it.
	Replay      func(base json.RawMessage, entries []apitype.JournalEntry) (json.RawMessage, error)
	Deltas      bool          // checkpoints as differences
	BeginUpdate bool          // one request creates and starts an update, and returns the state
	Outputs     bool          // outputs without the state
	NoBatches   bool          // values are encrypted one by one only
	NoCounts    bool          // the list of stacks has no counts of resources
	NoDefault   bool          // does not know default organizations: 404
	NoTags      bool          // the list of stacks with a tag has all
	Page        int           // stacks on a page of the list; 0 for all
	Lease       time.Duration // of an update without a renewal; 0 for five minutes
	Policies    []Policy      // that all organizations enforce
	Latency     time.Duration // of each request
}

// Policy is a policy pack that an organization enforces.
type Policy struct {
	Required apitype.RequiredPolicy
	Archive  []byte // a tar.gz with the pack, served at the URL that Required gets
}

// user is someone with an access token.
type user struct {
	login         string
	organizations []string // besides their own
	hidden        map[string]bool
}

// Server is a running server.
type Server struct {
	URL     string
	options Options
	mux     *http.ServeMux

	mu           sync.Mutex // holds what follows
	users        map[string]*user
	stacks       map[string]*stack // by organization/project/name
	updates      map[string]*update
	environments map[string]string          // of Pulumi ESC: organization/project/name -> definition
	sessions     map[string]openEnvironment // of opened environments
	faults       []*Fault
	asked        []string // methods and paths
	nextID       int
}

// New starts a server that ends with the test.
func New(t testing.TB, options Options) *Server {
	t.Helper()
	s := NewHandler(options)
	server := httptest.NewServer(s)
	t.Cleanup(server.Close)
	s.URL = server.URL
	return s
}

// NewHandler returns a server for a listener of the caller, who sets its URL.
func NewHandler(options Options) *Server {
	s := &Server{
		options: options, mux: http.NewServeMux(), users: map[string]*user{}, stacks: map[string]*stack{},
		updates: map[string]*update{}, environments: map[string]string{}, sessions: map[string]openEnvironment{},
	}
	s.AddUser(Token, User, Organization)
	s.routes()
	return s
}

// AddUser adds a user with an access token, who is a member of the organizations.
func (s *Server) AddUser(token, login string, organizations ...string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.users[token] = &user{login: login, organizations: organizations}
}

// Env returns the variables with which Pulumi's client uses this server.
func (s *Server) Env() []string {
	return []string{"PULUMI_BACKEND_URL=" + s.URL, "PULUMI_ACCESS_TOKEN=" + Token}
}

// failure is an answer other than a success.
type failure struct {
	status  int
	message string
}

func (f *failure) Error() string { return f.message }

func refuse(status int, format string, args ...any) error {
	return &failure{status, fmt.Sprintf(format, args...)}
}

// request is a request of a known user, or of an update.
type request struct {
	*http.Request
	user   *user
	update *update // that the request's token belongs to
}

// decode reads the JSON of a request's body.
func (r request) decode(into any) error {
	var body io.Reader = r.Body
	if r.Header.Get("Content-Encoding") == "gzip" {
		unzipped, err := gzip.NewReader(body)
		if err != nil {
			return refuse(http.StatusBadRequest, "the body is not compressed: %v", err)
		}
		body = unzipped
	}
	if err := json.NewDecoder(body).Decode(into); err != nil && err != io.EOF {
		return refuse(http.StatusBadRequest, "the body is not JSON: %v", err)
	}
	return nil
}

// ServeHTTP implements http.Handler.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if strings.HasPrefix(r.URL.Path, Control) {
		s.control(w, r)
		return
	}
	if s.options.Latency > 0 {
		time.Sleep(s.options.Latency)
	}
	if s.meets(w, r) {
		return
	}
	s.mux.ServeHTTP(w, r)
}

// handle serves a path. Handlers run one at a time.
func (s *Server) handle(pattern string, handler func(r request) (any, error)) {
	s.mux.HandleFunc(pattern, func(w http.ResponseWriter, r *http.Request) {
		s.mu.Lock()
		defer s.mu.Unlock()
		authenticated, err := s.authenticate(r)
		var answer any
		if err == nil {
			answer, err = handler(authenticated)
		}
		writeAnswer(w, answer, err)
	})
}

// authenticate finds out whose request it is.
func (s *Server) authenticate(r *http.Request) (request, error) {
	kind, token, _ := strings.Cut(r.Header.Get("Authorization"), " ")
	switch kind {
	case "token", "Bearer":
		if u := s.users[token]; u != nil {
			return request{Request: r, user: u}, nil
		}
	case "update-token":
		for _, u := range s.updates {
			if u.token == token {
				return request{Request: r, update: u}, nil
			}
		}
		return request{}, refuse(http.StatusForbidden, "the token of the update is not valid")
	}
	return request{}, refuse(http.StatusUnauthorized, "Unauthorized: No credentials provided or are invalid.")
}

func writeAnswer(w http.ResponseWriter, answer any, err error) {
	w.Header().Set("Content-Type", "application/json")
	if refused, ok := err.(*failure); ok { //nolint:errorlint // never wrapped
		writeError(w, refused.status, refused.message)
		return
	}
	if err != nil {
		writeError(w, http.StatusInternalServerError, err.Error())
		return
	}
	switch answer := answer.(type) {
	case nil:
		w.WriteHeader(http.StatusNoContent)
	case []byte:
		w.Header().Set("Content-Type", "application/octet-stream")
		_, _ = w.Write(answer)
	default:
		_ = json.NewEncoder(w).Encode(answer)
	}
}

func writeError(w http.ResponseWriter, status int, message string) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(apitype.ErrorResponse{Code: status, Message: message})
}

// newID returns an identifier that the server has not used.
func (s *Server) newID(kind string) string {
	s.nextID++
	return fmt.Sprintf("%s-%08d", kind, s.nextID)
}
