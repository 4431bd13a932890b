package preflight

import (
	"errors"
	"net/http"
	"net/url"
	"time"

	"golang.org/x/net/http/httpproxy"
)

// askTime bounds a question over the network; it leaves a check time to say
// what has not been answered.
const askTime = DefaultLimit - time.Second

// httpClient asks by way of the proxy that Pulumi and its plugins will use: the
// environment file may name one.
func httpClient(env map[string]string) *http.Client {
	proxy := (&httpproxy.Config{
		HTTPProxy:  first(env["HTTP_PROXY"], env["http_proxy"]),
		HTTPSProxy: first(env["HTTPS_PROXY"], env["https_proxy"]),
		NoProxy:    first(env["NO_PROXY"], env["no_proxy"]),
	}).ProxyFunc()
	return &http.Client{Transport: &http.Transport{
		Proxy:             func(r *http.Request) (*url.URL, error) { return proxy(r.URL) },
		DisableKeepAlives: true, // each is asked once
	}}
}

func first(texts ...string) string {
	for _, text := range texts {
		if text != "" {
			return text
		}
	}
	return ""
}

// bare is a network error without the address it begins with.
func bare(err error) error {
	var wrapped *url.Error
	if errors.As(err, &wrapped) {
		return wrapped.Err
	}
	return err
}
