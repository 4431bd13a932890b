// Package access guards a page on this machine from everyone but the user who started it: from other sites in the
// user's browser, from names that resolve to this machine (DNS rebinding), and from other users of the machine.
//
// A request passes these checks in order: the headers of every answer are set, Host is one of the names that are
// served, the method only reads, the request does not come from another site, and it has the cookie that the token in
// the first address was exchanged for. Nothing is routed, and no file is served, before that.
package access

import (
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/hex"
	"fmt"
	"html"
	"io"
	"net/http"
	"net/netip"
	"net/url"
	"slices"
	"strings"
	"sync"
)

// Policy is the Content-Security-Policy of every page.
const Policy = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; " +
	"form-action 'self'; base-uri 'none'; frame-ancestors 'none'"

// Options configure a guard.
type Options struct {
	Address netip.AddrPort // on which the server listens
	Allowed []string       // further values of Host, with their ports unless they are the usual ones
	Token   string         // that the first address has
	Lasting bool           // the token may be used more than once: it comes from a file that several people have
	Metrics string         // token for /metrics; "" for none
}

// Guard lets requests through to a handler.
type Guard struct {
	options Options
	hosts   []string
	next    http.Handler

	mu     sync.Mutex // holds what follows
	used   bool       // the token was exchanged
	cookie string     // of the browser that has exchanged it; a lasting token signs cookies instead
}

// New returns a guard before a handler.
func New(o Options, next http.Handler) *Guard {
	hosts := append([]string{o.Address.String()}, o.Allowed...)
	if o.Address.Addr().IsLoopback() {
		hosts = append(hosts, fmt.Sprintf("localhost:%d", o.Address.Port()))
	}
	return &Guard{options: o, hosts: hosts, next: next}
}

// NewToken returns a token that cannot be guessed.
func NewToken() string { return rand.Text() + rand.Text() } // 52 characters, 260 bits

// Cookie returns the name of the cookie. Cookies do not separate ports, so that the name does.
func (g *Guard) Cookie() string { return fmt.Sprintf("runner_web_%d", g.options.Address.Port()) }

// ServeHTTP implements http.Handler.
func (g *Guard) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	setHeaders(w.Header())
	switch {
	case !slices.Contains(g.hosts, r.Host):
		refuse(w, http.StatusMisdirectedRequest, "This is not an address of this page",
			"open the address that `runner web` printed")
	case r.Method != http.MethodGet && r.Method != http.MethodHead:
		w.Header().Set("Allow", "GET, HEAD")
		refuse(w, http.StatusMethodNotAllowed, "This page only reads", "nothing can be sent to it")
	case r.URL.Query().Has("token"):
		g.exchange(w, r)
	case !g.isOtherSite(r) && (r.URL.Path == "/metrics" && g.hasBearer(r) || g.hasCookie(r)):
		g.next.ServeHTTP(w, r)
	default:
		g.refuseStranger(w, r)
	}
}

// setHeaders sets the headers of every answer, whatever it is.
func setHeaders(h http.Header) {
	h.Set("Content-Security-Policy", Policy)
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Referrer-Policy", "no-referrer")
	h.Set("Cross-Origin-Resource-Policy", "same-origin")
	h.Set("Cross-Origin-Opener-Policy", "same-origin")
	h.Set("Cache-Control", "no-store")
}

// isOtherSite reports whether another site has made the browser ask.
func (g *Guard) isOtherSite(r *http.Request) bool {
	if site := r.Header.Get("Sec-Fetch-Site"); site == "cross-site" || site == "same-site" {
		return true
	}
	return slices.ContainsFunc(r.Header["Origin"], func(origin string) bool {
		u, err := url.Parse(origin)
		return err != nil || !slices.Contains(g.hosts, u.Host)
	})
}

