package access

import (
	"io"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"testing"
)

const token = "TOKEN"

func guard(o Options) *Guard {
	o.Address = netip.MustParseAddrPort("127.0.0.1:8001")
	o.Token = token
	return New(o, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { _, _ = io.WriteString(w, "secret of "+r.URL.Path) }))
}

// ask sends a request; headers are pairs of name and value.
func ask(g *Guard, method, address string, headers ...string) *httptest.ResponseRecorder {
	r := httptest.NewRequest(method, address, nil)
	r.Host = "127.0.0.1:8001"
	for i := 0; i+1 < len(headers); i += 2 {
		if headers[i] == "Host" {
			r.Host = headers[i+1]
			continue
		}
		r.Header.Add(headers[i], headers[i+1])
	}
	w := httptest.NewRecorder()
	g.ServeHTTP(w, r)
	return w
}

func enter(t *testing.T, g *Guard) (cookie string) {
	t.Helper()
	w := ask(g, "GET", "/?token="+token, "Sec-Fetch-Site", "none")
	if w.Code != http.StatusOK || strings.Contains(w.Body.String(), token) || !strings.Contains(w.Body.String(), "url=/\"") {
		t.Fatalf("the first address: %d, %s", w.Code, w.Body)
	}
	return strings.Split(w.Header().Get("Set-Cookie"), ";")[0]
}

func TestTokenWorksOnce(t *testing.T) {
	t.Parallel()
	g := guard(Options{})
	if w := ask(g, "GET", "/?token=wrong"); w.Code != http.StatusUnauthorized || w.Header().Get("Set-Cookie") != "" {
		t.Errorf("a wrong token: %d", w.Code)
	}
	if w := ask(g, "HEAD", "/?token="+token); w.Code != http.StatusUnauthorized {
		t.Errorf("a look ahead uses the token up: %d", w.Code)
	}
	w := ask(g, "GET", "/r/x?token="+token+"&q=a%26b")
	if cookie := w.Header().Get("Set-Cookie"); w.Code != 200 || !strings.HasPrefix(cookie, "runner_web_8001=") ||
		!strings.Contains(cookie, "HttpOnly") || !strings.Contains(cookie, "SameSite=Strict") || !strings.Contains(cookie, "Path=/") || strings.Contains(cookie, token) {
		t.Errorf("the cookie is %q, code %d", cookie, w.Code)
	}
	if !strings.Contains(w.Body.String(), "url=/r/x?q=a%26b") {
		t.Errorf("leads to %s", w.Body)
	}
	cookie := strings.Split(w.Header().Get("Set-Cookie"), ";")[0]
	if w := ask(g, "GET", "/?token="+token); w.Code != http.StatusUnauthorized {
		t.Errorf("the second time: %d", w.Code)
	}
	if w := ask(g, "GET", "/x", "Cookie", cookie); w.Code != 200 || w.Body.String() != "secret of /x" {
		t.Errorf("with the cookie: %d %s", w.Code, w.Body)
	}
	lasting := guard(Options{Lasting: true})
	if first, second := enter(t, lasting), enter(t, lasting); first == second {
		t.Error("two browsers have one cookie")
	}
}

