package cloud

import (
	"cmp"
	"net/http"
	"net/url"

	"golang.org/x/net/http/httpproxy"
)

// Proxy finds the proxy for a request as Pulumi and its plugins do: the environment file may
// name one, while Go reads the process environment alone.
func Proxy(env map[string]string) func(*http.Request) (*url.URL, error) {
	proxy := (&httpproxy.Config{
		HTTPProxy:  cmp.Or(env["HTTP_PROXY"], env["http_proxy"]),
		HTTPSProxy: cmp.Or(env["HTTPS_PROXY"], env["https_proxy"]),
		NoProxy:    cmp.Or(env["NO_PROXY"], env["no_proxy"]),
	}).ProxyFunc()
	return func(r *http.Request) (*url.URL, error) { return proxy(r.URL) }
}
