package main

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"

	"mara/runner/internal/core/pulumicli/wire"
	"mara/runner/internal/testing/servicetest"
)

// TestHostileAnswers: whatever comes in place of an answer of Pulumi Cloud is one short message, at once.
func TestHostileAnswers(t *testing.T) {
	t.Parallel()
	const page = "<html><body><h1>Sign in to the proxy</h1></body></html>"
	for name, test := range map[string]struct {
		fault servicetest.Fault
		want  string
	}{
		"a page in place of JSON": {servicetest.Fault{Path: "/app/dev", Status: 200, Body: page}, "is it the address of the API"},
		"a page of a proxy":       {servicetest.Fault{Path: "/app/dev", Status: 404, Body: page}, "[421] Not Found, by a proxy"}, // and not a stack that does not exist
		"another server":          {servicetest.Fault{Path: "/app/dev", Status: 404, Body: "404 page not found\n"}, "[421] 404 page not found"},
		"words of a proxy":        {servicetest.Fault{Path: "/app/dev", Status: 407, Body: "who are you?"}, "[407] who are you?"},
		"JSON that ends early":    {servicetest.Fault{Path: "/app/dev", Status: 200, Body: `{"orgName": "ac`}, "unexpected end of JSON input"},
		"another type":            {servicetest.Fault{Path: "/app/dev", Status: 200, Body: `{"orgName": 7}`}, "cannot unmarshal number"},
		"nothing":                 {servicetest.Fault{Path: "/app/dev", Status: 204}, "unexpected end of JSON input"},
		"an answer without end":   {servicetest.Fault{Path: "/app/dev", Status: 200, Endless: true}, "longer than 64 MB"},
		"a refusal without end":   {servicetest.Fault{Path: "/app/dev", Status: 403, Endless: true}, `[403] {"stacks"`},
		"forbidden":               {servicetest.Fault{Path: "/app/dev", Status: 403, Message: "not yours"}, "[403] not yours"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			a := newAtService(t, servicetest.Options{})
			a.server.Set(test.fault)
			said := a.ask("read", wire.ReadStacks{Names: []string{"acme/app/dev"}, Updates: true}, nil)
			if !strings.Contains(said, test.want) || strings.Contains(said, "<html>") || len(said) > 700 {
				t.Errorf("it says %d bytes: %.900s", len(said), said)
			}
		})
	}
}

// TestRedirects: a server that redirects to another one gets neither a token followed nor what was sent.
func TestRedirects(t *testing.T) {
	t.Parallel()
	var got atomic.Int32
	stranger := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		got.Add(1)
		t.Errorf("the stranger gets %s %s with %q", r.Method, r.URL, r.Header.Get("Authorization"))
		_, _ = w.Write([]byte("{}"))
	}))
	t.Cleanup(stranger.Close)
	for name, location := range map[string]string{
		"another port": stranger.URL, "another name": strings.Replace(stranger.URL, "127.0.0.1", "localhost", 1),
	} {
		for _, status := range []int{http.StatusFound, http.StatusTemporaryRedirect} {
			a := newAtService(t, servicetest.Options{})
			question := wire.SealValues{Stack: "acme/app/dev", Values: wire.SealedValues{[]byte("needle")}, Create: true}
			if said := a.ask("seal", question, nil); said != "" {
				t.Fatal(said)
			}
			a.server.Set(servicetest.Fault{Path: "/app/dev", Status: status, Location: location})
			read := wire.ReadStacks{Names: []string{"acme/app/dev"}, Updates: true}
			for said := range map[string]bool{a.ask("read", read, nil): true, a.ask("seal", question, nil): true} {
				if !strings.Contains(said, "redirects to "+location+", which gets no access token") {
					t.Errorf("%s, %d: %q", name, status, said)
				}
			}
		}
	}
	a := newAtService(t, servicetest.Options{}) // to another path of its own
	a.server.Set(servicetest.Fault{Path: "/app/dev", Status: http.StatusTemporaryRedirect, Location: a.server.URL, Times: 1})
	if said := a.ask("read", wire.ReadStacks{Names: []string{"acme/app/dev"}, Updates: true}, nil); said != "" {
		t.Errorf("within the server: %q", said)
	}
}

// TestTooManyRequests: what was refused for its time is asked again when the server says.
func TestTooManyRequests(t *testing.T) {
	t.Parallel()
	a := newAtService(t, servicetest.Options{})
	a.server.Set(servicetest.Fault{Method: "POST", Status: 429, RetryAfter: "1", Times: 2})
	question := wire.SealValues{Stack: "acme/app/dev", Values: wire.SealedValues{[]byte("value")}, Create: true}
	if said := a.ask("seal", question, nil); said != "" {
		t.Error(said)
	}
}