func TestStrangersAreRefused(t *testing.T) {
	t.Parallel()
	g := guard(Options{Allowed: []string{"mara.example"}, Metrics: "M"})
	cookie := enter(t, g)
	for name, test := range map[string]struct {
		method, path string
		headers      []string
		want         int
	}{
		"no cookie":         {"GET", "/", nil, 401},
		"wrong cookie":      {"GET", "/", []string{"Cookie", "runner_web_8001=x"}, 401},
		"no value":          {"GET", "/", []string{"Cookie", "runner_web_8001="}, 401},
		"assets":            {"GET", "/a/x/style.css", nil, 401},
		"stream":            {"GET", "/live", nil, 401},
		"badge":             {"GET", "/badge/fleet.svg", nil, 401},
		"metrics":           {"GET", "/metrics", nil, 401},
		"metrics, wrong":    {"GET", "/metrics", []string{"Authorization", "Bearer x"}, 401},
		"metrics, empty":    {"GET", "/metrics", []string{"Authorization", "Bearer "}, 401},
		"metrics, right":    {"GET", "/metrics", []string{"Authorization", "Bearer M"}, 200},
		"bearer elsewhere":  {"GET", "/", []string{"Authorization", "Bearer M"}, 401},
		"cookie":            {"GET", "/", []string{"Cookie", cookie}, 200},
		"head":              {"HEAD", "/", []string{"Cookie", cookie}, 200},
		"localhost":         {"GET", "/", []string{"Cookie", cookie, "Host", "localhost:8001"}, 200},
		"allowed host":      {"GET", "/", []string{"Cookie", cookie, "Host", "mara.example"}, 200},
		"another name":      {"GET", "/", []string{"Cookie", cookie, "Host", "evil.example:8001"}, 421},
		"another port":      {"GET", "/", []string{"Cookie", cookie, "Host", "127.0.0.1:8002"}, 421},
		"no port":           {"GET", "/", []string{"Cookie", cookie, "Host", "127.0.0.1"}, 421},
		"a trailing dot":    {"GET", "/", []string{"Cookie", cookie, "Host", "localhost.:8001"}, 421},
		"rebound metrics":   {"GET", "/metrics", []string{"Authorization", "Bearer M", "Host", "evil.example"}, 421},
		"forwarded host":    {"GET", "/", []string{"Cookie", cookie, "Host", "evil.example", "X-Forwarded-Host", "127.0.0.1:8001"}, 421},
		"POST":              {"POST", "/", []string{"Cookie", cookie}, 405},
		"DELETE":            {"DELETE", "/", []string{"Cookie", cookie}, 405},
		"OPTIONS":           {"OPTIONS", "/", []string{"Cookie", cookie}, 405},
		"POST of a token":   {"POST", "/?token=" + token, nil, 405},
		"another site":      {"GET", "/live", []string{"Cookie", cookie, "Sec-Fetch-Site", "cross-site"}, 403},
		"another port here": {"GET", "/live", []string{"Cookie", cookie, "Sec-Fetch-Site", "same-site"}, 403},
		"another origin":    {"GET", "/live", []string{"Cookie", cookie, "Origin", "http://evil.example"}, 403},
		"null origin":       {"GET", "/live", []string{"Cookie", cookie, "Origin", "null"}, 403},
		"own origin":        {"GET", "/live", []string{"Cookie", cookie, "Origin", "http://127.0.0.1:8001"}, 200},
		"a link elsewhere":  {"GET", "/e/x", []string{"Sec-Fetch-Site", "cross-site", "Sec-Fetch-Mode", "navigate", "Sec-Fetch-Dest", "document"}, 401},
		"a frame elsewhere": {"GET", "/", []string{"Cookie", cookie, "Sec-Fetch-Site", "cross-site", "Sec-Fetch-Mode", "navigate", "Sec-Fetch-Dest", "iframe"}, 403},
	} {
		w := ask(g, test.method, test.path, test.headers...)
		if w.Code != test.want {
			t.Errorf("%s: %d, want %d", name, w.Code, test.want)
		}
		if test.want != 200 && strings.Contains(w.Body.String(), "secret") {
			t.Errorf("%s: the answer has what the page has", name)
		}
		h := w.Header()
		for header, want := range map[string]string{"Content-Security-Policy": Policy, "X-Content-Type-Options": "nosniff", "Referrer-Policy": "no-referrer",
			"Cross-Origin-Resource-Policy": "same-origin", "Cross-Origin-Opener-Policy": "same-origin", "Cache-Control": "no-store", "Access-Control-Allow-Origin": ""} {
			if h.Get(header) != want {
				t.Errorf("%s: %s is %q", name, header, h.Get(header))
			}
		}
	}
	if strings.Contains(Policy, "unsafe") || !strings.HasPrefix(Policy, "default-src 'none'") {
		t.Errorf("the policy is %s", Policy)
	}
}

