package preflight

import (
	"net/http"
	"time"

	"mara/providers/cloud"
)

// askTime bounds a question over the network; it leaves a check time to say
// what has not been answered.
const askTime = DefaultLimit - time.Second

// httpClient asks by way of the proxy that Pulumi and its plugins will use: the
// environment file may name one.
func httpClient(env map[string]string) *http.Client {
	return &http.Client{Transport: &http.Transport{
		Proxy:             cloud.Proxy(env),
		DisableKeepAlives: true, // each is asked once
	}}
}