// exchange lets a browser in that has the token, and has it ask again without the token. The answer is a page, and no
// redirect: after a click in a mail or a chat, a browser does not send a strict cookie with what it is redirected to.
func (g *Guard) exchange(w http.ResponseWriter, r *http.Request) {
	if r.Method != http.MethodGet || !isSame(r.URL.Query().Get("token"), g.options.Token) || !g.take() {
		refuse(w, http.StatusUnauthorized, "This address was used before, or is wrong", startAgain)
		return
	}
	http.SetCookie(w, &http.Cookie{Name: g.Cookie(), Value: g.newCookie(), Path: "/", HttpOnly: true,
		SameSite: http.SameSiteStrictMode})
	to := r.URL.EscapedPath()
	query := r.URL.Query()
	query.Del("token")
	if len(query) > 0 {
		to += "?" + query.Encode()
	}
	if !strings.HasPrefix(to, "/") || strings.HasPrefix(to, "//") {
		to = "/"
	}
	to = html.EscapeString(to)
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	fmt.Fprintf(w, `<!doctype html><html lang="en"><meta charset="utf-8"><meta http-equiv="refresh" content="0;url=%s">`+
		`<title>runner web</title><p><a href="%s">Continue</a></p></html>`, to, to)
}

// take reports whether the token may be exchanged now.
func (g *Guard) take() bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	may := !g.used || g.options.Lasting
	g.used = true
	return may
}

// newCookie returns the value of a browser's cookie. With a lasting token the cookie is signed by it, so that another
// server with the same token knows it: a page that is open survives a restart, and a new token ends all cookies.
func (g *Guard) newCookie() string {
	cookie := NewToken()
	if g.options.Lasting {
		return cookie + "." + g.sign(cookie)
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	g.cookie = cookie
	return cookie
}

// sign returns the signature of a cookie.
func (g *Guard) sign(cookie string) string {
	mac := hmac.New(sha256.New, []byte(g.options.Token))
	mac.Write([]byte("cookie of runner web " + cookie))
	return hex.EncodeToString(mac.Sum(nil))
}

// hasCookie reports whether a request has the cookie of a browser that was let in.
func (g *Guard) hasCookie(r *http.Request) bool {
	return slices.ContainsFunc(r.CookiesNamed(g.Cookie()), func(sent *http.Cookie) bool { return g.isCookie(sent.Value) })
}

// isCookie reports whether a value is that of a cookie which this token was exchanged for.
func (g *Guard) isCookie(value string) bool {
	if g.options.Lasting {
		cookie, signature, _ := strings.Cut(value, ".")
		return isSame(signature, g.sign(cookie))
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.cookie != "" && isSame(value, g.cookie)
}

func (g *Guard) hasBearer(r *http.Request) bool {
	token, ok := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer ")
	return ok && g.options.Metrics != "" && isSame(token, g.options.Metrics)
}

// isSame compares two texts in a time that says nothing about them.
func isSame(a, b string) bool {
	left, right := sha256.Sum256([]byte(a)), sha256.Sum256([]byte(b))
	return subtle.ConstantTimeCompare(left[:], right[:]) == 1
}

const startAgain = "start `runner web` again in a terminal; it opens a new address"

// refuseStranger answers a request without a cookie. A browser that has one does not send it when a link elsewhere
// leads here, and does when the link on this page is followed.
func (g *Guard) refuseStranger(w http.ResponseWriter, r *http.Request) {
	switch {
	case !g.isOtherSite(r):
		refuse(w, http.StatusUnauthorized, "This browser is not known here", startAgain)
	case r.Header.Get("Sec-Fetch-Mode") == "navigate" && r.Header.Get("Sec-Fetch-Dest") == "document":
		write(w, http.StatusUnauthorized, "Another page led here", startAgain, r.URL.RequestURI())
	default:
		refuse(w, http.StatusForbidden, "Another site has asked for this", startAgain)
	}
}

func refuse(w http.ResponseWriter, code int, what, next string) { write(w, code, what, next, "") }

// write writes a page of an error, with a link to continue for a browser that may have the cookie.
func write(w http.ResponseWriter, code int, what, next, link string) {
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	w.WriteHeader(code)
	further := ""
	if strings.HasPrefix(link, "/") && !strings.HasPrefix(link, "//") {
		further = fmt.Sprintf(`<p>If it was opened in this browser before: <a href="%s">continue</a>.</p>`,
			html.EscapeString(link))
	}
	_, _ = io.WriteString(w, `<!doctype html><html lang="en"><meta charset="utf-8"><title>runner web</title><h1>`+
		html.EscapeString(what)+`</h1>`+further+`<p>Otherwise: `+html.EscapeString(next)+".</p></html>\n")
}