// TestAddressesAreNotMarkup: what a request asks for is escaped in the answer.
func TestAddressesAreNotMarkup(t *testing.T) {
	t.Parallel()
	g := guard(Options{Lasting: true})
	for _, path := range []string{"/x%22%3E%3Cscript%3E", "/?q=%22%3E%3Cscript%3Ealert(1)%3C/script%3E&token=" + token, "//evil.example/?token=" + token, "/%0d%0aSet-Cookie:x?token=" + token} {
		w := ask(g, "GET", path, "Sec-Fetch-Site", "cross-site", "Sec-Fetch-Mode", "navigate", "Sec-Fetch-Dest", "document")
		if text := w.Body.String(); strings.Contains(text, "<script") || strings.Contains(text, `url=//`) || strings.Contains(text, `href="//`) {
			t.Errorf("%s: %s", path, text)
		}
	}
}

func TestTokensCannotBeGuessed(t *testing.T) {
	t.Parallel()
	if one, another := NewToken(), NewToken(); one == another || len(one) < 40 {
		t.Error("tokens can be guessed")
	}
}

// TestCookiesOutliveTheServer: with a lasting token, another server with that token knows the cookie, and one with
// another token does not. A token that works once is gone with its server.
func TestCookiesOutliveTheServer(t *testing.T) {
	t.Parallel()
	cookie := enter(t, guard(Options{Lasting: true}))
	if w := ask(guard(Options{Lasting: true}), "GET", "/", "Cookie", cookie); w.Code != http.StatusOK {
		t.Errorf("another server with the same token: %d", w.Code)
	}
	other := guard(Options{Lasting: true})
	other.options.Token = "another"
	value := strings.TrimPrefix(cookie, "runner_web_8001=")
	random, signature, _ := strings.Cut(value, ".")
	for name, test := range map[string]struct {
		guard  *Guard
		cookie string
	}{
		"another token":           {other, cookie},
		"a token that works once": {guard(Options{}), cookie},
		"no signature":            {guard(Options{Lasting: true}), "runner_web_8001=" + random},
		"an empty signature":      {guard(Options{Lasting: true}), "runner_web_8001=" + random + "."},
		"of another cookie":       {guard(Options{Lasting: true}), "runner_web_8001=x" + random + "." + signature},
		"once, another server":    {guard(Options{}), enter(t, guard(Options{}))},
	} {
		if w := ask(test.guard, "GET", "/", "Cookie", test.cookie); w.Code != http.StatusUnauthorized {
			t.Errorf("%s: %d", name, w.Code)
		}
	}
}

// FuzzGuard: no request without the cookie, and no other host, gets through.
func FuzzGuard(f *testing.F) {
	f.Add("GET", "/e/x?q=1", "127.0.0.1:8001", "runner_web_8001=x", "none")
	f.Add("POST", "/?token=x", "evil:1", "", "cross-site")
	f.Add("GET", "/", "127.0.0.1:8001", "runner_web_8001=x.y", "none")
	guards := []*Guard{guard(Options{Metrics: "M"}), guard(Options{Lasting: true})}
	f.Fuzz(func(t *testing.T, method, path, host, cookie, site string) {
		for _, g := range guards {
			r, err := http.NewRequest(method, "http://x/", nil)
			if err != nil {
				return
			}
			r.URL.Path, r.Host = path, host
			r.Header["Cookie"], r.Header["Sec-Fetch-Site"] = []string{cookie}, []string{site}
			w := httptest.NewRecorder()
			g.ServeHTTP(w, r)
			if w.Code == http.StatusOK || strings.Contains(w.Body.String(), "secret") {
				t.Errorf("%s %q %q %q %q gets through", method, path, host, cookie, site)
			}
		}
	})
}
